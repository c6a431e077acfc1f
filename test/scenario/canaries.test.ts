// Plants a password, tokens and a CPF, drives the command through success, misfits and failures at the most
// talkative log level, and looks for them in everything that comes out and in every control table.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { tables } from '../../src/warehouse/catalog.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/workplace.ts';

const PASSWORD = 'canary-pass"word\\1';
const CPF = '52998224725';
const CPF_DOTTED = '529.982.247-25';

let sandbox: Sandbox;
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
  place = makeWorkplace(configFor(sandbox.url));
  const dirty = [
    { plate: 'ABC1234', driver: { name: 'x', cpf: CPF }, note: `cpf ${CPF_DOTTED} of the driver` },
    { id: `${CPF}x`, title: CPF },
  ];
  await fetch(`${sandbox.url}/_sandbox/records`, {
    method: 'POST',
    body: JSON.stringify({ call: 'vehicles', records: dirty }),
  });
  await run(['run', 'pull-vehicles', '--json']);
  await run(['run', 'pull-vehicles']);
  await run(['status', '--json']);
  await run(['config', 'check', '--json']);
  await run(['doctor', '--json']);
  sandbox.addFault({ call: 'vehicles', fault: '422' });
  await run(['run', 'pull-vehicles', '--json']);
  sandbox.clearFaults();
  await run(['run', 'pull-vehicles', '--json'], `${PASSWORD}-wrong`);
});
afterAll(async () => {
  place.remove();
  await sandbox.close();
});

describe('secrets and tax numbers', () => {
  it('are in no output, whatever happened', () => {
    const all = outputs.join('\n');
    expect(all).toContain('pull-vehicles');
    for (const canary of ['canary-pass', CPF, CPF_DOTTED, 'eyJ']) expect(all).not.toContain(canary);
  });

  it('are in no control table', async () => {
    const control = tables.filter(({ kind }) => kind === 'control');
    const dumps = await Promise.all(control.map(({ name }) => place.query(`select * from ${name}`)));
    const all = JSON.stringify(dumps);
    expect(all).toContain('ABC1234');
    for (const canary of ['canary-pass', CPF, CPF_DOTTED, 'eyJ']) expect(all).not.toContain(canary);
  });
});
