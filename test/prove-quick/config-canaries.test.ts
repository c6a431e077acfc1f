// Plants one of each kind of secret that a configuration may hold, and searches for them in all output of a daemon and
// the commands beside it, while the feeds, the webhook and a database cannot be reached, and the service echoes what it
// should not know.
import { readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { makeWorkplace } from '../support/process/workplace.ts';

/** One of each kind of secret that a configuration may hold; each is in the file or in the environment. */
const SECRETS = {
  password: 'canary-login-91c4',
  statusToken: 'canary-status-7b2e',
  privacyKey: 'canary-privacy-5d80',
  webhook: 'canary-webhook-3fa6',
  database: 'canary-database-e019',
  erpHeader: 'canary-header-88d1',
  erpDatabase: 'canary-erp-db-42b7',
} as const;

/** In a field that should hold none; the last is of another session, so only its shape reveals it. */
const ECHO = [
  SECRETS.password,
  SECRETS.statusToken,
  SECRETS.privacyKey,
  SECRETS.erpDatabase,
  'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnktand0In0.c2lnbmVk',
].join(' + ');
const HUSHED = Array(5).fill('[redacted]').join(' + ');

/** The output of the daemon itself is searched, not that of its jobs. */
const JOBS = readdirSync(resolve(import.meta.dirname, '../../jobs')).map((file) => basename(file, '.ts'));

const secretConfig = (url: string, warehouse: string): string => `service:
  base_url: ${url}
  username: demo
  password: \${ROADBOOK_PASSWORD}
  requests_per_minute: 60000
warehouse: ${warehouse}
erp:
  route_plans: { source: http, url: "http://127.0.0.1:1/plans", headers: { authorization: "Bearer ${SECRETS.erpHeader}" } }
  agents: { source: sql, client: pg, connection: "postgres://u:${SECRETS.erpDatabase}@127.0.0.1:1/erp", query: select 1 }
privacy: { secret: ${SECRETS.privacyKey} }
status: { port: 0, token: \${STATUS_TOKEN} }
alerts: { webhook: "http://127.0.0.1:1/services/${SECRETS.webhook}" }
jobs: { ${JOBS.map((job) => `${job}: { enabled: false }`).join(', ')} }
`;

const POSTGRES = `{ engine: postgres, url: "postgres://roadbook:${SECRETS.database}@127.0.0.1:1/warehouse" }`;

it('no secret of a configuration is in any output of a daemon, its page and figures, or of a command', async () => {
  const service = await startSandbox({ credentials: { password: SECRETS.password }, vehicles: 2 });
  const env = { ROADBOOK_PASSWORD: SECRETS.password, STATUS_TOKEN: SECRETS.statusToken };
  const own = makeWorkplace(secretConfig(service.url, '{ engine: sqlite }'));
  const away = makeWorkplace(secretConfig(service.url, POSTGRES));
  const outputs: string[] = [];
  try {
    await fetch(`${service.url}/_sandbox/records`, {
      method: 'POST',
      body: JSON.stringify({ call: 'vehicles', records: [{ plate: `echo ${ECHO}` }, { id: ECHO }] }),
    });
    const pulled = await own.run(['run', 'pull-vehicles', '--json', '--log-level', 'trace'], env);
    outputs.push(pulled.stdout, pulled.stderr);
    const daemon = own.start(['start', '--json', '--log-level', 'trace'], env);
    await daemon.printed(/"page":"http[^"]+"/);
    const [, page = ''] = /"page":"(http[^"]+?)\/?"/.exec(daemon.stdout()) ?? [];
    const headers = { authorization: `Bearer ${SECRETS.statusToken}` };
    for (const path of [
      '/',
      '/metrics',
      '/readyz',
      '/api/status',
      '/api/config',
      '/api/overview',
      '/api/runs',
      '/api/quarantine',
      '/api/none',
    ]) {
      outputs.push(await (await fetch(page + path, { headers })).text());
    }
    const commands = [
      ['run', 'push-route-plans', '--json'],
      ['doctor', '--alert', '--json'],
      ['config', 'check', '--json'],
      ['export', '--format', 'csv', '--out', 'out', '--table', 'vehicle'],
    ];
    const loud = ['--log-level', 'trace'];
    const ended = await Promise.all([
      ...commands.map((args) => own.run([...args, ...loud], env)),
      away.run(['doctor', '--json', ...loud], env),
    ]);
    for (const { stdout, stderr } of ended) outputs.push(stdout, stderr);
    daemon.kill('SIGTERM');
    const last = await daemon.ended;
    outputs.push(last.stdout, last.stderr);
  } finally {
    own.remove();
    away.remove();
    await service.close();
  }
  const all = outputs.join('\n');
  // The expected output was there: the page, the figures, the feeds, the webhook, the database, the echo.
  for (const word of [
    `echo ${HUSHED}`,
    '<!doctype html>',
    'roadbook_',
    'erp_unreachable',
    'alert_failed',
    'ECONNREFUSED',
  ])
    expect(all).toContain(word);
  for (const secret of Object.values(SECRETS)) expect(all).not.toContain(secret);
  for (const part of ['eyJ', 'c2lnbmVk']) expect(all).not.toContain(part);
});
