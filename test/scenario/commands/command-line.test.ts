// The command line as a user meets it: help, mistakes, exit codes, and JSON output.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { localDate } from '../../../src/core/time/local-days.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { takeWhenFree } from '../../../src/warehouse/control/leases.ts';
import { openSqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { leaseManagerOn, processElsewhere } from '../../support/daemons/lease-manager.ts';
import { makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

let place: Workplace;
beforeEach(() => {
  place = makeWorkplace('');
});
afterEach(() => place.remove());

describe('the command line', () => {
  it('exports once another process has ended its export', async () => {
    const args = ['export', '--format', 'csv', '--out', 'out', '--table', 'vehicle'];
    const engine = openSqlite(join(place.dir, 'data/warehouse.db'));
    onTestFinished(() => engine.close());
    await bringSchemaUpToDate(engine);
    const log = createLog({ level: 'silent', redactor: createRedactor() });
    const other = leaseManagerOn(engine, { clock: systemClock, log, process: processElsewhere('depot-2') });
    const held = await takeWhenFree(other, 'export to files', { clock: systemClock });
    const exporting = place.start(args);
    await exporting.printed(/^export is being run by process 7 on depot-2, since .*; waiting/m);
    expect(existsSync(join(place.dir, 'out'))).toBe(false);
    await held.release();
    expect((await exporting.ended).code).toBe(0);
    expect(readdirSync(join(place.dir, 'out')).toSorted()).toEqual(['export.json', 'vehicle.csv']);
  });

  it('says what to do if the SQLite driver was not built', async () => {
    const unbuilt = `import m from 'node:module'; const load = m._load;
      m._load = (name, ...rest) => { if (name === 'sqlite3') throw new Error('no bindings'); return load(name, ...rest); };`;
    const ended = await place.start(['status'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(unbuilt)}`,
    }).ended;
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/The SQLite driver cannot be loaded\s+Try: Run `npm ci` again/);
  });

  it('lists every configuration error with line and column, and exits 3', async () => {
    writeFileSync(
      join(place.dir, 'config/roadbook.yaml'),
      'timezone: America/Sao_Paolo\nservice:\n  timeuot: 10s\njobs:\n  pull-vehicles: { schedule: "61 * * * *" }\n',
    );
    const { code, stderr, stdout } = await place.runHere(['config', 'check']);
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/config\/roadbook\.yaml:1:11 .*timezone/);
    expect(stderr).toMatch(/did you mean `?America\/Sao_Paulo/i);
    expect(stderr).toMatch(/config\/roadbook\.yaml:3:3 .*timeuot/);
    expect(stderr).toMatch(/config\/roadbook\.yaml:5:\d+ .*schedule/);
  });

  it('lists the same errors as JSON', async () => {
    writeFileSync(join(place.dir, 'config/roadbook.yaml'), 'jobs: { pull-vehicle: {} }\n');
    const { code, stdout } = await place.runHere(['run', 'pull-vehicles', '--json']);
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'config_invalid',
      faults: [{ line: 1, column: 9 }],
    });
  });

  it.each([
    ['an unknown command', ['strat'], /unknown command 'strat'[\s\S]*start/],
    ['an unknown option', ['run', 'pull-vehicles', '--jsn'], /--json/],
    ['a missing argument', ['run'], /missing required argument 'job'/],
    ['a day that does not exist', ['report', 'missing-proof', '--day', '2026-02-31'], /2026-01-31/],
    ['an unknown job', ['run', 'pull-vehicels'], /did you mean `pull-vehicles`\?/],
    ['a number that is none', ['jobs', '--next', 'many'], /whole number/],
    ['an unknown table', ['verify', '--table', 'evnt'], /No job pulls a table "evnt"[\s\S]*did you mean `event`\?/],
    ['no command', [], /Usage: roadbook/],
    ['a port that is none', ['sandbox', '--port', '65536'], /whole number from 0 to 65535/],
    ['an address of another machine', ['sandbox', '--host', '192.0.2.1'], /cannot listen on 192\.0\.2\.1[\s\S]*--host/],
    ['a period for a push', ['backfill', 'push-agents', '--from', '2026-01-01', '--to', '2026-01-02'], /no period/],
    ['a folder in place of a file', ['erp', 'check', 'config'], /config is not a file/],
  ])('answers %s with an explanation and exit code 2', async (_what, args, words) => {
    const { code, stderr, stdout } = await place.runHere(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
    expect(stdout).toBe('');
  });

  it.each([[['run']], [['jobs', '--next', '0']], [['export']]])('prints a mistake in %j as JSON too', async (args) => {
    const { code, stdout } = await place.runHere([...args, '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'usage', message: expect.any(String) });
  });

  it('prints a template as one JSON document, and writes it to a new folder', async () => {
    const { stdout } = await place.runHere(['erp', 'template', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'csv',
      encoding: 'utf8',
      content: expect.stringContaining(';'),
    });
    const written = await place.runHere(['erp', 'template', '--json', '--out', 'new/plans.csv']);
    expect(JSON.parse(written.stdout)).toMatchObject({ file: 'new/plans.csv' });
    expect(readFileSync(join(place.dir, 'new/plans.csv'), 'utf8')).toBe(JSON.parse(stdout).content);
  });

  it('prints the retention of personal data only if the job that deletes it is enabled', async () => {
    const kept = async (enabled: boolean) => {
      const options = `{ enabled: ${enabled}, retention: { event: 90d } }`;
      writeFileSync(join(place.dir, 'config/other.yaml'), `jobs: { maintain-warehouse: ${options} }\n`);
      const { stdout } = await place.runHere(['tables', '--personal', '--json', '--config', 'config/other.yaml']);
      return JSON.parse(stdout).find((each: { place: string }) => each.place === 'event.driver_name').kept;
    };
    expect([await kept(true), await kept(false)]).toEqual(['90d', 'for ever']);
  });

  it('prints help on stdout and exits 0', async () => {
    const { code, stdout, stderr } = await place.runHere(['--help']);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect((await place.runHere(['help', 'run'])).stdout).toMatch(/^Usage: roadbook run/);
    for (const command of ['start', 'run', 'jobs', 'status', 'doctor', 'config', 'tables', 'sandbox']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
  });

  it.each([
    ['run', 'pull-vehicles'],
    ['run', 'pull-vehicles', '--dry-run'],
    ['jobs', '--next', '3'],
    ['status'],
    ['doctor'],
    ['config', 'check'],
    ['tables'],
  ])('prints one JSON document and nothing else for %s %s', async (...args) => {
    const { code, stdout, stderr } = await place.runHere([...args, '--json']);
    expect(code).toBe(0);
    expect(() => JSON.parse(stdout)).not.toThrow();
    expect(stderr).toBe('');
  });

  it('reports a missing file with a hint', async () => {
    const { code, stderr } = await place.runHere(['status', '--config', 'no/such file.yaml']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/no\/such file\.yaml.*does not exist[\s\S]*Try: .*--config/);
  });

  it('says plainly that the file is not a warehouse', async () => {
    writeFileSync(join(place.dir, 'config/roadbook.yaml'), 'warehouse: { file: not-a-database.db }\n');
    writeFileSync(
      join(place.dir, 'not-a-database.db'),
      'this is text, long enough to be read as a header of a file\n'.repeat(20),
    );
    const { code, stderr } = await place.runHere(['status']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/not-a-database\.db is not a valid SQLite database[\s\S]*Try: /);
  });

  it('prints the status document of the contract', async () => {
    await place.runHere(['run', 'pull-vehicles']);
    const document = JSON.parse((await place.runHere(['status', '--json'])).stdout);
    expect(Object.keys(document)).toEqual([
      'health',
      'version',
      'config',
      'session',
      'jobs',
      'tables',
      'outbox',
      'attention',
      'quarantine',
      'verification',
      'daemons',
      'reasons',
      'at',
    ]);
    expect(document).toMatchObject({ config: { error: null }, quarantine: 0 });
    expect(document.jobs.find(({ name }: { name: string }) => name === 'pull-vehicles')).toMatchObject({
      enabled: true,
      paused: false,
      health: 'ok',
      last_run: { status: 'ok', error: null },
    });
    expect(document.tables.find(({ name }: { name: string }) => name === 'vehicle')).toMatchObject({
      rows: expect.any(Number),
      freshness_seconds: expect.any(Number),
    });
  });

  it('verifies the warehouse: 5 while a final day differs from the service, 0 once that is repaired', async () => {
    writeFileSync(
      join(place.dir, 'config/roadbook.yaml'),
      'jobs: { pull-daily-summaries: { since: 4d, lookback: 1d } }\n',
    );
    expect((await place.runHere(['run', 'pull-daily-summaries'])).code).toBe(0);
    const verify = ['verify', '--table', 'daily_summary', '--sample', '100', '--days', '4'];
    await place.runHere([...verify, '--repair']);
    const [{ day } = {}] = await place.query("select min(day) as day from daily_summary where subject = 'vehicle'");
    await place.query(`update daily_summary set total_distance = -1 where day = '${day}' and subject = 'vehicle'`);
    const found = await place.runHere([...verify, '--json']);
    expect(found.code).toBe(5);
    const wrong = JSON.parse(found.stdout).tables.filter(({ differing }: { differing: number }) => differing > 0);
    expect(wrong).toMatchObject([
      { table_name: 'daily_summary', day, state: 'final', differing_columns: { total_distance: wrong[0].differing } },
    ]);
    const repaired = await place.runHere([...verify, '--repair']);
    expect(repaired.code).toBe(5);
    expect(repaired.stdout).toMatch(/Drift: \d+ of \d+ rows of final days differ\. Repaired\./);
    const clean = await place.runHere(verify);
    expect(clean.code).toBe(0);
    expect(clean.stdout).toMatch(/No drift: \d+ rows of final days are equal\./);
    await place.query('update daily_summary set total_distance = -1');
    writeFileSync(
      join(place.dir, 'config/roadbook.yaml'),
      'jobs: { pull-daily-summaries: { since: 4d, lookback: 1d }, verify-warehouse: { max_calls: 6 } }\n',
    );
    const cut = await place.runHere([...verify, '--repair']);
    expect(cut.stdout).toContain('Repaired, as far as the run could compare.');
    expect(cut.stdout).not.toContain('Repaired.');
  });

  it('reports missing proof only of what was read, and names forms that no checklist has', async () => {
    const forms = (...names: string[]) =>
      writeFileSync(
        join(place.dir, 'config/roadbook.yaml'),
        `proof: { picture: false, checklists: [${names.join(', ')}] }
jobs: { pull-route-plans: { since: 5d }, pull-checklists: { since: 5d } }\n`,
      );
    const report = async (...args: string[]) => (await place.runHere(['report', 'missing-proof', ...args])).stdout;
    const CLEAR = 'No executed stop lacks evidence';
    forms();
    expect(await report()).toBe('Route plans have not been read yet: npx roadbook run pull-route-plans\n');
    expect(JSON.parse(await report('--json'))).toEqual({
      read: [{ table: 'route_plan', read_until: null, is_known: true }],
      unused_forms: [],
      stops: [],
    });
    expect((await place.runHere(['run', 'pull-route-plans'])).code).toBe(0);
    expect(await report()).toMatch(new RegExp(`^${CLEAR}[^]*\nRoute plans have been read until \\d{4}-.*Z\\.\n$`));
    expect(await report('--day', '2099-01-01')).toBe('Route plans of 2099-01-01 have not been read yet.\n');
    expect(await report('--day', '2020-01-01')).toMatch(
      /^It is not known whether all route plans of 2020-01-01 were read: /,
    );

    forms('No such form');
    const unread = 'Checklists have not been read yet, so every stop counts as one without: ';
    expect(await report()).toContain(unread);
    expect((await place.runHere(['run', 'pull-checklists'])).code).toBe(0);
    const [{ used } = {}] = await place.query('select min(checklist_form_name) as used from checklist');
    forms(String(used), 'No such form');
    const all = await report();
    expect(all).not.toContain(unread);
    expect(all).toMatch(/\nChecklists have been read until /);
    expect(all).toMatch(/\nNo checklist has the form "No such form"\. Check its name in proof\.checklists\.\n$/);
    expect(JSON.parse(await report('--json'))).toMatchObject({
      read: [{ table: 'route_plan' }, { table: 'checklist', read_until: expect.stringMatching(/Z$/) }],
      unused_forms: ['No such form'],
      stops: expect.arrayContaining([expect.objectContaining({ lacks_checklist: true })]),
    });
    // Of a day that was read to its end there is no more to say.
    const yesterday = localDate(Date.now() - 86_400_000, 'America/Sao_Paulo');
    forms();
    expect(await report('--day', yesterday)).toMatch(new RegExp(`^${CLEAR}.*\n$`));
  });

  it('says which table that was asked for a verification did not compare, and why: 5', async () => {
    writeFileSync(join(place.dir, 'config/roadbook.yaml'), 'jobs: { pull-checklists: { enabled: false } }\n');
    expect((await place.runHere(['run', 'pull-vehicles'])).code).toBe(0);
    const verify = ['verify', '--table', 'vehicle', 'checklist', 'event'];
    const { code, stdout } = await place.runHere(verify);
    expect(code).toBe(5);
    expect(stdout).toContain('Not compared: checklist, because pull-checklists is disabled.');
    expect(stdout).toContain('Not compared: event, because pull-events has read nothing yet.');
    expect((await place.runHere(['run', 'pull-drivers'])).code).toBe(0);
    const one = await place.runHere(['verify', '--table', 'vehicle', 'driver', '--sample', '1', '--json']);
    expect(one.code).toBe(5);
    const either = { table: expect.stringMatching(/^(vehicle|driver)$/), because: 'nothing of it was in the sample' };
    expect(JSON.parse(one.stdout).not_compared).toEqual([either]);
    expect((await place.runHere(['verify', '--table', 'vehicle'])).code).toBe(0);
  });

  it('says how many records a verification could not compare, and where they are: 5', async () => {
    const sandbox = await startSandbox({ vehicles: 1, churn: false });
    onTestFinished(() => sandbox.close());
    writeFileSync(join(place.dir, 'config/roadbook.yaml'), `service: { base_url: "${sandbox.url}" }\n`);
    expect((await place.runHere(['run', 'pull-vehicles'])).code).toBe(0);
    const body = JSON.stringify({ call: 'vehicles', records: [{ id: 7, year: 'last' }] });
    await fetch(`${sandbox.url}/_sandbox/records`, { method: 'POST', body });
    const found = await place.runHere(['verify', '--table', 'vehicle']);
    expect(found.code).toBe(5);
    expect(found.stdout).toContain(
      'Not compared: 1 records of the service do not fit their table. --repair stores them in the quarantine.',
    );
    expect(found.stdout).not.toContain('npx roadbook quarantine list');
    const repaired = await place.runHere(['verify', '--table', 'vehicle', '--repair']);
    expect(repaired.code).toBe(5);
    expect(repaired.stdout).toContain('They are in the quarantine: npx roadbook quarantine list');
  });

  it('says when the quarantine has more than it lists, and when the start of an id is that of several', async () => {
    expect((await place.runHere(['quarantine', 'list'])).stderr).toBe('');
    await place.query(`insert into sync_quarantine (id, job, table_name, reason, payload, first_seen_at, last_seen_at, times, run_id)
      with recursive n(i) as (select 100 union all select i + 1 from n where i < 200)
      select 'abc' || i, 'pull-vehicles', 'vehicle', 'old', '{"id":' || i || '}', '', '2026-03-10T15:00:00.000Z', 1, 'r' from n`);
    const listed = await place.runHere(['quarantine', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toHaveLength(100);
    expect(listed.stderr).toContain('Only the newest 100 are listed.');
    const several = await place.runHere(['quarantine', 'show', 'abc']);
    expect(several).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('several records') });
    const { stdout } = await place.runHere(['quarantine', 'show', 'abc101', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'abc101' });
  });

  it('shows the next ticks in local time and UTC, and flags the days on which the clock changes', async () => {
    writeFileSync(
      join(place.dir, 'config/roadbook.yaml'),
      'timezone: America/New_York\njobs: { pull-vehicles: { schedule: "30 2 * * *" } }\n',
    );
    const { stdout } = await place.runHere(['jobs', '--next', '400', '--json']);
    const jobs: { name: string; next_ticks: Record<string, string>[] }[] = JSON.parse(stdout);
    const ticks = jobs.find(({ name }) => name === 'pull-vehicles')?.next_ticks ?? [];
    expect(ticks).toHaveLength(400);
    expect(ticks.every(({ at, local }) => Date.parse(at ?? '') === Date.parse(local ?? ''))).toBe(true);
    // A slot after the change has a different offset from the day before.
    const offset = (index: number): string => ticks[index]?.local?.slice(-6) ?? '';
    const later = ticks.slice(1);
    const changed = later.filter((_tick, index) => offset(index) !== offset(index + 1));
    expect(changed.length).toBeGreaterThanOrEqual(2);
    expect(later.filter(({ clock_change_day }) => clock_change_day)).toEqual(changed);
  });

  it('prints the data dictionary that is in the repository', async () => {
    const { stdout } = await place.runHere(['tables', '--markdown']);
    const file = resolve(import.meta.dirname, '../../../docs/reference/warehouse.md');
    expect(readFileSync(file, 'utf8'), 'stale: run `npm run docs`').toBe(stdout);
  });

  it('prints the dbt source that is in the repository', async () => {
    const { stdout } = await place.runHere(['tables', '--dbt']);
    const file = resolve(import.meta.dirname, '../../../docs/reference/dbt-sources.yml');
    expect(readFileSync(file, 'utf8'), 'stale: run `npm run docs`').toBe(stdout);
  });

  it('prints the schema that is in the repository', async () => {
    const { stdout } = await place.runHere(['config', 'schema']);
    const file = resolve(import.meta.dirname, '../../../config/roadbook.schema.json');
    expect(readFileSync(file, 'utf8'), 'stale: run `npm run schema`').toBe(stdout);
  });
});
