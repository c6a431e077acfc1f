// The daemon as a process while its configuration file is edited under it.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Running, type Workplace } from '../../support/process/workplace.ts';

const names = (await loadJobs()).map(({ name }) => name);
/** Every job off except these. */
const only = (jobs: Record<string, string>): string =>
  `jobs:\n${names.map((name) => `  ${name}: ${jobs[name] ?? '{ enabled: false }'}\n`).join('')}`;

const EACH_SECOND = '{ schedule: "* * * * * *" }';
const ONCE_A_YEAR = '{ schedule: "0 0 1 1 *" }';

let place: Workplace;
let sandbox: Sandbox;
let daemon: Running;

beforeEach(async () => {
  sandbox = await startSandbox();
  place = makeWorkplace('');
});
afterEach(async () => {
  place.remove();
  await sandbox.close();
});

const path = () => join(place.dir, 'config/roadbook.yaml');

/** As most editors save: a new file replaces the old one. */
function edit(content: string): void {
  writeFileSync(`${path()}.new`, content);
  renameSync(`${path()}.new`, path());
}

async function start(jobs: Record<string, string>, args: string[] = []): Promise<void> {
  edit(configFor(sandbox.url, only(jobs)));
  daemon = place.start(['start', '--log-level', 'debug', ...args]);
  await daemon.printed(/"run finished"/);
}

async function end(): Promise<void> {
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

const status = async () => JSON.parse((await place.runHere(['status', '--json'])).stdout);

describe('an edit of the running daemon', () => {
  it('applies a new schedule, and starts a job that is switched on', async () => {
    await start({ 'pull-vehicles': ONCE_A_YEAR });
    edit(configFor(sandbox.url, only({ 'pull-vehicles': EACH_SECOND, 'pull-drivers': '{}' })));
    await daemon.printed(/"config_reloaded"[^\n]*"jobs.pull-drivers"/);
    await daemon.printed(/"job":"pull-vehicles"[^\n]*"cause":"schedule"[^\n]*"run finished"/);
    await daemon.printed(/"job":"pull-drivers"[^\n]*"run finished"/);
    await end();
  });

  it('that is invalid is rejected with its position and shown by status, and the old configuration stays', async () => {
    await start({ 'pull-vehicles': EACH_SECOND });
    const before = configFor(sandbox.url, only({ 'pull-vehicles': EACH_SECOND }));
    edit(`${before}timezoen: UTC\n`);
    await daemon.printed(/"config_rejected"[^\n]*roadbook\.yaml:\d+:1 /);
    const line = before.split('\n').length;
    expect((await status()).config.error).toContain(`config/roadbook.yaml:${line}:1  timezoen: is not a known field`);
    const shown = await place.runHere(['status']);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('did you mean `timezone`?') });

    edit('service: [\n');
    await daemon.printed(/"config_rejected"[^\n]*roadbook\.yaml:1:10 /);
    rmSync(path());
    await daemon.printed(/"config_rejected"[^\n]*does not exist/);

    edit(`${before}timezone: UTC\n`);
    await daemon.printed(/"config_reloaded"[^\n]*"changed":\["timezone","jobs/);
    expect((await status()).config.error).toBeNull();
    await end();
    const runs = await place.query<{ tick_at: string; cause: string; status: string }>(
      "select tick_at, cause, status from sync_run where cause = 'schedule' order by tick_at",
    );
    expect(new Set(runs.map(({ tick_at }) => tick_at)).size).toBe(runs.length);
    expect(runs.length).toBeGreaterThan(2);
    // The end of the daemon may cut off the last run.
    expect(runs.slice(0, -1).map((run) => run.status)).toEqual(runs.slice(1).map(() => 'ok'));
  });

  it('that needs a restart is rejected with that reason', async () => {
    await start({ 'pull-vehicles': ONCE_A_YEAR });
    edit(configFor(sandbox.url, `${only({})}warehouse: { file: data/other.db }\n`));
    await daemon.printed(/"config_rejected"[^\n]*warehouse.file: a change of the warehouse needs a restart/);
    edit(configFor(sandbox.url, `${only({})}scale: { workers: 2 }\n`));
    await daemon.printed(
      /"config_rejected"[^\n]*scale: a change of the dispatcher or of the number of workers needs a restart/,
    );
    edit(configFor('sandbox', only({})));
    await daemon.printed(/"config_rejected"[^\n]*service: a change of the service or of its user needs/);
    edit('');
    await daemon.printed(/"config_rejected"[^\n]*the file no longer has/);
    expect((await status()).config.error).toContain('config/roadbook.yaml:1:1  service');
    await end();
  });

  it('of the credentials opens a new session, and a run in progress ends on the old one', async () => {
    sandbox.addFault({ call: 'vehicles', fault: 'latency', ms: 3_000, times: 1 });
    edit(configFor(sandbox.url, only({ 'pull-vehicles': '{}', 'pull-drivers': ONCE_A_YEAR })));
    writeFileSync(join(place.dir, '.env'), 'ROADBOOK_PASSWORD=demo\n');
    daemon = place.start(['start', '--log-level', 'debug']);
    await daemon.printed(/"job":"pull-drivers"[^\n]*"run finished"/);
    await daemon.printed(/"job":"pull-vehicles"[^\n]*"slice begun"/);
    expect(sandbox.ledger()).toMatchObject({ logins: 1 });

    await fetch(`${sandbox.url}/_sandbox/credentials`, {
      method: 'POST',
      body: JSON.stringify({ password: 'changed-in-the-meantime' }),
    });
    writeFileSync(join(place.dir, '.env'), 'ROADBOOK_PASSWORD=changed-in-the-meantime\n');
    await daemon.printed(/"config_reloaded"[^\n]*"changed":\["service.password"\]/);
    edit(configFor(sandbox.url, only({ 'pull-vehicles': '{}', 'pull-drivers': EACH_SECOND })));
    await daemon.printed(/"job":"pull-drivers"[^\n]*"cause":"schedule"[^\n]*"status":"ok"/);
    await daemon.printed(/"job":"pull-vehicles"[^\n]*"status":"ok"/);
    await end();
    expect(sandbox.ledger()).toMatchObject({ logins: 2, logins_rejected: 0 });
    const output = daemon.stdout() + daemon.stderr();
    expect(output).not.toContain('changed-in-the-meantime');
    expect(await place.query("select distinct status from sync_run where job = 'pull-vehicles'")).toEqual([
      { status: 'ok' },
    ]);
  });

  it('is applied on SIGHUP, which never stops the daemon', async () => {
    await start({ 'pull-vehicles': ONCE_A_YEAR });
    daemon.kill('SIGHUP');
    await daemon.printed(/"config_reloaded","cause":"signal","changed":\[\]/);
    await end();
  });
});
