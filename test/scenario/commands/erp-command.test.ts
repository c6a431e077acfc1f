// roadbook erp check and template as an integrator meets them: no service, nothing sent, every error with its cell.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import knex from 'knex';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FEED_KINDS } from '../../../src/erp/feed-kinds.ts';
import { hasMariadb, sharedMariadb } from '../../support/databases/mariadb.ts';
import { makeWorkplace, openDatabase, type Workplace } from '../../support/process/workplace.ts';

let place: Workplace;

// No service listens there.
const CONFIG = `service: { base_url: "http://127.0.0.1:9" }
erp:
  route_plans:
    source: files
    folder: plans
    mapping:
      plan.external_code: VIAGEM
      plan.date_time_start: { columns: [DATA, SAIDA] }
      plan.date_time_end: { columns: [DATA, RETORNO] }
      point.name: CLIENTE
      point.latitude: LAT
      point.longitude: LNG
    options: { optimize: false }
`;

const HEADER = 'VIAGEM;DATA;SAIDA;RETORNO;CLIENTE;LAT;LNG;ENDERECO';
const GOOD = 'V1;18/11/2026;08:00;18:00;Loja 1;-23,55;-46,63;Rua Um';

beforeEach(() => {
  place = makeWorkplace(CONFIG);
});
afterEach(() => place.remove());

const write = (name: string, text: string) => writeFileSync(join(place.dir, name), text);
const check = async (...args: string[]) => {
  const { code, stdout } = await place.runHere(['erp', 'check', ...args, '--json']);
  return { code, ...JSON.parse(stdout) };
};

describe('erp check', () => {
  it('reads a file anywhere: header, columns, and each error with row, column and value', async () => {
    const lines = ['Viagens de novembro', HEADER, GOOD, GOOD.replace('V1', 'V3').replace('-23,55', 'x')];
    write('a.csv', [...lines, GOOD.replace('V1', 'V2').replace('-23,55', '-123,55')].join('\n'));
    expect(await check('a.csv')).toMatchObject({
      code: 5,
      kind: 'route_plans',
      items: 1,
      rejected: 2,
      tables: [{ name: 'a.csv', rows: 3, headerRow: 2, delimiter: ';' }],
      issues: [
        { row: 4, code: 'V3', column: 'LAT', value: 'x', reason: expect.stringContaining('is not a number') },
        { row: 5, code: 'V2', column: 'LAT', value: '-123.55', reason: 'route_points[0].latitude: outside -90..90' },
      ],
      mapping: { 'point.address': 'ENDERECO' },
    });
    const { code, stdout, stderr } = await place.runHere(['erp', 'check', 'a.csv']);
    expect(stdout).toContain('a.csv: 3 rows (header in row 2, delimiter ";")');
    expect(stdout).toMatch(/ENDERECO +not read +point\.address/);
    expect(stdout).toMatch(/DATA +plan\.date_time_start, plan\.date_time_end/);
    expect(stdout).toContain('route_plans: 1 can be sent, 2 cannot.');
    expect([code, stderr]).toEqual([5, 'Nothing was sent.\n']);
  });

  it('shows an item as it would be sent, in local time, with the options of the feed', async () => {
    write('a.csv', [HEADER, GOOD].join('\n'));
    const { code, stdout } = await place.runHere(['erp', 'check', 'a.csv', '--show', 'V1']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      data: { external_code: 'V1', date_time_start: '2026-11-18T08:00:00-03:00' },
      options: { optimize: false },
    });
    expect((await place.runHere(['erp', 'check', 'a.csv', '--show', 'V9'])).code).toBe(2);
    const item = { ...JSON.parse(stdout).data, external_code: 'V4', customer_id: 52_998_224_725 };
    write('b.json', JSON.stringify(item));
    writeFileSync(join(place.dir, 'config', 'roadbook.yaml'), 'timezone: America/Sao_Paulo\n');
    const shown = await place.runHere(['erp', 'check', 'b.json', '--show', 'V4']);
    expect(JSON.parse(shown.stdout).data).toMatchObject({ external_code: 'V4', customer_id: '[redacted]' });
    expect((await check('b.json', '--show', 'V4')).item.data).toMatchObject({ customer_id: '[redacted]' });
  });

  it('shows one item, and ends by whether it can be sent, also if it cannot be read', async () => {
    const [far, unread] = [
      ['V2', '-123,55'],
      ['V3', 'x'],
    ].map(([code = '', latitude = '']) => GOOD.replace('V1', code).replace('-23,55', latitude));
    write('a.csv', [HEADER, GOOD, far, unread].join('\n'));
    const [second, third] = [
      await place.runHere(['erp', 'check', 'a.csv', '--show', 'V2']),
      await place.runHere(['erp', 'check', 'a.csv', '--show', 'V3']),
    ];
    expect(await place.runHere(['erp', 'check', 'a.csv', '--show', 'V1'])).toMatchObject({ code: 0 });
    expect([second.code, JSON.parse(second.stdout)]).toMatchObject([1, { data: { external_code: 'V2' } }]);
    expect(second.stderr).toMatch(
      /V2 cannot be sent:(?:.|\n)* LAT +-123\.55 +route_points\[0\]\.latitude: outside -90\.\.90/,
    );
    expect(third).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/V3(?:.|\n)* LAT +x .*is not a number/),
    });
  });

  it('reads the files that wait in the folder of the feed, and leaves them there', async () => {
    mkdirSync(join(place.dir, 'plans'));
    write('plans/a.csv', [HEADER, GOOD].join('\n'));
    write('plans/b.json', '[{"TRIP": 1}]');
    expect(await check()).toMatchObject({
      code: 5,
      items: 1,
      issues: [{ origin: 'b.json record 1', reason: expect.stringContaining('has none of the mapped columns') }],
    });
    expect(await check()).toMatchObject({ items: 1, rejected: 1 });
  });

  it('tries the statements of an SQL feed, and leaves the ERP as it was', async () => {
    const erp = openDatabase(join(place.dir, 'erp.db'));
    try {
      await erp.raw('create table stop (trip text, state text)');
      await erp.raw("insert into stop (trip) values ('V1'), ('V1'), ('V2')");
      const cells = "'2026-11-18T08:00' as s, '2026-11-18T18:00' as e, 'A' as n, 'Rua Um' as a";
      const paths = { code: 'trip', date_time_start: 's', date_time_end: 'e' };
      const plan = Object.entries(paths).map(
        ([name, column]) => `plan.${name.replace(/^code/, 'external_code')}: ${column}`,
      );
      const tryStatements = (column: string) => {
        writeFileSync(
          join(place.dir, 'config', 'roadbook.yaml'),
          `erp: { route_plans: { source: sql, client: sqlite3, connection: { filename: erp.db },
          query: "select trip, ${cells} from stop group by trip", mapping: { ${plan.join(', ')}, point.name: n, point.address: a },
          acknowledge: "update stop set ${column} = :state where trip = :external_code",
          return: "update stop set state = :status where trip = :plan_external_code and rowid = 1 and :status in ('P', 'E', 'D')" } }\n`,
        );
        return place.runHere(['erp', 'check', '--try-statements']);
      };
      const { code, stdout } = await tryStatements('state');
      expect([code, stdout]).toEqual([0, expect.stringContaining('acknowledge: would change 2 rows; rolled back.')]);
      const failed = await tryStatements('nowhere');
      expect(failed.code).toBe(1);
      for (const words of [
        'route_plans: 2 can be sent, 0 cannot.',
        /acknowledge: fails: The ERP's database .* \(acknowledge, SQLITE_ERROR\)\. \w+/,
        'return: would change 1 row; rolled back.',
      ])
        expect(failed.stdout).toMatch(words);
      const shown = await place.runHere(['erp', 'check', '--try-statements', '--show', 'V1']);
      expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining('acknowledge: fails: ') });
      expect(await erp('stop').whereNotNull('state')).toEqual([]);
    } finally {
      await erp.destroy();
    }
  });

  it('lists the files of the folder that are not read, with what to do', async () => {
    mkdirSync(join(place.dir, 'plans'));
    write('plans/a.xls', 'x');
    const { rejected, issues } = await check();
    const reason = 'has a format that is not read; save it as .xlsx or .csv';
    expect([rejected, issues]).toEqual([1, [{ origin: 'a.xls', code: null, reason }]]);
  });

  it.each([
    [['none.csv'], 'There is no file'],
    [['a.xls'], 'a feed reads .json, .csv, .xlsx'],
    [['--kind', 'agents'], 'The configuration has no feed of agents'],
  ])('%j is explained', async (args, words) => {
    write('a.xls', '');
    const { code, stderr } = await place.runHere(['erp', 'check', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});

it.skipIf(!hasMariadb)('a run whose ERP ends the connection in a query exits as one that may be repeated', async () => {
  const connection = await (await sharedMariadb()).newDatabase();
  writeFileSync(
    join(place.dir, 'config', 'roadbook.yaml'),
    `erp: { route_plans: { source: sql, client: mysql2, connection: "${connection}", query: "select sleep(60) as state" } }\n`,
  );
  const erp = knex({ client: 'mysql2', connection });
  onTestFinished(() => erp.destroy());
  const ended = place.runHere(['run', 'push-route-plans', '--json']);
  const found = "select id from information_schema.processlist where info like 'select sleep%' and db = database()";
  const running = async (): Promise<{ id: number }[]> => (await erp.raw(found))[0];
  let statements = await running();
  while (statements.length === 0) statements = await running();
  await erp.raw(`kill ${statements[0]?.id}`);
  const { code, stdout } = await ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([75, { status: 'failed', error: { code: 'erp_unreachable' } }]);
});

describe('erp template', () => {
  it('never replaces a file', async () => {
    write('mine.csv', 'mine');
    const { code, stderr } = await place.runHere(['erp', 'template', '--out', 'mine.csv']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('mine.csv already exists')]);
    expect(readFileSync(join(place.dir, 'mine.csv'), 'utf8')).toBe('mine');
  });

  const cases = FEED_KINDS.flatMap((kind) =>
    ['csv', 'xlsx', 'json'].flatMap((format) => ['pt', 'en'].map((language) => [kind, format, language] as const)),
  );

  it.each(cases)('%s as %s in %s is accepted by erp check', async (kind, format, language) => {
    writeFileSync(join(place.dir, 'config', 'roadbook.yaml'), 'timezone: America/Sao_Paulo\n');
    const out = `sample.${format}`;
    const options = ['--kind', kind, '--format', format, '--language', language, '--out', out];
    expect((await place.runHere(['erp', 'template', ...options])).code).toBe(0);
    expect(await check(out, '--kind', kind)).toMatchObject({ code: 0, items: 1, issues: [] });
  });
});
