// Actions from another process while the daemon runs: pause, resume, run now; kept across restarts.
import { afterEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Running, type Workplace } from '../../support/process/workplace.ts';

const names = (await loadJobs()).map(({ name }) => name);
const only = (settings: string): string =>
  `jobs:\n${names.map((name) => `  ${name}: ${name === 'pull-vehicles' ? settings : '{ enabled: false }'}\n`).join('')}`;

let place: Workplace;
let sandbox: Sandbox;

afterEach(async () => {
  place.remove();
  await sandbox.close();
});

const json = async (args: string[]) => JSON.parse((await place.runHere([...args, '--json'])).stdout);
const finished = /"run finished"/g;
const countOf = (daemon: Running): number => daemon.stderr().match(finished)?.length ?? 0;
const untilRuns = (daemon: Running, count: number): Promise<void> =>
  daemon.printed(new RegExp(`(?:"run finished"[\\s\\S]*){${count}}`));

describe('roadbook jobs pause, resume, run-now', () => {
  it('a paused job stays paused across a restart, runs on request, and is caught up once when resumed', async () => {
    sandbox = await startSandbox({ vehicles: 3 });
    // The next tick of this schedule is a year away.
    place = makeWorkplace(configFor(sandbox.url, only('{ schedule: "0 0 29 2 *" }')));
    expect(await json(['jobs', 'pause', 'pull-vehicles'])).toMatchObject({
      name: 'pull-vehicles',
      paused: true,
    });
    const daemon = place.start(['start', '--log-level', 'debug']);
    await daemon.printed(/is running/);
    const [status] = [await json(['status'])];
    const job = status.jobs.find(({ name }: { name: string }) => name === 'pull-vehicles');
    expect(job).toMatchObject({ paused: true, health: 'paused', next_tick_at: null, last_run: null });
    const listed = (await json(['jobs'])).find(({ name }: { name: string }) => name === 'pull-vehicles');
    expect(listed).toMatchObject({ paused: true, next_ticks: [] });
    expect((await place.runHere(['jobs'])).stdout).toMatch(/pull-vehicles\s+paused/);

    expect(await json(['jobs', 'run-now', 'pull-vehicles'])).toMatchObject({ paused: true });
    await untilRuns(daemon, 1);
    expect(countOf(daemon)).toBe(1);
    expect(await json(['jobs', 'resume', 'pull-vehicles'])).toMatchObject({ paused: false });
    await untilRuns(daemon, 2);
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(await place.query('select cause, status from sync_run order by started_at')).toEqual([
      { cause: 'manual', status: 'ok' },
      { cause: 'catch-up', status: 'ok' },
    ]);
    expect(await place.query('select holder from sync_lease where holder is not null')).toEqual([]);
  });

  it('an unknown job name is answered with the nearest one, and a disabled job cannot be requested', async () => {
    sandbox = await startSandbox({ vehicles: 3 });
    place = makeWorkplace(configFor(sandbox.url, only('{ enabled: false }')));
    const wrong = await place.runHere(['jobs', 'pause', 'pull-vehicels', '--json']);
    expect(wrong.code).toBe(2);
    expect(JSON.parse(wrong.stdout).error).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('pull-vehicles'),
    });
    const disabled = await place.runHere(['jobs', 'run-now', 'pull-vehicles']);
    expect(disabled.code).toBe(2);
    expect(disabled.stderr).toContain('npx roadbook run pull-vehicles');
  });

  it('a run from the command line waits for the run of the daemon, and says so', async () => {
    sandbox = await startSandbox({
      vehicles: 3,
      // Only the daemon's run: the other has nothing more to wait for.
      faults: [{ call: 'vehicles', fault: 'latency', ms: 4_000, times: 1 }],
    });
    place = makeWorkplace(configFor(sandbox.url, only('{}')));
    const daemon = place.start(['start', '--log-level', 'debug']);
    await daemon.printed(/"slice begun"/);
    const run = place.start(['run', 'pull-vehicles', '--json']);
    await run.printed(/pull-vehicles is being run by process \d+ on /);
    expect(await run.ended).toMatchObject({ code: 0 });
    daemon.kill('SIGTERM');
    await daemon.ended;
    const runs = await place.query<{ started_at: string; finished_at: string; cause: string }>(
      'select started_at, finished_at, cause from sync_run order by started_at',
    );
    expect(runs.map(({ cause }) => cause)).toEqual(['catch-up', 'manual']);
    expect(Date.parse(runs[1]?.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(runs[0]?.finished_at ?? ''));
  });
});
