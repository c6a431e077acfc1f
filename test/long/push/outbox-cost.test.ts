// An idle run and the health cost the same however many entries are confirmed. For each of their statements, SQLite's query
// plan says how rows are found, and the entries that this plan visits are counted.
import type { Knex } from 'knex';
import { expect, it } from 'vitest';
import { pushIssues } from '../../../src/sync/push/push-issues.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { rowsOf } from '../../support/warehouse/engines.ts';

interface Statement {
  sql: string;
  bindings: Knex.RawBinding[];
}

/** The same engine, which adds every statement that it runs to `statements`. */
function recorded(engine: Engine, statements: Statement[]): Engine {
  const heard = new WeakSet<object>();
  const listening = (sql: Knex): Knex => {
    if (!heard.has(sql)) sql.on('query', (statement: Statement) => void statements.push(statement));
    heard.add(sql);
    return sql;
  };
  return {
    ...engine,
    read: (work) => engine.read((sql) => work(listening(sql))),
    write: (work) => engine.write((tx) => work({ ...tx, sql: listening(tx.sql) })),
  };
}

/** 200,000 items of ten months, all confirmed, seen and acknowledged: half of them plans that are over, half agents. */
const CONFIRMED = `insert into push_outbox (kind, external_code, code_use, state, content_hash, sent_hash, remote_id, remote_key,
    period_start, period_end, attempts, unclear_sends, created_at, updated_at, sent_at, confirmed_at, seen_at, told_at, revision)
  with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 200000),
    days(n, day) as (select n, strftime('%Y-%m-%d', '2025-01-31', '-' || (n % 300) || ' days') from numbers)
  select case n % 2 when 0 then 'route_plans' else 'agents' end, 'P' || n, 1, 'confirmed', 'h', 'h', n, 'P' || n,
    case n % 2 when 0 then day || 'T08:00:00.000Z' end, case n % 2 when 0 then day || 'T18:00:00.000Z' end,
    1, 0, at, at, at, at, at, at, 3 from (select n, day, day || 'T06:00:00.000Z' as at from days)`;

/** The most entries that a part of the statement visits, by SQLite's own plan. */
async function passedBy(sql: Knex, { sql: text, bindings }: Statement): Promise<number> {
  const plan: { detail: string }[] = await sql.raw(`explain query plan ${text}`, bindings);
  const steps = plan.flatMap(({ detail }) => /^(?:SEARCH|SCAN) push_outbox\b.*/.exec(detail) ?? []);
  const parts = sql.raw(text, bindings).toQuery().split('union all');
  expect(steps).toHaveLength(parts.length);
  let most = 0;
  for (const [i, step] of steps.entries()) {
    const [, index = '', columns = ''] = / INDEX (\w+)(?: \((.*)\))?/.exec(step) ?? [];
    const [made] = await rowsOf<{ sql: string }>(sql, `select sql from sqlite_schema where name = '${index}'`);
    const isSearched = new Set(columns.match(/\w+/g));
    const conditions = [...(parts[i] ?? '').matchAll(/`?(\w+)`? (?:[<>]=?|=|in) (?:'[^']*'|\([^()]*\))/g)]
      .flatMap(([condition, column = '']) => (isSearched.has(column) ? condition : []))
      .concat(/ where (.*)/is.exec(made?.sql ?? '')?.[1] ?? '1 = 1');
    const counted = `select count(*) as n from push_outbox where ${conditions.join(' and ')}`;
    const [row] = await rowsOf<{ n: number }>(sql, counted);
    most = Math.max(most, row?.n ?? 0);
  }
  return most;
}

async function costlyStatements(place: PushPlace, work: () => Promise<unknown>): Promise<string[]> {
  const statements: Statement[] = [];
  const dependencies = { ...place.dependencies };
  Object.assign(place.dependencies, { engine: recorded(place.engine, statements) });
  await work();
  Object.assign(place.dependencies, dependencies);
  const asked = statements.filter(({ sql }) => sql.includes('`push_outbox`'));
  expect(asked.length).toBeGreaterThan(0);
  return place.engine.read(async (sql) => {
    const costly = new Set<string>();
    for (const statement of asked) {
      const passed = await passedBy(sql, statement);
      if (passed > 2_000) costly.add(`passes ${passed} entries: ${statement.sql}`);
    }
    return [...costly];
  });
}

const idle = async (place: PushPlace, job: string, options: object) =>
  expect(await place.run(job, { ...options })).toMatchObject({ status: 'ok' });

it.each<[string, (place: PushPlace) => Promise<unknown>]>([
  ['an idle run of push-route-plans', (place) => idle(place, 'push-route-plans', { deadline: '18:00' })],
  ['an idle run of return-executions', (place) => idle(place, 'return-executions', {})],
  ['the health', (place) => pushIssues(place.dependencies.engine, place.clock.now())],
])('%s visits few of 200,000 confirmed entries', async (_, work) => {
  const place = await makePushPlace();
  await place.engine.write(({ sql }) => sql.raw(CONFIRMED));
  const look = () => costlyStatements(place, () => work(place));
  expect.soft(await look(), 'on a new database').toEqual([]);
  await place.engine.write(({ sql }) => sql.raw('analyze'));
  expect.soft(await look(), 'after maintenance').toEqual([]);
});
