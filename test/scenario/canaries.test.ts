// Plants a password, tokens and a CPF, drives the command through success, misfits and failures at the most
// talkative log level, and looks for them in everything that comes out and in every control table. The service says
// them too, in fields and in refusals that nobody knows to be secret: only their values or their shape give them away.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { tables } from '../../src/warehouse/catalog.ts';
import { type Front, startFront } from '../support/front.ts';
import { plan } from '../support/push-samples.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/workplace.ts';

const PASSWORD = 'canary-pass"word\\1';
const CPF = '52998224725';
const CPF_DOTTED = '529.982.247-25';
/** Of somebody else, so known by its shape alone. */
const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnktand0In0.c2lnbmVk';
/** Of this session, so known by its value alone. */
const TOKEN = 'canary-token-of-no-shape';
const CANARIES = ['canary-', CPF, CPF_DOTTED, 'eyJ', 'c2lnbmVk'];
const ECHO = `password ${PASSWORD}, token ${TOKEN}, other ${JWT}`;
const HUSHED = 'password [redacted], token [redacted], other [redacted]';
const ERP = `erp:
  route_plans: { source: files, folder: drop, settle: 0s }
jobs:
  push-route-plans: { check_before_send: false }
`;

let sandbox: Sandbox;
let front: Front;
/** Whether the service gives tokens without a shape and tells all it knows when it refuses a plan. */
let isTalkative = false;
let place: Workplace;
const outputs: string[] = [];

async function run(args: string[], password = PASSWORD): Promise<void> {
  const { stdout, stderr } = await place.run([...args, '--log-level', 'trace'], {
    ROADBOOK_PASSWORD: password,
  });
  outputs.push(stdout, stderr);
}

beforeAll(async () => {
  sandbox = await startSandbox({ credentials: { password: PASSWORD } });
  front = await startFront(sandbox.url, ({ pathname, search }) => {
    if (!isTalkative) return undefined;
    if (pathname.startsWith('/auth/')) return { body: { access_token: TOKEN } };
    return search === '' ? { status: 422, body: { message: `Refused: ${ECHO}` } } : { body: { data: [] } };
  });
  place = makeWorkplace(configFor(front.url, ERP));
  const dirty = [
    { plate: 'ABC1234', note: `password ${PASSWORD}, other ${JWT}`, [PASSWORD]: [JWT] },
    { id: `${PASSWORD} ${JWT}`, title: 'echo' },
    { plate: 'ABC1234', driver: { name: 'x', cpf: CPF }, note: `cpf ${CPF_DOTTED} of the driver` },
    { id: `${CPF}x`, title: CPF },
  ];
  await fetch(`${sandbox.url}/_sandbox/records`, {
    method: 'POST',
    body: JSON.stringify({ call: 'vehicles', records: dirty }),
  });
  await run(['run', 'pull-vehicles', '--json']);
  await run(['run', 'pull-vehicles']);
  const looks = ['quarantine list', 'status', 'config check', 'doctor'];
  await Promise.all(looks.map((words) => run([...words.split(' '), '--json'])));
  sandbox.addFault({ call: 'vehicles', fault: '422' });
  await run(['run', 'pull-vehicles', '--json']);
  sandbox.clearFaults();
  await run(['run', 'pull-vehicles', '--json'], `${PASSWORD}-wrong`);
  isTalkative = true;
  writeFileSync(join(place.dir, 'drop', 'a.json'), JSON.stringify(plan('P1')));
  await run(['run', 'push-route-plans', '--json']);
  await run(['outbox', 'list', '--json']);
});
afterAll(async () => {
  place.remove();
  await front.close();
  await sandbox.close();
});

describe('secrets and tax numbers', () => {
  it('are in no output, whatever happened', () => {
    const all = outputs.join('\n');
    // What was to be heard was heard.
    for (const word of ['pull-vehicles', 'login_refused', `Refused: ${HUSHED}`, 'password [redacted], other'])
      expect(all).toContain(word);
    for (const canary of CANARIES) expect(all).not.toContain(canary);
  });

  it('are in no control table', async () => {
    const control = tables.filter(({ kind }) => kind === 'control');
    const dumps = await Promise.all(control.map(({ name }) => place.query(`select * from ${name}`)));
    const all = JSON.stringify(dumps);
    for (const word of ['ABC1234', `Refused: ${HUSHED}`, 'password [redacted], other'])
      expect(all).toContain(word);
    for (const canary of CANARIES) expect(all).not.toContain(canary);
  });
});
