// A MariaDB whose machine is set to a zone: a TIMESTAMP is read as the instant that it is, or not at all.
import knex from 'knex';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { type FeedSettings, openSource } from '../../../src/erp/sources.ts';
import { hasMariadb, startMariadb } from '../../support/databases/mariadb.ts';
import { contextFor, drain, NOW } from '../../support/erp/erp-benches.ts';

const QUERY = `select number as "plan.external_code", starts as "plan.date_time_start",
  '2026-12-18 18:00' as "plan.date_time_end", 'A' as "point.name" from orders order by number`;

/** The start that is read of a plan that starts at the instant, with the zones of server and configuration. */
async function readStart(serverZone: string, instant: string, zone = serverZone): Promise<unknown> {
  const server = await startMariadb(serverZone);
  onTestFinished(() => server.stop());
  const connection = await server.newDatabase();
  const erp = knex({ client: 'mysql2', connection });
  await erp.raw('create table orders (number int, starts timestamp)');
  await erp.raw('insert into orders values (1, from_unixtime(?))', [Date.parse(instant) / 1_000]);
  await erp.destroy();
  const query = QUERY.replaceAll('"', '`');
  const settings = { source: 'sql', client: 'mysql2', connection, query, mapping: {} } as FeedSettings;
  const clock = createManualClock(NOW);
  const source = openSource(settings, contextFor(clock, { zone }));
  const batches = await drain(source, clock);
  await source.close();
  const starts = batches.flatMap(({ items }) => items.map(({ data }) => data.date_time_start));
  return [...starts, ...batches.flatMap(({ readErrors }) => readErrors.map(({ reason }) => reason))];
}

test.skipIf(!hasMariadb)('a TIMESTAMP of a server in the zone of the configuration', async () => {
  const read = await readStart('America/Sao_Paulo', '2026-11-18T11:00:00Z');
  expect(read).toEqual(['2026-11-18T08:00:00-03:00']);
});

test.skipIf(!hasMariadb)('a TIMESTAMP in the hour that the clocks of the server repeat', async () => {
  const read = await readStart('America/New_York', '2026-11-01T06:30:00Z');
  expect(read).toEqual([expect.stringContaining('clocks of the database repeat')]);
});

// In winter both are five hours behind UTC, in summer only one of them is.
test.skipIf(!hasMariadb)('a TIMESTAMP of a server whose zone is the configured one for half of the year', async () => {
  const read = await readStart('America/Bogota', '2026-07-15T11:00:00Z', 'America/New_York');
  expect(read).toEqual([
    expect.stringContaining('the clocks of the database (-05) and of America/New_York differ, as at '),
  ]);
});
