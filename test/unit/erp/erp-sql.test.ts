// The parts of the `sql` source that need no server: names of values, values of the drivers, codes of failures. SQL Server and
// Oracle are tested here alone.
import knex from 'knex';
import { describe, expect, it } from 'vitest';
import { readCell } from '../../../src/erp/rows/cell-values.ts';
import { openDatabase } from '../../../src/erp/sql/database.ts';
import { sqlFailure } from '../../../src/erp/sql/failure.ts';
import { mssql, mssqlCell } from '../../../src/erp/sql/mssql.ts';
import { sessionZone, timestampCell } from '../../../src/erp/sql/mysql.ts';
import { numberCell, wallClock } from '../../../src/erp/sql/oracle.ts';
import { bindable, countsRows, rowsIssue, unknownBindings } from '../../../src/erp/sql/statements.ts';
import { rejection } from '../config/config-declarations.ts';

describe('a statement of a feed', () => {
  it.each([
    ['update o set s = :state where n=:external_code', []],
    ["update o set at = '10:30', note = 'a :b' where n = :external_code -- :c", []],
    ['update o set s = :state::text, a = b[1:n] /* :d */ where "x:y" = :external_code', []],
    ['begin o.taken(:external_code); x := 1; y := \\:z; end;', []],
    [
      'update o set i = :remote_idd, t = :executed_at where n = :external_code',
      [
        ':remote_idd is no value of this statement (did you mean "remote_id"?)',
        ':executed_at is no value of this statement',
      ],
    ],
  ])('names only values that it gets: %s', (statement, issues) => {
    expect(unknownBindings('acknowledge', statement)).toEqual(issues);
  });

  it.each([
    ['acknowledge', 'update o set s = :state,\n  n = :external_code'],
    ['acknowledge', '# all\n/* of them */ update o set n = :external_code'],
    ['return', '-- all\nDELETE from o /* :plan_external_code */'],
    ['acknowledge', 'update o left join p on p.id = o.id and p.n = :external_code set o.s = :state'],
    ['return', 'update o LEFT OUTER  JOIN p on p.n = :point_external_code set o.s = :status'],
  ])('that updates or deletes must have a condition: %s %s', (setting, statement) => {
    expect(rowsIssue(setting as 'return', statement)).toMatch(/has no `where`/);
  });

  it.each([
    ['acknowledge', 'update o set s = :state where s is null', ':external_code'],
    ['acknowledge', 'call taken(:state, :remote_id)', ':external_code'],
    ['return', 'update o set s = :status where s is null', ':plan_external_code or :point_external_code'],
  ])('must name its item: %s %s', (setting, statement, names) => {
    expect(rowsIssue(setting as 'return', statement)).toContain(`does not use ${names},`);
  });

  it.each([
    ['acknowledge', '/* taken */ update o\nset s = :state -- the state\nwhere (n = :external_code)'],
    ['acknowledge', 'call taken(:external_code)'],
    ['acknowledge', "update o set s = 'D\\'Avila' where n = :external_code"],
    ['acknowledge', "update o set s = :state # don't\nwhere n = :external_code"],
    ['acknowledge', 'with v as (select top (1) * from o where n = :external_code) update v set s = :state'],
    ['acknowledge', 'update (select s from o where n = :external_code) set s = :state'],
    ['acknowledge', 'update o straight_join p on p.id = o.id and p.n = :external_code set o.s = :state'],
    ['acknowledge', 'begin o.taken(:external_code); end;'],
    ['acknowledge', 'exec update_order @code = :external_code'],
    ['acknowledge', 'insert into acknowledged values (:external_code, :state) on duplicate key update s = :state'],
    [
      'acknowledge',
      'with p as (select :external_code as n) insert into o select n from p on conflict do update set s = 1',
    ],
    [
      'acknowledge',
      'merge into o using (select :external_code as n) p on (o.n = p.n) when matched then update set s = 1',
    ],
    ['acknowledge', 'with p as (select 1 as a) update o set a = p.a from p where n = :external_code'],
    ['acknowledge', 'update o join p on p.id = o.id and p.n = :external_code set o.s = :state'],
    ['acknowledge', 'update o left join p on p.id = o.id set o.s = :state where o.n = :external_code'],
    ['acknowledge', 'update o join p on p.n = :external_code left join q on q.id = p.id set o.s = :state'],
    ['return', 'delete from open_stops where n = :point_external_code'],
    ['return', 'update o set s = :status where n = :plan_external_code'],
  ])('may reach its item in any form: %s %s', (setting, statement) => {
    expect(rowsIssue(setting as 'return', statement)).toBeUndefined();
  });

  it.each([
    ['  UPDATE o set a = 1', true],
    ['merge into o using d on 1 = 1', true],
    ['-- note\nupdate o set a = 1', true],
    ['/* call */ /**/ delete from o', true],
    ['with x as (select 1 as a) update o set a = x.a from x', true],
    ['with x as (select 1 as a) select taken(:external_code) from x', false],
    ["with x as (select 'update' as a) call taken(:external_code)", false],
    ['call taken(:external_code)', false],
    ['begin update o set a = 1; end;', false],
    ['exec taken @code = :external_code', false],
  ])('has a number of changed rows or not: %s', (statement, counts) => {
    expect(countsRows(statement)).toBe(counts);
  });

  it.each([
    ['mssql', 'update o set s = @p0 where n = @p1 and m = @p0'],
    ['oracledb', 'update o set s = :1 where n = :2 and m = :3'],
    ['mysql2', 'update o set s = ? where n = ? and m = ?'],
    ['pg', 'update o set s = $1 where n = $2 and m = $3'],
  ])('gets its values in the form of %s', (client, expected) => {
    const bindings = { state: 'confirmed', external_code: 'P1' };
    const statement = bindable('update o set s = :state where n = :external_code and m = :state', bindings);
    const { sql, bindings: values } = knex({ client }).raw(statement, bindings).toSQL().toNative();
    expect([sql, values]).toEqual([expected.replace('m = @p0', 'm = @p2'), ['confirmed', 'P1', 'confirmed']]);
  });
});

it.each([
  'update o -- :state?\nset s = :state where n = :external_code',
  '/* which :state? a::state */ update o set s = :state where n = :external_code /*',
  "update o set s = :state, t = '-- ' where n = :external_code",
])('a comment of a statement gets no value: %s', (statement) => {
  const bindings = { state: 'confirmed', external_code: 'P1' };
  const { sql, bindings: values } = knex({ client: 'pg' })
    .raw(bindable(statement, bindings), bindings)
    .toSQL()
    .toNative();
  expect(values).toEqual(['confirmed', 'P1']);
  expect(sql).toBe(statement.replace('s = :state', 's = $1').replace('n = :external_code', 'n = $2'));
});

it('a wrong path of a mapping and a wrong value of a statement are found by the check of the configuration', () => {
  const text = `erp:
  route_plans:
    source: sql
    client: pg
    connection: postgres://erp
    query: select 1
    acknowledge: update o set i = :remote_idd where n = :external_code
    return: |
      update o
      set s = :status
    mapping:
      point.adress: rua
`;
  expect(rejection(text).faults).toMatchObject([
    { line: 7, message: expect.stringMatching(/:remote_idd is no value/), hint: expect.stringMatching(/:remote_id,/) },
    {
      line: 8,
      column: 13,
      message: expect.stringMatching(/has no `where`/),
      hint: expect.stringMatching(/:point_external_code/),
    },
    { line: 12, message: expect.stringMatching(/point\.adress.*did you mean "point\.address"/) },
  ]);
});

describe('a value of a driver', () => {
  const date = new Date('2026-05-18T06:00:00.000Z');

  it.each([
    ['DateTime2', '2026-05-18T06:00:00.000'],
    ['DateTimeN', '2026-05-18T06:00:00.000'],
    ['Date', '2026-05-18'],
    ['Time', '06:00:00.000'],
    ['DateTimeOffset', date],
  ])('of SQL Server, a %s, keeps its clock or its instant', (type, cell) => {
    expect(mssqlCell(date, type)).toEqual(cell);
    expect(mssqlCell('9007199254740993', 'BigInt')).toBe('9007199254740993');
  });

  it('that was rounded is no code, but may be a quantity', () => {
    expect(readCell('text', 2 ** 53)).toEqual({ issue: expect.stringMatching(/select it as text/) });
    expect([readCell('text', 2 ** 53 - 1), readCell('number', 2 ** 60)]).toEqual([
      { value: '9007199254740991' },
      { value: 2 ** 60 },
    ]);
  });

  it('of Oracle, a NUMBER, is not written in the form of the feed', () => {
    const read = ['2.000', '2,5', '9007199254740993'].map((text) =>
      readCell('number', numberCell(text), { decimal: 'comma' }),
    );
    expect(read).toEqual([{ value: 2 }, { value: 2.5 }, { value: 9007199254740992 }]);
    expect([readCell('text', numberCell('9007199254740993')), numberCell(null)]).toEqual([
      { value: '9007199254740993' },
      null,
    ]);
  });

  it('of Oracle, a DATE, is what its fields in the zone of the process say', () => {
    expect(wallClock(new Date(2026, 4, 18, 6, 5, 4))).toBe('2026-05-18T06:05:04');
    expect(wallClock(null)).toBeNull();
  });

  const INSTANTS = ['2026-01-15', '2026-07-15'].map((day) => Date.parse(day) / 1_000);
  it.each([
    [{ name: '+05:00', system: 'UTC', offsets: '300 300' }, 'America/Sao_Paulo', '+05:00'],
    [{ name: 'SYSTEM', system: 'UTC', offsets: '0 0' }, 'America/Sao_Paulo', 'UTC'],
    [{ name: 'Europe/Berlin', system: 'UTC', offsets: '60 120' }, 'America/Sao_Paulo', 'Europe/Berlin'],
    [{ name: 'SYSTEM', system: '-03', offsets: '-180 -180' }, 'America/Sao_Paulo', 'America/Sao_Paulo'],
    [{ name: 'SYSTEM', system: 'EST', offsets: '-300 -240' }, 'America/New_York', 'America/New_York'],
  ])('of MySQL, a TIMESTAMP, is read in the zone of the session: %o, %s', (session, configured, zone) => {
    expect(sessionZone(session, configured, INSTANTS)).toEqual({ zone });
  });

  it.each([
    [{ name: 'SYSTEM', system: '-05', offsets: '-300 -300' }, 'America/New_York', '2026-07-15T00:00:00Z by 60 minutes'],
    [{ name: 'SYSTEM', system: 'CET', offsets: '60 120' }, 'America/Sao_Paulo', '2026-01-15T00:00:00Z by 240 minutes'],
    // Data from before 2019, when Brazil still had summer time.
    [
      { name: 'America/Sao_Paulo', system: 'UTC', offsets: '-120 -180' },
      'America/Sao_Paulo',
      '2026-01-15T00:00:00Z by 60 minutes',
    ],
    [
      { name: 'SYSTEM', system: '-03', offsets: '-120 -180' },
      'America/Sao_Paulo',
      '2026-01-15T00:00:00Z by 60 minutes',
    ],
  ])('of MySQL, a TIMESTAMP, is not read if the clocks differ: %o, %s', (session, configured, difference) => {
    const read = readCell('moment', timestampCell('2026-11-18 08:00:00', sessionZone(session, configured, INSTANTS)));
    const clocks = `the clocks of the database (${session.name === 'SYSTEM' ? session.system : session.name}) and of ${configured} differ, as at ${difference}`;
    expect(read).toEqual({ issue: expect.stringContaining(clocks) });
  });

  it.each([
    ['0000-00-00 00:00:00', 'UTC', /is no time/],
    ['2026-11-01 01:30:00', 'America/New_York', /clocks of the database repeat/],
  ])('of MySQL, the TIMESTAMP %s in the zone %s, cannot be read', (text, zone, issue) => {
    expect(readCell('moment', timestampCell(text, { zone }))).toEqual({ issue: expect.stringMatching(issue) });
  });
});

it.each([
  [{ code: 'EREQUEST', number: 1205 }, 'erp_unavailable', 'EREQUEST 1205'],
  [{ code: 'EREQUEST', number: 208 }, 'erp_statement_rejected', 'no such table'],
  [{ code: 'ELOGIN' }, 'erp_login_rejected', 'ELOGIN'],
  [{ message: 'ORA-00942: table or view does not exist' }, 'erp_statement_rejected', 'ORA-00942'],
  [{ code: 'CONNECT_TIMEOUT' }, 'erp_unreachable', 'CONNECT_TIMEOUT'],
  [new Error('Connection terminated unexpectedly'), 'erp_unreachable', 'CONNECTION_LOST'],
])('a failure has a code and words: %o', (thrown, code, words) => {
  expect(sqlFailure(thrown, 'query')).toMatchObject({ code, message: expect.stringContaining(words) });
});

it.each([
  { code: 'ER_NO_SUCH_TABLE', message: "Table 'erp.roadbook_outcome' doesn't exist" },
  { code: '42P01', message: 'relation "roadbook_outcome" does not exist' },
  { code: 'SQLITE_ERROR', message: 'SQLITE_ERROR: no such table: roadbook_outcome' },
  { code: 'EREQUEST', number: 208, message: "Invalid object name 'dbo.roadbook_outcome'." },
])('a missing table is named, and its file if it is one of the outcomes: %o', (thrown) => {
  const message = expect.stringMatching(/has no table (?:\w+\.)?roadbook_outcome \(query, /);
  expect(sqlFailure(thrown, 'query')).toMatchObject({ message, hint: expect.stringMatching(/roadbook-tables\.sql/) });
});

it('a missing driver is reported with the command that installs it', () => {
  const failure = sqlFailure(new Error('Knex: run\n$ npm install tedious --save'), 'client', 'npm install tedious');
  expect(failure).toMatchObject({
    code: 'erp_driver_missing',
    hint: expect.stringMatching(/also after each upgrade.*: npm install tedious$/),
  });
});

const FORMS: Record<string, string> = { mysql2: 'mysql', pg: 'postgres', mssql: 'mssql', oracledb: 'oracledb' };

it.each([
  ['mysql2', 'mysql://u:s3nh@/forte@127.0.0.1:33306/erp'],
  ['mysql2', 'mysql://u:12/s3nh@127.0.0.1:33306/erp'],
  ['mysql2', 'mysql://u:s3nh%@127.0.0.1:33306/erp'],
  ['mysql2', 'u:s3nh@127.0.0.1/erp'],
  ['pg', 'postgres://u:s3nh#forte@127.0.0.1/erp'],
  ['mssql', 'Server=127.0.0.1;Database=erp;User Id=u;Password=s3nh'],
  ['mssql', 'jdbc:sqlserver://127.0.0.1:1433;databaseName=erp;user=u;password=s3nh'],
  ['oracledb', 'jdbc:oracle:thin:@//127.0.0.1:1521/ERP'],
  ['oracledb', '127.0.0.1:1521/ERP'],
  ['oracledb', 'erp-db.example.com:1521/ERP'],
])('an address that cannot be read is reported with the form that it needs: %s %s', (client, connection) => {
  const failure = { code: 'erp_address_unreadable', message: expect.not.stringContaining('s3nh') };
  const hint = expect.stringMatching(
    new RegExp(`^Its form is ${FORMS[client]}://user:password@host:.*@ as %40, / as %2F`),
  );
  expect(() => openDatabase({ client, connection }, 'UTC')).toThrow(expect.objectContaining({ ...failure, hint }));
});

it.each([
  ['mysql2', 'mysql://u:s3nh%40%2Fforte@127.0.0.1:33306/erp'],
  ['mysql2', 'mysql://u:s3nh@forte@127.0.0.1:33306/erp'],
  ['pg', 'postgres://127.0.0.1/erp?user=u&password=a@b'],
  ['sqlite3', 'data/erp@home.db'],
])('an address that can be read is taken: %s %s', async (client, connection) => {
  await openDatabase({ client, connection }, 'UTC').close();
});

it('the port in an address of SQL Server is a number for its driver', () => {
  const limits = { connectMs: 1, statementMs: 1, lockMs: 1 };
  expect(mssql.settings(limits, { port: '1433' })).toMatchObject({ port: 1433 });
  expect(mssql.settings(limits, {})).not.toHaveProperty('port');
});
