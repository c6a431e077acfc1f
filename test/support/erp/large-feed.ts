// A large feed, ten rows a plan, and a process that does nothing but read it: run with the settings of its source as JSON,
// it prints how much it read, how long that took and its peak memory.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import knex from 'knex';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { type FeedSettings, openSource } from '../../../src/erp/sources.ts';
import { peakMb } from '../measure/peak-memory.ts';

export interface Erp {
  client: string;
  connection: string | { filename: string };
}

const STOPS = 10;
const QUERY = `select p.code as "plan.external_code", p.starts as "plan.date_time_start",
  p.ends as "plan.date_time_end", s.name as "point.name", s.address as "point.address", s.code as "point.external_code"
  from plan p join stop s on s.plan = p.id order by p.id, s.position`;

export async function fillErp(erp: Erp, rows: number): Promise<void> {
  const database = knex({ ...erp, useNullAsDefault: true });
  const upTo = (last: number) => `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${last})`;
  for (const statement of [
    'create table plan (id integer primary key, code text, starts text, ends text)',
    'create table stop (plan integer, position integer, name text, address text, code text)',
    `insert into plan ${upTo(rows / STOPS)} select i, 'V-' || i, '2026-05-18T08:00', '2026-05-18T18:00' from n`,
    `insert into stop ${upTo(rows)} select (i - 1) / ${STOPS} + 1, (i - 1) % ${STOPS}, 'Customer ' || i,
       'Rua ' || i || ', 1', 'S-' || i from n`,
  ])
    await database.raw(statement);
  await database.destroy();
}

export const feedOf = (erp: Erp): FeedSettings => ({ source: 'sql', ...erp, query: QUERY, mapping: {} });

/** Reads the feed in a process of its own; rejects where that ends otherwise than well. */
export async function readApart(feed: FeedSettings, flags: readonly string[]): Promise<string> {
  const args = [...flags, import.meta.filename, JSON.stringify(feed)];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

async function read(feed: FeedSettings): Promise<void> {
  const log = createLog({ level: 'silent', redactor: createRedactor() });
  const source = openSource(feed, {
    kind: 'route_plans',
    zone: 'America/Sao_Paulo',
    reuseCodes: false,
    clock: systemClock,
    log,
    random: Math.random,
  });
  const startedAt = performance.now();
  let plans = 0;
  let rows = 0;
  for await (const { items } of source.read()) {
    plans += items.length;
    for (const { data } of items) rows += (data.route_points as unknown[]).length;
  }
  await source.close();
  const seconds = (performance.now() - startedAt) / 1_000;
  process.stdout.write(`${plans} plans of ${rows} rows in ${seconds.toFixed(1)} s, peak ${peakMb().toFixed(0)} MB\n`);
}

if (process.argv[1] === import.meta.filename) await read(JSON.parse(process.argv[2] ?? '{}') as FeedSettings);
