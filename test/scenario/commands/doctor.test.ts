// roadbook doctor as a user meets it: each part that can fail, made to fail.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { digestOf } from '../../../src/config/watch.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { CheckResult } from '../../../src/status/doctor/check-result.ts';
import { checkRuntime, checkStatusToken, checkZoneData } from '../../../src/status/doctor/machine-checks.ts';
import { storeConfigState } from '../../../src/warehouse/control/config-state.ts';
import { heartbeatOn } from '../../support/daemons/lease-manager.ts';
import { makeWorkplace } from '../../support/process/workplace.ts';
import { makePlaceWithSchema } from '../../support/warehouse/engines.ts';

async function doctor(config: string, args: string[] = [], prepare?: (dir: string) => void) {
  const place = makeWorkplace(config);
  onTestFinished(() => place.remove());
  prepare?.(place.dir);
  const { code, stdout } = await place.runHere(['doctor', '--json', ...args]);
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
  return { code, stdout, checks, of: (check: string) => checks.find((each) => each.check === check) };
}

/** A server that answers everything with one status; returns its port and the requests it received. */
async function serverWith(status: number): Promise<{ port: number; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, bodies };
}

describe('doctor', () => {
  it('checks every part and passes on an empty configuration', async () => {
    const { code, checks } = await doctor('status: { port: 0 }\n');
    expect(code).toBe(0);
    expect(checks.map(({ check, state }) => `${check} ${state}`)).toEqual([
      'config ok',
      'runtime ok',
      'time zones ok',
      'schedules ok',
      'call budget ok',
      'warehouse ok',
      'daemons ok',
      'server clock ok',
      'disk ok',
      'status page ok',
      'status token ok',
      'alerts ok',
      'transport ok',
      'login ok',
      'clock ok',
      'erp ok',
    ]);
  });

  it('reports a warehouse that cannot be created, and still checks the rest', async () => {
    const { code, checks, of } = await doctor('warehouse: { file: blocked/warehouse.db }\n', [], (dir) =>
      writeFileSync(join(dir, 'blocked'), ''),
    );
    expect(code).toBe(1);
    expect(of('config')).toMatchObject({ state: 'ok' });
    expect(of('warehouse')).toMatchObject({ state: 'fail', hint: expect.stringContaining('warehouse.file') });
    expect(of('erp')).toMatchObject({ state: 'ok' });
    expect(checks).toHaveLength(16);
  });

  it('distinguishes a port used by another program from one served by a daemon', async () => {
    const other = await serverWith(404);
    const taken = await doctor(`status: { port: ${other.port} }\n`);
    expect(taken.of('status page')).toMatchObject({ state: 'warn', hint: expect.stringContaining('port') });
    const live = await serverWith(200);
    const served = await doctor(`status: { port: ${live.port} }\n`);
    expect(served.of('status page')).toMatchObject({ state: 'ok', found: expect.stringContaining('served') });
  });

  it('warns of a token that can be guessed, without showing it', async () => {
    const { code, stdout, of } = await doctor('status: { port: 0, token: only-15-letters }\n');
    expect(code).toBe(0);
    expect(of('status token')).toMatchObject({ state: 'warn', hint: expect.stringContaining('longer') });
    expect(stdout).not.toContain('only-15-letters');
    expect(checkStatusToken('sixteen-letters!').state).toBe('ok');
  });

  it('sends a test message only when asked to', async () => {
    const { port, bodies } = await serverWith(200);
    const config = `alerts: { webhook: "http://127.0.0.1:${port}/hook" }\n`;
    expect((await doctor(config)).of('alerts')).toMatchObject({ state: 'ok', found: 'a webhook is set' });
    expect(bodies).toEqual([]);
    const { code, of } = await doctor(config, ['--alert']);
    expect({ code, found: of('alerts')?.found }).toEqual({
      code: 0,
      found: 'the webhook accepted a test message',
    });
    expect(bodies).toHaveLength(1);
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      text: expect.stringContaining('test'),
      state: 'test',
    });
  });

  it('reports a webhook that rejects messages, without its address', async () => {
    const { port } = await serverWith(410);
    const { code, of, stdout } = await doctor(`alerts: { webhook: "http://127.0.0.1:${port}/hidden-path" }\n`, [
      '--alert',
    ]);
    expect(code).toBe(1);
    expect(of('alerts')).toMatchObject({
      state: 'fail',
      code: 'alert_rejected',
      found: expect.stringContaining('410'),
    });
    expect(stdout).not.toContain('hidden-path');
  });

  it('warns about schedules that the rate limit does not allow, and about one that is not due for years', async () => {
    const { code, of } = await doctor(
      'service: { requests_per_minute: 30 }\njobs: { pull-vehicles: { schedule: "0 0 29 2 *" } }\n',
    );
    expect(code).toBe(0);
    expect(of('call budget')).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('pull-route-plans'),
    });
    expect(of('schedules')).toMatchObject({ state: 'warn', found: expect.stringContaining('pull-vehicles') });
  });

  it('reports an edit that a daemon rejected, and estimates by the stored fleet, on PostgreSQL too', async () => {
    const warehouse = await makePlaceWithSchema('postgres');
    onTestFinished(() => warehouse.remove());
    const config = `status: { port: 0 }\nwarehouse: ${JSON.stringify(warehouse.settings)}\n`;
    const engine = await warehouse.open();
    onTestFinished(() => engine.close());
    const at = '2026-03-02T15:00:00.000Z';
    const heartbeat = heartbeatOn(engine, {
      clock: systemClock,
      log: createLog({ level: 'silent', redactor: createRedactor() }),
    });
    heartbeat.start();
    await heartbeat.runOnce();
    const rejected = { at, error: 'the edit needs a restart', digest: digestOf(config) };
    await storeConfigState(engine, { loadedAt: at, rejected, jobs: [] }, Date.parse(at));
    const loaded = { _first_seen_at: at, _changed_at: at, _run_id: 'r' };
    await engine.write((tx) => tx.sql('vehicle').insert([1, 2, 3].map((id) => ({ id, ...loaded }))));
    const place = makeWorkplace(config);
    onTestFinished(() => place.remove());
    const { stdout } = await place.runHere(['doctor', '--json']);
    await heartbeat.stop();
    expect(JSON.parse(stdout).checks[0]).toMatchObject({ check: 'config', found: expect.stringContaining('restart') });
    const checked = await place.runHere(['config', 'check']);
    expect(checked.stdout).toContain('Estimates assume 3 vehicles,');
  });

  it('does not blame the service for its clock if it could not be reached', async () => {
    const { of } = await doctor('service: { base_url: "http://127.0.0.1:9" }\nstatus: { port: 0 }\n');
    expect(of('login')).toMatchObject({ state: 'fail' });
    expect(of('clock')).toMatchObject({ state: 'warn', found: 'not compared: the service did not answer' });
  });

  it('warns about unencrypted connections', async () => {
    const { of } = await doctor('alerts: { webhook: "http://hooks.invalid/x" }\n');
    expect(of('alerts')).toMatchObject({ state: 'warn', found: expect.stringContaining('encryption') });
  });

  it('knows the runtimes and time zone data it was tested with', () => {
    expect(['v22.1.0', 'v24.0.0', 'v25.9.9', 'v26.0.0'].map((each) => checkRuntime(each).state)).toEqual([
      'warn',
      'ok',
      'ok',
      'warn',
    ]);
    const now = Date.parse('2026-03-02T00:00:00Z');
    expect([undefined, '2023c', '2024a', '2026b'].map((each) => checkZoneData(each, now).state)).toEqual([
      'warn',
      'warn',
      'ok',
      'ok',
    ]);
  });
});
