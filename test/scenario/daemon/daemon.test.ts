// The daemon as a process: it starts, fills the warehouse, and stops on a signal.
import { afterEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

const names = (await loadJobs()).map(({ name }) => name);
/** The `jobs` section with only pull-vehicles, or no job at all, switched on. */
const only = (vehicles: string): string =>
  `jobs:\n${names.map((name) => `  ${name}: ${name === 'pull-vehicles' ? vehicles : '{ enabled: false }'}\n`).join('')}`;

let place: Workplace;
let sandbox: Sandbox | undefined;

afterEach(async () => {
  place.remove();
  await sandbox?.close();
  sandbox = undefined;
});

describe('roadbook start', () => {
  it('runs on an empty configuration with the built-in sandbox and exits 0 on SIGINT', async () => {
    place = makeWorkplace('');
    const daemon = place.start(['start']);
    await daemon.printed(/"job":"pull-vehicles"[^\n]*"run finished"/);
    expect(daemon.stdout()).toMatch(/Roadbook .* is running/);
    expect(daemon.stdout()).toMatch(/built-in sandbox at http:\/\/127\.0\.0\.1:\d+/);
    const status = await place.run(['status']);
    expect(status.stdout).toMatch(new RegExp(` ${daemon.pid} +alive +\\d`));
    daemon.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    expect(await place.query('select * from sync_daemon')).toEqual([]);
    const [{ vehicles } = {}] = await place.query('select count(*) as vehicles from vehicle');
    expect(vehicles).toBeGreaterThan(0);
  });

  it('runs a job again at its tick', async () => {
    sandbox = await startSandbox();
    place = makeWorkplace(configFor(sandbox.url, only('{ schedule: "* * * * * *" }')));
    const daemon = place.start(['start', '--log-level', 'debug']);
    await daemon.printed(/"run finished"[\s\S]*"run finished"[\s\S]*"run finished"/);
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    const runs = await place.query<{ cause: string; tick_at: string }>(
      'select cause, tick_at from sync_run order by started_at',
    );
    expect(runs.length).toBeGreaterThanOrEqual(3);
    expect(runs[0]?.cause).toBe('catch-up');
    expect(new Set(runs.map(({ tick_at }) => tick_at)).size).toBe(runs.length);
  });

  it('does not run a disabled job', async () => {
    place = makeWorkplace(only('{ enabled: false }'));
    const daemon = place.start(['start']);
    await daemon.printed(/Jobs \(0\)/);
    daemon.kill('SIGINT');
    expect((await daemon.ended).code).toBe(0);
    expect(await place.query('select * from sync_run')).toEqual([]);
  });

  it('lets a request in flight finish after the first signal', async () => {
    sandbox = await startSandbox({ faults: [{ call: 'vehicles', fault: 'latency', ms: 1_500 }] });
    place = makeWorkplace(configFor(sandbox.url, only('{}')));
    const daemon = place.start(['start', '--log-level', 'debug']);
    await daemon.printed(/"slice begun"/);
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    expect(await place.query('select status from sync_run')).toEqual([{ status: 'ok' }]);
  });

  it('exits at once on the second signal', async () => {
    sandbox = await startSandbox({ faults: [{ call: 'vehicles', fault: 'hang' }] });
    place = makeWorkplace(configFor(sandbox.url, only('{}')));
    const daemon = place.start(['start', '--log-level', 'debug']);
    await daemon.printed(/"run started"/);
    daemon.kill('SIGINT');
    await daemon.printed(/again to stop at once/);
    daemon.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 130 });
  });
});
