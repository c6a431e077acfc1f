// What the SQL and HTTP sources report when the ERP fails: clear words, a hint, and never a bound value, a header or
// a key. Transient failures are retried.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import knex from 'knex';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RoadbookError } from '../../../src/core/errors.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import type { Mapping } from '../../../src/erp/rows/mapping.ts';
import type { ErpSource } from '../../../src/erp/source.ts';
import { openSource } from '../../../src/erp/sources.ts';
import {
  contextFor,
  drain,
  NOW,
  type Served,
  serve,
  stopOutcome,
  temporaryFolder,
} from '../../support/erp/erp-benches.ts';

let clock: ManualClock;
let source: ErpSource | undefined;

beforeEach(() => {
  clock = createManualClock(NOW);
});
afterEach(async () => {
  await source?.close();
  source = undefined;
});

async function failure(work: Promise<unknown>): Promise<RoadbookError> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RoadbookError);
  const error = thrown as RoadbookError;
  expect(error.hint).toBeTruthy();
  expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('canary');
  return error;
}

const OUTCOME = {
  externalCode: 'canary-code',
  periodStart: '2026-05-18T11:00:00.000Z',
  state: 'confirmed',
  remoteId: 1,
  message: 'canary',
} as const;

describe('sql', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function open(
    query: string,
    more: { acknowledge?: string; return?: string; client?: string; mapping?: Mapping } = {},
  ) {
    source = openSource(
      {
        source: 'sql',
        client: 'sqlite3',
        connection: { filename: join(folder, 'erp.db') },
        query,
        mapping: {},
        ...more,
      },
      contextFor(clock),
    );
    return source;
  }

  test('a query that fails is reported by its code', async () => {
    const error = await failure(drain(open("select 'canary' from nowhere"), clock));
    expect(error).toMatchObject({ code: 'erp_statement_rejected' });
    expect(error.message).toBe("The ERP's database has no table nowhere (query, SQLITE_ERROR)");
  });

  test('a statement that fails does not block the others, and no bound value is shown', async () => {
    const database = knex({
      client: 'sqlite3',
      connection: { filename: join(folder, 'erp.db') },
      useNullAsDefault: true,
    });
    await database.raw("create table acknowledged (code text primary key check (code <> 'canary-code'))");
    const erp = open('select 1', { acknowledge: 'insert into acknowledged values (:external_code)' });
    const error = await failure(erp.acknowledge([OUTCOME, { ...OUTCOME, externalCode: 'P2' }]));
    expect(error.message).toBe("The ERP's database rejected a statement (acknowledge, SQLITE_CONSTRAINT)");
    expect(await database('acknowledged').pluck('code')).toEqual(['P2']);
    await database.destroy();
  });

  test('an integer beyond 2^53 keeps its digits, and a column that occurs twice is named', async () => {
    const columns = `'2026-05-18T08:00' as "plan.date_time_start", '2026-05-18T18:00' as "plan.date_time_end", 'A' as "point.name"`;
    for (const code of ['9007199254740993', '-9223372036854775808', '42']) {
      const [batch] = await drain(open(`select ${code} as "plan.external_code", ${columns}`), clock);
      expect(batch?.items.map(({ externalCode }) => externalCode)).toEqual([code]);
    }
    const [batch] = await drain(open(`select 1 as "plan.external_code", 2 as "plan.external_code", ${columns}`), clock);
    expect(batch?.readErrors.map(({ reason }) => reason)).toEqual([
      'the column "plan.external_code" occurs twice in the header; keep one or rename one',
    ]);
  });

  test('a text that may be a fraction or thousands is asked for, a number is not', async () => {
    const trip = `1 as "plan.external_code", '2026-05-18T08:00' as "plan.date_time_start",
      '2026-05-18T18:00' as "plan.date_time_end", 'A' as "point.name", 'I' as "item.external_code"`;
    const read = async (value: string, more = {}) =>
      (await drain(open(`select ${trip}, ${value} as "item.value"`, more), clock))[0];
    expect((await read("'1.234'"))?.readErrors).toMatchObject([{ reason: expect.stringContaining('"1.234" may be') }]);
    const item = (value: number) => [{ data: { route_points: [{ route_point_items: [{ value }] }] } }];
    expect((await read("'1.234'", { decimal: 'comma' }))?.items).toMatchObject(item(1234));
    expect((await read('1.234'))?.items).toMatchObject(item(1.234));
  });

  test('columns that do not match are named once', async () => {
    const [batch, ...more] = await drain(
      open(`select 1 as "plan.external_code", 2 as "Point.Name" union all select 3, 4`),
      clock,
    );
    expect(more).toEqual([]);
    expect(batch?.items).toEqual([]);
    expect(batch?.readErrors.map(({ reason }) => reason)).toContain(
      'unknown column "Point.Name" (did you mean "point.name"?); rename it, remove it or map it',
    );
    await failure(source?.check() ?? Promise.resolve());
  });

  test('a client whose driver is not installed is reported', async () => {
    const error = await failure((async () => open('select 1', { client: 'oracledb' }))());
    expect(error).toMatchObject({ code: 'erp_driver_missing' });
  });

  test("tables of the ERP's own names are mapped by settings alone, with its own statements", async () => {
    const database = knex({
      client: 'sqlite3',
      connection: { filename: join(folder, 'erp.db') },
      useNullAsDefault: true,
    });
    await database.raw(
      'create table entregas (viagem text, inicio text, fim text, cliente text, rua text, tipo text, situacao text, motivo text)',
    );
    await database('entregas').insert([
      {
        viagem: 'V1',
        inicio: '2026-05-18 08:00',
        fim: '2026-05-18 18:00',
        cliente: 'A',
        rua: 'Rua Um, 1',
        tipo: 'COL',
      },
      {
        viagem: 'V1',
        inicio: '2026-05-18 08:00',
        fim: '2026-05-18 18:00',
        cliente: 'B',
        rua: 'Rua Dois, 2',
        tipo: null,
      },
    ]);
    const erp = open('select * from entregas where situacao is null order by viagem', {
      acknowledge:
        "update entregas set situacao = :state, motivo = coalesce(:message, 'ok ' || :remote_id) where viagem = :external_code",
      return:
        'update entregas set situacao = :status where viagem = :plan_external_code and cliente = :point_external_code',
      mapping: {
        'plan.external_code': 'viagem',
        'plan.date_time_start': 'inicio',
        'plan.date_time_end': 'fim',
        'point.name': 'cliente',
        'point.external_code': 'cliente',
        'point.address': 'rua',
        'point.type': { column: 'tipo', default: 'Entrega', values: { COL: 'Coleta' } },
        'options.optimize': { value: false },
      },
    });
    const [batch] = await drain(erp, clock);
    expect(batch?.readErrors).toEqual([]);
    expect(batch?.items).toMatchObject([
      {
        externalCode: 'V1',
        options: { optimize: false },
        data: { route_points: [{ type: 'Coleta' }, { type: 'Entrega' }] },
      },
    ]);
    expect(await erp.check()).toContain('can be read');
    await erp.acknowledge([{ ...OUTCOME, externalCode: 'V1', message: null }]);
    expect(await database('entregas').distinct('situacao', 'motivo')).toEqual([
      { situacao: 'confirmed', motivo: 'ok 1' },
    ]);
    const unknownStop = erp.returnExecutions?.(['X', 'A'].map((point) => stopOutcome('V1', point, 'E')));
    await expect(unknownStop).rejects.toMatchObject({
      code: 'erp_nothing_changed',
      message: expect.stringContaining('a stop (return)'),
    });
    expect(await database('entregas').pluck('situacao')).toEqual(['E', 'confirmed']);
    await database.destroy();
  });

  test('a read can be stopped, and its connection is released', async () => {
    const erp = open(
      'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i as "plan.external_code", 1 as "plan.date_time_start", 1 as "plan.date_time_end", 1 as "point.name" from n',
    );
    for (let round = 0; round < 6; round++) {
      for await (const batch of erp.read()) {
        expect(batch.items).toHaveLength(500);
        break;
      }
    }
  });
});

describe('http', () => {
  let server: Served | undefined;
  let heard: string[];
  beforeEach(() => {
    heard = [];
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  async function open(answers: object[], records = ''): Promise<ErpSource> {
    server = await serve(async ({ method, url }) => {
      heard.push(`${method} ${url}`);
      return answers[Math.min(heard.length, answers.length) - 1] ?? {};
    });
    const { url } = server;
    source = openSource(
      {
        source: 'http',
        url: `${url}/orders?key=canary`,
        headers: { authorization: 'canary' },
        records,
        acknowledgeUrl: `${url}/ack`,
        mapping: {},
      },
      contextFor(clock),
    );
    return source;
  }

  test.each<[string, object, string]>([
    ['a rejected login', { status: 401 }, 'erp_login_rejected'],
    ['an unknown address', { status: 404 }, 'erp_answer_rejected'],
    ['an answer that is no JSON', { text: '<html>canary' }, 'erp_answer_unreadable'],
    [
      'an answer in an unknown encoding',
      { text: Buffer.from('[{"canary":"\xc7"}]', 'latin1') },
      'erp_answer_unreadable',
    ],
    [
      'an answer that is not in the encoding that it names',
      { text: Buffer.from('["São canary"]', 'latin1'), headers: { 'content-type': 'application/json; charset=utf-8' } },
      'erp_answer_unreadable',
    ],
    ['a list that is not there', { data: [] }, 'erp_answer_unreadable'],
    ['an empty answer', { text: 'null' }, 'erp_answer_unreadable'],
    ['an answer that is a text', { text: '"none"' }, 'erp_answer_unreadable'],
    ['a large answer that is nested without end', { text: '['.repeat(2 * 1024 * 1024) }, 'erp_answer_unreadable'],
    [
      'a redirect elsewhere',
      { status: 302, headers: { location: 'http://127.0.0.1:9/canary' } },
      'erp_answer_rejected',
    ],
  ])('%s is reported clearly', async (_name, answer, code) => {
    const error = await failure(drain(await open([answer], 'orders'), clock));
    expect(error.code).toBe(code);
  });

  test('a redirect of a read is followed on its own host', async () => {
    const erp = await open([{ status: 302, headers: { location: '/moved' } }, { text: '[]' }]);
    expect(await drain(erp, clock)).toMatchObject([{ items: [], readErrors: [], last: true }]);
    expect(heard).toEqual(['GET /orders?key=canary', 'GET /moved']);
  });

  // After the first, a client would send a read, which does not notify the ERP; after the second, the same write again.
  test.each([302, 307])(
    'a redirect by %i of a notification is never followed, not even on its own host',
    async (status) => {
      const erp = await open([{ status, headers: { location: '/canary' } }, { status: 200 }]);
      expect(await failure(erp.acknowledge([OUTCOME]))).toMatchObject({ code: 'erp_answer_rejected' });
      expect(heard).toEqual(['POST /ack']);
    },
  );

  test('a large answer is read like a small one, at its path and in its encoding', async () => {
    const filler = 'x'.repeat(2 * 1024 * 1024);
    const plan = '{"external_code":"Ç","route_points":[{"external_code":12345678901234567890}]}';
    const text = Buffer.from(`{"filler":"${filler}","orders":[${plan}]}`, 'latin1');
    const erp = await open([{ text, headers: { 'content-type': 'application/json; charset=latin1' } }], 'orders');
    expect(await drain(erp, clock)).toMatchObject([
      { items: [{ externalCode: 'Ç', data: { route_points: [{ external_code: '12345678901234567890' }] } }] },
    ]);
  });

  test('a transient failure is retried', async () => {
    const erp = await open([
      { status: 503 },
      { status: 429, headers: { 'retry-after': '5' } },
      { status: 200, text: '[]' },
    ]);
    const [batch] = await drain(erp, clock);
    expect(batch).toMatchObject({ items: [], readErrors: [], last: true });
    expect(clock.now()).toBeGreaterThanOrEqual(NOW + 5_000);
  });

  test.each([
    ['without a name', undefined, 'latin1', 'São José'],
    ['as its header names it', 'application/json; charset="ISO-8859-1"', 'latin1', 'Ç'],
    ['by another name of it', 'application/json; charset=cp1252', 'latin1', 'Ç'],
    ['with a byte order mark', 'application/json; charset=iso-8859-1', 'utf16le', 'São José'],
    ['with a name that is wrong', 'application/json; charset=iso-8859-1', 'utf8', 'São José'],
  ] as const)('an answer in another encoding is read, %s', async (_how, type, encoding, code) => {
    const text = Buffer.from(`${encoding === 'utf16le' ? '\ufeff' : ''}[{"external_code":"${code}"}]`, encoding);
    const erp = await open([{ text, headers: type === undefined ? {} : { 'content-type': type } }]);
    expect(await drain(erp, clock)).toMatchObject([{ items: [{ externalCode: code }] }]);
  });

  test('canonical records are taken unchanged', async () => {
    const plan = {
      external_code: 'P1',
      date_time_start: '2026-05-18T08:00Z',
      date_time_end: '2026-05-18T18:00Z',
      route_points: [],
    };
    const erp = await open([{ data: { list: [plan, { ...plan, external_code: null }, 7] } }], 'data.list');
    const [batch] = await drain(erp, clock);
    expect(batch?.items).toMatchObject([{ externalCode: 'P1', data: { date_time_start: '2026-05-18T08:00:00Z' } }]);
    expect(batch?.readErrors).toEqual([
      { origin: 'route_plans record 2', reason: 'external_code: is missing', place: { row: 2 } },
      { origin: 'route_plans record 3', reason: 'is not an object', place: { row: 3 } },
    ]);
  });
});
