// The application under edits, in one process: which dependencies of a run are kept, which are reopened, and when the old
// ones are closed. And the alerts it derives from the warehouse.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type App, openApp } from '../../../src/app/app.ts';
import { daemonAlerts } from '../../../src/cli/daemon-alerts.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SyncDependencies } from '../../../src/sync/dependencies.ts';
import { makeWorkplace, type Workplace } from '../../support/process/workplace.ts';

let place: Workplace;
let sandbox: Sandbox;
let app: App;

const file = () => join(place.dir, 'config/roadbook.yaml');

function config({ service = '', erp = 'in', rest = '' }: Record<string, string> = {}): string {
  return `service: { base_url: "${sandbox.url}"${service} }
warehouse: { file: ${join(place.dir, 'warehouse.db')}, images: ${join(place.dir, 'images')} }
erp:
  agents: { source: files, folder: ${join(place.dir, erp)} }
  itineraries: { source: files, folder: ${join(place.dir, 'other')} }
${rest}`;
}

beforeEach(async () => {
  place = makeWorkplace('');
  sandbox = await startSandbox();
  writeFileSync(file(), config());
  app = await openApp({ configFile: file(), logLevel: 'silent', version: '1.2.3' });
});
afterEach(async () => {
  await app.close();
  await sandbox.close();
  place.remove();
});

const edit = (change: Record<string, string>): Promise<string[]> => {
  writeFileSync(file(), config(change));
  return app.reload();
};

const ask = ({ fleet }: SyncDependencies) => fleet.call(vehicles, { includes: ['fleet'], visible: 1 });

it('keeps what did not change: an edit of a job costs no login and reopens no feed', async () => {
  const before = await app.during(async (dependencies) => {
    await ask(dependencies);
    return { fleet: dependencies.fleet, agents: await dependencies.erp('agents') };
  });
  expect(await edit({ rest: 'jobs: { pull-vehicles: { enabled: false } }\n' })).toEqual(['jobs.pull-vehicles']);
  await app.during(async (dependencies) => {
    await ask(dependencies);
    expect(dependencies.fleet).toBe(before.fleet);
    expect(await dependencies.erp('agents')).toBe(before.agents);
  });
  expect(sandbox.ledger().logins).toBe(1);
});

it('reopens only the feed that changed', async () => {
  const opened = () => app.during(async ({ erp }) => [await erp('agents'), await erp('itineraries')]);
  const [agents, itineraries] = await opened();
  expect(await edit({ erp: 'in2' })).toEqual(['erp.agents']);
  const [agentsNow, itinerariesNow] = await opened();
  expect(agentsNow).not.toBe(agents);
  expect(itinerariesNow).toBe(itineraries);
});

it('lets a run end on the client it started with, then closes that client', async () => {
  let old: SyncDependencies | undefined;
  await app.during(async (dependencies) => {
    old = dependencies;
    await ask(dependencies);
    expect(await edit({ service: ', timeout: 30s' })).toEqual(['service.timeout']);
    await app.during(async (now) => {
      expect(now.fleet).not.toBe(dependencies.fleet);
      await ask(now);
    });
    await ask(dependencies);
  });
  expect(sandbox.ledger().logins).toBe(2);
  await expect(ask(old as SyncDependencies)).rejects.toMatchObject({ code: 'closed' });
});

it('leaves the settings of the views to a live daemon, whatever file a command reads', async () => {
  const zone = async () =>
    (await app.warehouse()).read(async (sql) => (await sql('local_day').max({ at: 'begin_at' }).first())?.at.slice(11));
  await app.storeSettings();
  const heartbeat = await app.heartbeat();
  heartbeat.start();
  await heartbeat.runOnce();
  const before = await zone();
  writeFileSync(file(), `${config()}timezone: Asia/Tokyo\n`);
  expect(await place.runHere(['outbox', 'list'])).toMatchObject({ code: 0 });
  expect(await zone()).toBe(before);
  await heartbeat.stop();
  expect(await place.runHere(['outbox', 'list'])).toMatchObject({ code: 0 });
  expect(await zone()).not.toBe(before);
  // The daemon stores its own again, also if its file has not changed.
  writeFileSync(file(), config());
  expect(await app.reload()).toEqual([]);
  expect(await zone()).toBe(before);
});

it('stores nothing of another account in a warehouse with data, and needs a restart for another account', async () => {
  const pull = async (service: string) => {
    writeFileSync(file(), config({ service }));
    return place.runHere(['run', 'pull-vehicles']);
  };
  // A wrong user name is no account: nothing was read with it.
  expect(await pull(', username: typo')).toMatchObject({ code: 4 });
  expect(await pull('')).toMatchObject({ code: 0 });
  const { logins } = sandbox.ledger();
  await expect(edit({ service: ', username: other' })).rejects.toThrow(
    'service: a change of the service or of its user',
  );
  const reason = 'service: the warehouse holds the data of another user of http';
  expect(await pull(', username: other')).toMatchObject({ code: 3, stderr: expect.stringContaining(reason) });
  expect(sandbox.ledger()).toMatchObject({ logins, logins_rejected: 1 });
  // As go-live.md says for an account that has got another name or address.
  const engine = await app.warehouse();
  await engine.write(({ sql }) => sql.raw("delete from sync_state where name = 'service account'"));
  expect(await pull(', username: other')).toMatchObject({ code: 4 });
  expect(await pull('')).toMatchObject({ code: 0 });
});

it('keeps everything when an edit is invalid', async () => {
  const { loaded } = app;
  writeFileSync(file(), 'service: { timeuot: 1s }\n');
  await expect(app.reload()).rejects.toMatchObject({ code: 'config_invalid' });
  expect(app.loaded).toBe(loaded);
  await app.during(ask);
});

it('rejects a file that was cut, wherever, also if it was edited before', async () => {
  const rest = `alerts: { webhook: "http://127.0.0.1:1/" }
stops: { late_after: 10m }
jobs:
  pull-vehicles: { schedule: "0 5 * * *" }
  pull-drivers:
    schedule: "0 5 * * *"
    enabled: false
`;
  await edit({ rest });
  const { loaded } = app;
  for (const text of [config({ rest }), config({ rest, service: ', timeout: 30s' })]) {
    // After each line, and anywhere in the last two.
    const cuts = Array.from(text, (_, at) => at).filter((at) => text[at - 1] === '\n' || at > text.length - 50);
    for (const kept of [0, ...cuts]) {
      writeFileSync(file(), text.slice(0, kept));
      await expect(app.reload(), text.slice(0, kept)).rejects.toMatchObject({ code: 'config_invalid' });
    }
  }
  expect(app.loaded).toBe(loaded);
  const without = (line: RegExp) => edit({ rest: rest.replace(line, '') });
  await expect(without(/stops.*\n/)).rejects.toThrow('no longer has `stops`; restart to confirm');
  await expect(without(/ {2}pull-vehicles.*\n/)).rejects.toThrow(
    'no longer has `jobs.pull-vehicles`; restart to confirm',
  );
  expect(await edit({ rest: `${rest.replace('false', 'true')}  pull-events: {}\n` })).toEqual([
    'jobs.pull-drivers',
    'jobs.pull-events',
  ]);
});

it('alerts of a job whose last run failed, with the error message of the run', async () => {
  const bodies: Record<string, string>[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(JSON.parse(body));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await edit({ rest: `alerts: { webhook: "${hook}" }\njobs: { push-route-plans: { enabled: false } }\n` });
  const engine = await app.warehouse();
  const alerts = daemonAlerts(app, engine);
  await alerts.runOnce();
  expect(bodies).toEqual([]);
  const now = new Date().toISOString();
  const counts =
    'slices requests retries records inserted updated unchanged quarantined sent confirmed rejected unknown';
  const zeros = Object.fromEntries(counts.split(' ').map((name) => [name, 0]));
  const run = { run_id: 'r1', job: 'pull-events', cause: 'schedule', host: 'h', pid: 1, ...zeros };
  await engine.write(({ sql }) =>
    sql('sync_run').insert({
      ...run,
      status: 'failed',
      started_at: now,
      finished_at: now,
      error: 'No answer',
    }),
  );
  await alerts.runOnce();
  await alerts.runOnce();
  expect(bodies).toMatchObject([
    { subject: 'job pull-events', state: 'failing', text: expect.stringContaining('No answer') },
  ]);
});
