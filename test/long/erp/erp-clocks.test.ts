// What the clock of the ERP says is what the service gets: whatever the zone of the process, of the database server and of
// the configuration, on both sides of a change of the clocks.
import knex from 'knex';
import { afterAll, expect, test } from 'vitest';
import type { FeedSettings } from '../../../src/erp/sources.ts';
import { hasMariadb, sharedMariadb } from '../../support/databases/mariadb.ts';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { type ReadTimes, readTimesIn, type ZonedFeed } from '../../support/erp/clock-reader.ts';
import { makePushPlace } from '../../support/push/push-place.ts';

const PROCESS_ZONES = ['UTC', 'America/Sao_Paulo', 'Europe/Berlin', 'Pacific/Auckland', 'America/St_Johns'];

/** Each zone with the days on which its clocks change; one zone has none. */
const CHANGES: Record<string, readonly string[]> = {
  'Europe/Berlin': ['2026-03-29', '2026-10-25'],
  'America/New_York': ['2026-03-08', '2026-11-01'],
  'America/Sao_Paulo': ['2026-03-29'],
};

const HALF_HOUR_MS = 1_800_000;

/** Every half hour of the day before, the day and the day after, as the clock on the wall in the zone shows it. */
function wallClocks(zone: string, day: string): { epoch: number; wall: string }[] {
  const noon = Date.parse(`${day}T12:00Z`);
  return Array.from({ length: 144 }, (_, i) => noon + (i - 72) * HALF_HOUR_MS).map((ms) => ({
    epoch: ms / 1_000,
    wall: wallClock(ms, zone),
  }));
}

const wallClock = (ms: number, zone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(ms);

const SAMPLES = Object.entries(CHANGES).flatMap(([zone, days]) =>
  days.flatMap((day) => wallClocks(zone, day).map((sample) => ({ zone, code: `${zone} ${sample.epoch}`, ...sample }))),
);

interface Dialect {
  client: string;
  connection: string;
  local: string;
  instant: string;
  fromEpoch: string;
  quote: string;
}

async function feedsOf({ client, connection, local, instant, fromEpoch, quote }: Dialect): Promise<ZonedFeed[]> {
  const database = knex({ client, connection });
  await database.raw(`create table trip (code varchar(60), zone varchar(40), starts ${local}, ends ${instant},
    day date, clock varchar(8))`);
  const rows = SAMPLES.map(
    ({ code, zone, wall, epoch }) =>
      `('${code}', '${zone}', '${wall}', ${fromEpoch}(${epoch}), '${wall.slice(0, 10)}', '${wall.slice(11)}')`,
  );
  await database.raw(`insert into trip values ${rows.join(', ')}`);
  await database.destroy();
  return Object.keys(CHANGES).flatMap((zone) =>
    // A date-time, and a date with its time in another column.
    ['starts', { columns: ['day', 'clock'] }].map((start) => {
      const query = `select code as ${quote}plan.external_code${quote}, starts, day, clock,
        ends as ${quote}plan.date_time_end${quote}, 'A' as ${quote}point.name${quote},
        'Rua Um, 1' as ${quote}point.address${quote} from trip where zone = '${zone}' order by code`;
      const mapping = { 'plan.date_time_start': start };
      return { zone, feed: { source: 'sql', client, connection, query, mapping } as FeedSettings };
    }),
  );
}

function expectTimes(read: ReadTimes, feeds: readonly ZonedFeed[]): void {
  const wrong = feeds.flatMap(({ zone }, i) =>
    SAMPLES.filter((sample) => sample.zone === zone).flatMap(({ code, wall, epoch }) => {
      const [start = '', end = ''] = read[i]?.[code] ?? [];
      const isStart = wallClock(Date.parse(start), zone) === wall && start.startsWith(wall.replace(' ', 'T'));
      return isStart && Date.parse(end) === epoch * 1_000 ? [] : [{ code, wall, start, end }];
    }),
  );
  expect(wrong).toEqual([]);
}

afterAll(stopPostgres);

async function allDialects(): Promise<Dialect[]> {
  const dialects: Dialect[] = [
    {
      client: 'pg',
      connection: await (await startPostgres()).newDatabase(),
      local: 'timestamp',
      instant: 'timestamptz',
      fromEpoch: 'to_timestamp',
      quote: '"',
    },
  ];
  if (hasMariadb)
    dialects.push({
      client: 'mysql2',
      connection: await (await sharedMariadb()).newDatabase(),
      local: 'datetime',
      instant: 'timestamp',
      fromEpoch: 'from_unixtime',
      quote: '`',
    });
  return dialects;
}

test('times of the databases are read as they are, in five zones of the process', async () => {
  const feeds = (await Promise.all((await allDialects()).map(feedsOf))).flat();
  const read = await Promise.all(PROCESS_ZONES.map((zone) => readTimesIn(zone, feeds)));
  for (const times of read) expectTimes(times, feeds);
});

test('the service gets the instants that the databases mean', async () => {
  const zone = 'America/Sao_Paulo';
  const samples = SAMPLES.filter((sample) => sample.zone === zone).slice(0, 12);
  const codes = samples.map(({ code }) => `'${code}'`).join(', ');
  const expected = samples.map(({ code, epoch }) => [code, epoch * 1_000, epoch * 1_000]);
  for (const feeds of await Promise.all((await allDialects()).map(feedsOf)))
    for (const { feed } of feeds.filter((each) => each.zone === zone)) {
      const { query } = feed as { query: string };
      const few = { ...feed, query: query.replace('order by', `and code in (${codes}) order by`) } as FeedSettings;
      const place = await makePushPlace({ feeds: { route_plans: few } });
      expect(await place.run('push-route-plans')).toMatchObject({ status: 'ok', sent: samples.length });
      const answer = await fetch(`${place.sandbox.url}/_sandbox/truth/route_plans?from=2026-03-01&to=2026-04-30`);
      const plans = (await answer.json()) as Record<'external_code' | 'date_time_start' | 'date_time_end', string>[];
      const received = plans.map((plan) => [
        plan.external_code,
        Date.parse(plan.date_time_start),
        Date.parse(plan.date_time_end),
      ]);
      expect(received.sort()).toEqual(expected.sort());
    }
});
