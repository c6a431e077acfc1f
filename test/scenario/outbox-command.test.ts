// roadbook outbox, run push-route-plans and status as a user meets them, through the real command.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { CPFS, plan } from '../support/push-samples.ts';
import { configFor, makeWorkplace, type Workplace } from '../support/workplace.ts';

let sandbox: Sandbox;
let place: Workplace;

const FEED = 'erp: { route_plans: { source: files, folder: plans, settle: 0s } }\n';

function drop(name: string, things: unknown): void {
  mkdirSync(join(place.dir, 'plans'), { recursive: true });
  writeFileSync(join(place.dir, 'plans', name), JSON.stringify(things));
}

const json = async (args: string[]) => {
  const { code, stdout, stderr } = await place.run([...args, '--json']);
  return { code, stderr, document: JSON.parse(stdout) };
};

beforeEach(async () => {
  sandbox = await startSandbox({ churn: false });
  place = makeWorkplace(configFor(sandbox.url, FEED));
});
afterEach(async () => {
  place.remove();
  await sandbox.close();
});

describe('roadbook outbox', () => {
  it('tells what is unknown first, the story of an entry, and carries orders out', async () => {
    drop('a.json', [plan('OK'), plan('NO', { document_number: CPFS[0] })]);
    expect((await json(['run', 'push-route-plans'])).document).toMatchObject({ confirmed: 1, rejected: 1 });
    sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1 });
    drop('b.json', plan('LOST'));
    await place.run(['run', 'push-route-plans']);

    const { document: list } = await json(['outbox', 'list']);
    expect(list.map((entry: { external_code: string }) => entry.external_code)).toEqual(['LOST', 'NO', 'OK']);
    expect(JSON.stringify(list)).not.toContain(CPFS[0]);
    const { document: refused } = await json(['outbox', 'list', '--state', 'rejected', '--code', 'N']);
    expect(refused).toMatchObject([{ external_code: 'NO', reasons: [expect.stringContaining('No driver')] }]);
    const { document: story } = await json(['outbox', 'show', 'LOST']);
    expect(story.attempts).toMatchObject([
      { what: 'create', outcome: 'unclear', error_code: 'answer_unclear' },
      { what: 'read-back', outcome: 'unreadable' },
    ]);
    const { stdout } = await place.run(['outbox', 'show', 'LOST']);
    expect(stdout).toMatch(/unknown since/);

    const refusal = await place.run(['outbox', 'cancel', 'LOST']);
    expect(refusal).toMatchObject({ code: 2, stdout: '' });
    expect(refusal.stderr).toMatch(/may be at the service[\s\S]*--force/);
    const unread = await place.run(['outbox', 'retry', 'LOST']);
    expect(unread.code).toBe((await place.run(['run', 'push-route-plans'])).code);
    expect(unread.code).not.toBe(0);
    expect(unread).toMatchObject({ stdout: expect.stringMatching(/LOST: \S*unknown/) });
    expect(unread.stderr).toMatch(/read it back: .*400/);
    sandbox.clearFaults();
    expect((await json(['outbox', 'retry', 'LOST'])).document).toMatchObject({ state: 'confirmed' });
    expect((await json(['outbox', 'retry', 'NO'])).document).toMatchObject({ state: 'ready' });
    expect((await json(['outbox', 'cancel', 'NO'])).document).toMatchObject({ state: 'cancelled' });
    expect(sandbox.ledger().plans).toEqual({ OK: 1, LOST: 1 });
    const [{ payloads } = {}] = await place.query('select count(payload) as payloads from push_outbox');
    expect(payloads).toBe(0);
  });

  it('answers a wrong code and a wrong state with words and exit code 2', async () => {
    expect(await place.run(['outbox', 'show', 'NONE'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no entry with the code "NONE"[\s\S]*outbox list/),
    });
    expect(await place.run(['outbox', 'list', '--state', 'lost'])).toMatchObject({ code: 2 });
    expect((await place.run(['outbox', 'list'])).stdout).toMatch(/no such entries/);
  });
});

describe('the status', () => {
  it('counts the outbox, and speaks of no deadline where none is set', async () => {
    sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1 });
    drop('a.json', plan('LOST'));
    await place.run(['run', 'push-route-plans']);
    const { document } = await json(['status']);
    expect(document.outbox).toMatchObject({ unknown: 1, confirmed: 0 });
    expect(document.deadline).toBeUndefined();
    const { stdout } = await place.run(['status']);
    expect(stdout).toMatch(/Outbox: .*1 unknown/);
    expect(stdout).not.toMatch(/Deadline/);
  });
});

describe('a deadline', () => {
  it('that plans of tomorrow have missed is told by the status, and makes it late', async () => {
    place.remove();
    const jobs = 'timezone: UTC\njobs: { push-route-plans: { deadline: "00:00" } }\n';
    place = makeWorkplace(configFor(sandbox.url, FEED + jobs));
    const dayIn = (days: number): string =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    // Two days, in case it is midnight meanwhile.
    const late = [1, 2].map((days) =>
      plan('LATE', {
        external_code: `LATE-${days}`,
        date_time_start: `${dayIn(days)}T08:00:00Z`,
        date_time_end: `${dayIn(days)}T18:00:00Z`,
        vehicle_plate: 'ZZZ0Z00',
      }),
    );
    drop('a.json', [...late, plan('PAST')]);
    await place.run(['run', 'push-route-plans']);
    const { document } = await json(['status']);
    expect(document.deadline).toEqual({ at: '00:00', missed: [expect.stringMatching(/^LATE-/)] });
    expect(document.health).toBe('late');
    const { stdout } = await place.run(['status']);
    expect(stdout).toMatch(/Deadline 00:00: missed by 1 plans that start tomorrow: LATE-/);
  });
});

describe('a push job without a feed', () => {
  it('does nothing and is ok', async () => {
    expect((await json(['run', 'push-agents'])).document).toMatchObject({
      status: 'ok',
      requests: 0,
      sent: 0,
    });
  });
});
