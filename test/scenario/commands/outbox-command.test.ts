// roadbook outbox, run push-route-plans and status as a user meets them, through the real command.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../../src/cli/program.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { storeEntries } from '../../../src/warehouse/outbox/transitions.ts';
import { configFor, type Ended, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';
import { AT, entryIn } from '../../support/push/outbox-samples.ts';
import { CPFS, plan } from '../../support/push/push-samples.ts';

let sandbox: Sandbox;
let place: Workplace;

const FEED = 'erp: { route_plans: { source: files, folder: plans, settle: 0s } }\n';

function drop(name: string, items: unknown): void {
  mkdirSync(join(place.dir, 'plans'), { recursive: true });
  writeFileSync(join(place.dir, 'plans', name), JSON.stringify(items));
}

const json = async (args: string[]) => {
  const { code, stdout, stderr } = await place.runHere([...args, '--json']);
  return { code, stderr, document: JSON.parse(stdout) };
};

/** A command in this process, by the program's own entry point. */
async function typed(args: string[]): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  const config = join(place.dir, 'here.yaml');
  writeFileSync(config, `warehouse: { file: ${join(place.dir, 'here.db')} }\n`);
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  try {
    await main([process.execPath, 'roadbook', ...args, '--config', config]);
    return { code: Number(process.exitCode), ...printed };
  } finally {
    process.exitCode = 0;
    for (const spy of spies) spy.mockRestore();
  }
}

beforeEach(async () => {
  sandbox = await startSandbox({ churn: false });
  place = makeWorkplace(configFor(sandbox.url, FEED));
});
afterEach(async () => {
  place.remove();
  await sandbox.close();
});

describe('roadbook outbox', () => {
  it('lists unknown entries first, shows the history of an entry, and acts on it', async () => {
    drop('a.json', [plan('OK'), plan('NO', { document_number: CPFS[0] })]);
    expect((await json(['run', 'push-route-plans'])).document).toMatchObject({ confirmed: 1, rejected: 1 });
    sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1 });
    drop('b.json', plan('LOST'));
    await place.runHere(['run', 'push-route-plans']);

    const { document: list } = await json(['outbox', 'list']);
    expect(list.map((entry: { external_code: string }) => entry.external_code)).toEqual(['LOST', 'NO', 'OK']);
    expect(JSON.stringify(list)).not.toContain(CPFS[0]);
    const { document: rejected } = await json(['outbox', 'list', '--state', 'rejected', '--code', 'N']);
    expect(rejected).toMatchObject([{ external_code: 'NO', reasons: [expect.stringContaining('No driver')] }]);
    const { document: shown } = await json(['outbox', 'show', 'LOST']);
    expect(shown.attempts).toMatchObject([
      { what: 'create', outcome: 'unclear', error_code: 'answer_unclear' },
      { what: 'read-back', outcome: 'unreadable' },
    ]);
    const { stdout } = await place.runHere(['outbox', 'show', 'LOST']);
    expect(stdout).toMatch(/unknown since/);

    const rejection = await place.runHere(['outbox', 'cancel', 'LOST']);
    expect(rejection).toMatchObject({ code: 2, stdout: '' });
    expect(rejection.stderr).toMatch(/may be at the service[\s\S]*--force/);
    const unread = await place.runHere(['outbox', 'retry', 'LOST']);
    expect(unread.code).toBe((await place.runHere(['run', 'push-route-plans'])).code);
    expect(unread.code).not.toBe(0);
    expect(unread).toMatchObject({ stdout: expect.stringMatching(/LOST: \S*unknown/) });
    expect(unread.stderr).toMatch(/read the entry back: .*400/);
    sandbox.clearFaults();
    expect((await json(['outbox', 'retry', 'LOST'])).document).toMatchObject({ state: 'confirmed' });
    expect((await json(['outbox', 'retry', 'NO'])).document).toMatchObject({ state: 'ready' });
    expect((await json(['outbox', 'cancel', 'NO'])).document).toMatchObject({ state: 'cancelled' });
    expect(sandbox.ledger().plans).toEqual({ OK: 1, LOST: 1 });
    const [{ payloads } = {}] = await place.query('select count(payload) as payloads from push_outbox');
    expect(payloads).toBe(0);
  });

  it.each([
    ['a code that no entry has', ['show', 'NONE'], /no entry with the code "NONE"[\s\S]*Try: .*outbox list/],
    ['neither code nor state', ['retry'], /No entry to retry is named\n {2}Try: .*retry CODE .*--state rejected/],
    ['a part of a code alone', ['cancel', '--code', 'N'], /No entry to cancel is named\n {2}Try: .*cancel CODE/],
    ['a code and a state', ['retry', 'NO', '--state', 'rejected'], /one entry; --state is for many\n {2}Try: /],
    ['a code and a part of one', ['cancel', 'NO', '--code', 'N'], /one entry; --code is for many\n {2}Try: /],
    ['a use without a code', ['retry', '--state', 'rejected', '--use', '2'], /--use 2/],
    ['a wrong state', ['retry', '--state', 'rejectd'], /not a state of an entry: did you mean `rejected`/],
    ['a code behind the states', ['retry', '--state', 'ready', 'NO'], /'NO' is invalid.*not a state.*`ready`, /],
    ['a use that is no number', ['show', 'NO', '--use', 'last'], /whole number, at least 1/],
  ])('answers %s with an explanation, a hint and exit code 2', async (_what, args, words) => {
    const { code, stdout, stderr } = await typed(['outbox', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(words);
  });

  it('cancels a confirmed entry only with --force', async () => {
    drop('a.json', plan('P1'));
    await place.runHere(['run', 'push-route-plans']);
    expect(await place.runHere(['outbox', 'cancel', 'P1'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/P1 is at the service[\s\S]*--force/),
    });
    const { code, document } = await json(['outbox', 'cancel', 'P1', '--force']);
    expect({ code, document }).toMatchObject({ code: 0, document: { state: 'cancelled' } });
  });

  it('acts on the use of a code that --use names', async () => {
    place.remove();
    place = makeWorkplace(configFor(sandbox.url, `${FEED}jobs: { push-route-plans: { reuse_codes: true } }\n`));
    const nextDay = {
      date_time_start: '2025-03-14T08:00:00-03:00',
      date_time_end: '2025-03-14T18:00:00-03:00',
    };
    drop('a.json', [plan('R7'), plan('R7', nextDay)]);
    await place.runHere(['run', 'push-route-plans']);
    expect(await place.runHere(['outbox', 'cancel', 'R7', '--force'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Several[\s\S]*--use 1, route_plans --use 2/),
    });
    const { document } = await json(['outbox', 'cancel', 'R7', '--force', '--use', '2']);
    expect(document).toMatchObject({
      code_use: 2,
      state: 'cancelled',
      period_start: expect.stringMatching(/-14T/),
    });
    expect((await json(['outbox', 'show', 'R7', '--use', '1'])).document).toMatchObject({
      state: 'confirmed',
    });
  });

  it('lists partial plans under a state of their own', async () => {
    const stop = (i: number) => ({ name: `Stop ${i}`, latitude: -23.5, longitude: -46.6 + i / 1_000 });
    const route_points = Array.from({ length: 70 }, (_, i) => stop(i));
    drop('a.json', [plan('WHOLE'), plan('CROWD', { route_points, options: { optimize: true } })]);
    const { document: run } = await json(['run', 'push-route-plans']);
    expect(run.error.hint).toContain('outbox list --state partial');
    const codes = async (...states: string[]) => {
      const { document } = await json(['outbox', 'list', '--state', ...states]);
      return document.map(({ external_code }: { external_code: string }) => external_code).toSorted();
    };
    expect(await codes('partial')).toEqual(['CROWD']);
    expect(await codes('confirmed')).toEqual(['WHOLE']);
    expect(await codes('partial', 'confirmed')).toEqual(['CROWD', 'WHOLE']);
    const { stdout } = await place.runHere(['outbox', 'list', '--state', 'partial']);
    expect(stdout).toMatch(/^partial +- +route_plans +CROWD .*point not assigned/m);
  });

  it('lists entries that need a person first and says why', async () => {
    expect((await place.runHere(['outbox', 'list'])).stdout).toMatch(/No entry matches/);
    const engine = await sqlite.open({ file: join(place.dir, 'data', 'warehouse.db') });
    const entries = [
      entryIn('unknown', { external_code: 'LOST', unknown_since: new Date().toISOString() }),
      entryIn('confirmed', { external_code: 'TWICE', attention: 'found_twice', code_use: 2 }),
      entryIn('rejected', { external_code: 'NO', told_at: AT }),
    ];
    await engine.write((tx) => storeEntries(tx, entries));
    await engine.close();
    const { code, stdout, stderr } = await place.runHere(['outbox', 'list', '--limit', '2']);
    expect(code).toBe(0);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/needs a person/);
    expect(lines).toEqual([
      expect.stringMatching(/^confirmed +found twice +route_plans +TWICE \(use 2\)/),
      expect.stringMatching(/^unknown +- +route_plans +LOST /),
    ]);
    expect(stderr).toMatch(/Shown: 2 of 3 entries\. Try: --limit 3/);
    expect(stderr).toMatch(/Needs a person: 1 item: at the service more than once\. Try: Remove all but one/);
  });
});

describe('the status', () => {
  it('counts the outbox, and shows no deadline when none is set', async () => {
    sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1 });
    drop('a.json', plan('LOST'));
    await place.runHere(['run', 'push-route-plans']);
    const { document } = await json(['status']);
    expect(document.outbox).toMatchObject({ unknown: 1, confirmed: 0 });
    expect(document.deadline).toBeUndefined();
    const { stdout } = await place.runHere(['status']);
    expect(stdout).toMatch(/Outbox: .*1 unknown/);
    expect(stdout).not.toMatch(/Deadline/);
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
