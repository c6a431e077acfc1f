// Plants a password, tokens and a CPF, runs the commands through success, invalid records and failures at the most
// verbose log level, and searches for them in all output: the terminal, messages to the webhook, every remaining file
// and every control table. The service sends them too, in fields and rejections that are not known to hold secrets:
// only their values or their shape reveal them. With EVERY_COMMAND every command is run, with and without --json.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { tables } from '../../src/warehouse/schema/catalog.ts';
import { type Front, startFront } from '../support/fleet/front.ts';
import { commandNames, commandsWith, SERVING } from '../support/process/every-command.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/process/workplace.ts';
import { plan } from '../support/push/push-samples.ts';

const PASSWORD = 'canary-pass"word\\1';
const CPF = '52998224725';
const CPF_DOTTED = '529.982.247-25';
/** Of another session, so detected by its shape alone. */
const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnktand0In0.c2lnbmVk';
/** Of this session, so detected by its value alone. */
const TOKEN = 'canary-token-of-no-shape';
const CANARIES = ['canary-', CPF, CPF_DOTTED, 'eyJ', 'c2lnbmVk'];
const ECHO = `password ${PASSWORD}, token ${TOKEN}, other ${JWT}`;
const HUSHED = 'password [redacted], token [redacted], other [redacted]';
/** In files, where three letters may occur by chance. */
const IN_FILES = ['canary-', CPF, CPF_DOTTED, ...JWT.split('.')];
const rest = (webhook: string) => `erp:
  route_plans: { source: files, folder: drop, settle: 0s }
privacy: { secret: canary-privacy }
status: { port: 0, token: canary-status }
alerts: { webhook: "${webhook}/canary-webhook" }
jobs:
  push-route-plans: {}
`;
/** The commands that every `npm run prove -- --quick` has time for: those that show records, and one that writes files. */
const SAMPLE = ['quarantine list', 'quarantine show', 'outbox show', 'status', 'config check', 'doctor', 'export'];
const isEvery = process.env.EVERY_COMMAND !== undefined;

let sandbox: Sandbox;
let front: Front;
/** Whether the service gives tokens without a shape and sends all it knows when it rejects a plan. */
let isTalkative = false;
let place: Workplace;
const outputs: string[] = [];
let webhook: Server;
const alerted: string[] = [];
/** Resolves with the first message of a failure that happens by itself. */
const alert = Promise.withResolvers<void>();

async function startWebhook(): Promise<string> {
  webhook = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    alerted.push(body);
    if (JSON.parse(body).event === 'alert') alert.resolve();
    outgoing.end('ok');
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
}

async function run(args: string[], password = PASSWORD): Promise<void> {
  const { stdout, stderr } = await place.run([...args, '--log-level', 'trace'], {
    ROADBOOK_PASSWORD: password,
  });
  outputs.push(stdout, stderr);
  if (stderr.includes('--help')) throw new Error(`${args.join(' ')} is no right use: ${stderr}`);
}

/** Waits until it serves; the daemon until it has sent an alert of a failure. */
async function serve(args: string[]): Promise<void> {
  const running = place.start([...args, '--log-level', 'trace'], { ROADBOOK_PASSWORD: PASSWORD });
  await running.printed(/http:\/\/127/);
  if (args[0] === 'start') await alert.promise;
  running.kill('SIGTERM');
  const { stdout, stderr } = await running.ended;
  outputs.push(stdout, stderr);
}

async function runCommands(): Promise<void> {
  const [{ id = '' } = {}] = await place.query<{ id: string }>('select id from sync_quarantine');
  const commands = commandsWith(id);
  if (!isEvery) {
    const sampled = SAMPLE.map((name) => run([...name.split(' '), ...(commands[name] ?? []), '--json']));
    await Promise.all(sampled);
    return;
  }
  for (const [name, args] of Object.entries(commands)) {
    const work = SERVING.includes(name) ? serve : run;
    for (const more of [['--json'], []]) await work([...name.split(' '), ...args, ...more]);
  }
}

/** Every file below, except the configuration, which contains them. */
function filesLeft(): [name: string, text: string][] {
  const all = readdirSync(place.dir, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile() && entry.name !== 'roadbook.yaml')
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(place.dir.length + 1), readFileSync(path, 'latin1')]);
}

beforeAll(async () => {
  sandbox = await startSandbox({ credentials: { password: PASSWORD } });
  front = await startFront(sandbox.url, ({ pathname, search }) => {
    if (!isTalkative) return undefined;
    if (pathname.startsWith('/auth/')) return { body: { access_token: TOKEN } };
    return search === '' ? { status: 422, body: { message: `Rejected: ${ECHO}` } } : { body: { data: [] } };
  });
  place = makeWorkplace(configFor(front.url, rest(await startWebhook())));
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
  sandbox.addFault({ call: 'vehicles', fault: '422' });
  await run(['run', 'pull-vehicles', '--json']);
  sandbox.clearFaults();
  await run(['run', 'pull-vehicles', '--json'], `${PASSWORD}-wrong`);
  isTalkative = true;
  mkdirSync(join(place.dir, 'drop'));
  writeFileSync(join(place.dir, 'drop', 'a.json'), JSON.stringify(plan('P1')));
  await run(['run', 'push-route-plans', '--json']);
  await run(['outbox', 'list', '--json']);
  await runCommands();
}, 600_000);
afterAll(async () => {
  place.remove();
  webhook.closeAllConnections();
  webhook.close();
  await front.close();
  await sandbox.close();
});

describe('secrets and tax numbers', () => {
  it('are in no output, whatever happened', () => {
    const all = outputs.join('\n');
    // The expected output was there.
    for (const word of ['pull-vehicles', 'login_refused', `Rejected: ${HUSHED}`, 'password [redacted], other'])
      expect(all).toContain(word);
    for (const canary of CANARIES) expect(all).not.toContain(canary);
  });

  it('are in no message to the webhook and in no remaining file: exports, results, backups, the warehouse', () => {
    expect(alerted.join('\n')).toContain('Roadbook');
    for (const canary of CANARIES) expect(alerted.join('\n')).not.toContain(canary);
    const files = filesLeft();
    const names = files.map(([name]) => name);
    const result = join('drop', 'failed', 'a.json.result.json');
    expect(names).toEqual(expect.arrayContaining([join('out', 'vehicle.csv'), result]));
    expect(files.find(([name]) => name === result)?.[1]).toContain(`Rejected: ${HUSHED}`);
    for (const canary of IN_FILES)
      expect(files.filter(([, text]) => text.includes(canary)).map(([name]) => name)).toEqual([]);
  });

  it('are searched for in the output of every command', async () => {
    expect(Object.keys(commandsWith('')).sort()).toEqual((await commandNames()).sort());
  });

  it('are in no control table', async () => {
    const control = tables.filter(({ kind }) => kind === 'control');
    const dumps = await Promise.all(control.map(({ name }) => place.query(`select * from ${name}`)));
    const all = JSON.stringify(dumps);
    for (const word of ['ABC1234', `Rejected: ${HUSHED}`, 'password [redacted], other']) expect(all).toContain(word);
    for (const canary of CANARIES) expect(all).not.toContain(canary);
  });
});
