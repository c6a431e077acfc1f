// roadbook support-bundle: what a ticket needs, and nothing that names a person or opens a door.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { afterEach, expect, it } from 'vitest';
import { zeroCounts } from '../../../src/core/glossary.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { makeWorkplace, type Workplace } from '../../support/process/workplace.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';

let place: Workplace;
let sandbox: Sandbox | undefined;
afterEach(async () => {
  place.remove();
  await sandbox?.close();
  sandbox = undefined;
});

const CANARIES = ['canary', '52998224725', '529.982.247-25', '12345678000195', 'ABC1D23', 'xyz-4567', 'Lima'];

const unpacked = (): Record<string, string> => {
  const files = unzipSync(readFileSync(join(place.dir, 'bundle.zip')));
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, strFromU8(bytes)]));
};

it('has the facts of a ticket, and no secret and nothing that names a person', async () => {
  sandbox = await startSandbox({ vehicles: 2, credentials: { username: '52998224725', password: 'canary-password' } });
  place = makeWorkplace(`service:
  base_url: ${sandbox.url}
  username: "52998224725"
  parent_username: "12345678000195"
  password: canary-password
erp:
  route_plans: { source: http, url: "http://127.0.0.1:1/plans?key=1", headers: { authorization: "Bearer canary-erp" } }
privacy: { secret: canary-privacy }
status: { port: 0, token: canary-status }
alerts: { webhook: "http://127.0.0.1:1/canary-webhook" }
jobs: { push-route-plans: { enabled: false } }
`);
  await place.runHere(['status']);
  const engine = await sqlite.open({ file: join(place.dir, 'data', 'warehouse.db') });
  const at = new Date().toISOString();
  await engine.write(async ({ sql }) => {
    const run = {
      run_id: 'r1',
      job: 'push-agents',
      cause: 'manual',
      status: 'failed',
      started_at: at,
      finished_at: at,
    };
    const error = 'rejected: 529.982.247-25, ABC1D23 and xyz-4567 of ana@canary.example with canary-password';
    // A figure that could be a tax number is removed too, and the file stays JSON.
    const counts = { ...zeroCounts(), records: 52_998_224_725 };
    await sql('sync_run').insert({ ...run, host: 'h', pid: 1, ...counts, error_code: 'no', error });
    const entry = entryIn('rejected', {
      message: 'Ana Lima',
      reasons: '["Ana Lima"]',
      payload: '{"name": "Ana Lima"}',
    });
    await sql('push_outbox').insert(entry);
    const record = { id: 'ab'.repeat(16), job: 'pull-drivers', table_name: 'driver', record_key: 'Ana Lima' };
    const seen = { first_seen_at: at, last_seen_at: at, times: 1, run_id: 'r1' };
    await sql('sync_quarantine').insert({ ...record, ...seen, reason: 'Ana Lima', payload: '{"name": "Ana Lima"}' });
    await sql('sync_audit').insert({ id: '1', at, action: 'retry', subject: 'Ana Lima', by: 'h', outcome: 'Ana Lima' });
  });
  await engine.close();
  expect((await place.runHere(['support-bundle', '--out', 'bundle.zip'])).code).toBe(0);
  const files = unpacked();
  expect(JSON.parse(files['versions.json']!)).toMatchObject({ node: process.version, warehouse: 'sqlite' });
  expect(JSON.parse(files['config.json']!).config).toMatchObject({
    service: { baseUrl: sandbox.url, timeoutMs: 60_000 },
  });
  expect(JSON.parse(files['runs.json']!)).toMatchObject([{ run_id: 'r1', error: expect.stringContaining('[plate]') }]);
  expect(JSON.parse(files['status.json']!).reasons.map(({ code }: { code: string }) => code)).toContain('quarantine');
  expect(JSON.parse(files['doctor.json']!).length).toBeGreaterThan(5);
  expect(files['metrics.txt']).toContain('roadbook_push_rejected 1');
  for (const [name, text] of Object.entries(files))
    for (const canary of CANARIES) expect(`${name}: ${text}`).not.toContain(canary);
  expect((await place.runHere(['support-bundle', '--out', 'bundle.zip'])).code).toBe(2);
});

it('is made of a broken installation too', async () => {
  place = makeWorkplace(
    'service: { base_url: "http://127.0.0.1:1" }\nwarehouse: { file: config }\njobs: { pull-event: {} }\n',
  );
  expect((await place.runHere(['support-bundle', '--out', 'bundle.zip'])).code).toBe(0);
  const files = unpacked();
  expect(JSON.parse(files['config.json']!).error).toContain('pull-event');
  expect(JSON.parse(files['status.json']!).error).toEqual(expect.any(String));
});
