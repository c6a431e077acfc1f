// roadbook doctor checks each ERP feed and reports the result.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CheckResult } from '../../../src/status/doctor/check-result.ts';
import { makeWorkplace } from '../../support/process/workplace.ts';

const UNREACHABLE = 'postgres://erp:hidden-word@127.0.0.1:1/erp';

async function doctor(config: string) {
  const place = makeWorkplace(config);
  onTestFinished(() => place.remove());
  const { code, stdout } = await place.runHere(['doctor', '--json'], { ERP_DATABASE_URL: UNREACHABLE });
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
  return { place, code, stdout, found: checks.filter(({ check }) => check === 'erp') };
}

describe('doctor', () => {
  it('is ok without a feed', async () => {
    const { code, found } = await doctor('');
    expect(code).toBe(0);
    expect(found).toEqual([{ check: 'erp', state: 'ok', found: 'no feed configured', hint: null }]);
  });

  it('creates a missing drop folder and puts nothing into it', async () => {
    const { place, code, found } = await doctor('erp: { route_plans: { source: files, folder: in/plans } }\n');
    expect(code).toBe(0);
    expect(found).toMatchObject([{ state: 'ok', found: expect.stringMatching(/^route_plans: .* 0 files/) }]);
    expect(existsSync(join(place.dir, 'in/plans'))).toBe(true);
  });

  it('warns of files that are not read, and names them with the reason', async () => {
    const name = `${'x'.repeat(200)}.csv`;
    const folder = mkdtempSync(join(tmpdir(), 'roadbook-drop-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const each of ['viagens.xls', name, 'a.csv']) writeFileSync(join(folder, each), 'x');
    const { found } = await doctor(`erp: { route_plans: { source: files, folder: ${folder} } }\n`);
    expect(found).toMatchObject([{ state: 'warn', hint: expect.any(String) }]);
    expect(found[0]?.found).toContain('contains 1 file');
    expect(found[0]?.found).toContain('viagens.xls has a format that is not read; save it as .xlsx or .csv');
    expect(found[0]?.found).toContain(`${name} has a name of more than 200 bytes; shorten it`);
  });

  it('reports an unreachable database with a hint, and checks the other feeds', async () => {
    const { code, stdout, found } = await doctor(`erp:
  route_plans: { source: sql, client: pg, connection: "\${ERP_DATABASE_URL}", query: select 1 }
  agents: { source: files, folder: in/agents }
`);
    expect(code).toBe(75);
    expect(found).toMatchObject([
      {
        state: 'fail',
        code: 'erp_unreachable',
        found: expect.stringMatching(/^route_plans: .*cannot be reached .*ECONNREFUSED/),
        hint: expect.stringMatching(/host, port/),
      },
      { state: 'ok', found: expect.stringMatching(/^agents: /) },
    ]);
    expect(stdout).not.toContain('hidden-word');
  });

  it('reports a database client whose package is not installed', async () => {
    const { code, found } = await doctor(
      'erp: { route_plans: { source: sql, client: oracledb, connection: { connectString: x }, query: select 1 } }\n',
    );
    expect(code).toBe(1);
    expect(found).toMatchObject([{ state: 'fail', code: 'erp_driver_missing', hint: expect.any(String) }]);
  });

  it('reports an answer by HTTP whose records have none of the mapped columns, as the run and erp check do', async () => {
    const server = createServer((_request, response) => response.end('[{ "TRIP": 1 }, { "TRIP": 2 }]'));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const mapping =
      '{ plan.external_code: VIAGEM, plan.date_time_start: SAIDA, plan.date_time_end: FIM, point.name: LOJA }';
    const { place, code, found } = await doctor(
      `erp: { route_plans: { source: http, url: "${url}", mapping: ${mapping} } }\n`,
    );
    const reason = 'has none of the mapped columns (VIAGEM, SAIDA, FIM, LOJA); its names are TRIP';
    expect([code, found]).toMatchObject([
      1,
      [{ state: 'fail', code: 'erp_rows_unreadable', found: expect.stringContaining(reason) }],
    ]);
    const check = JSON.parse((await place.runHere(['erp', 'check', '--json'])).stdout);
    expect(check).toMatchObject({ items: 0, rejected: 2, issues: [{ reason }, { reason }] });
    const run = await place.runHere(['run', 'push-route-plans', '--json']);
    expect(JSON.parse(run.stdout)).toMatchObject({ status: 'partial', sent: 0, error: { code: 'feed_unreadable' } });
  });
});
