// Ratios that a slower pull would show in, small enough for every test run: the load stages beside the bare statements,
// parsing alone beside parsing, checking and mapping, and beside a whole pull. Measured in CPU time; all but the last in
// turns, and by the better half of the rounds, so that other work on the machine meets both sides alike and mostly drops
// out.
//   node test/bench/ratios.ts
import { events } from '../../src/fleet/endpoints/events.ts';
import { sortRecords } from '../../src/sync/pull/sorting.ts';
import { createPrivacy } from '../../src/warehouse/privacy.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { startPostgres, stopPostgres } from '../support/postgres.ts';
import { makeBenchPlace } from './bench-place.ts';
import { cpuMs } from './cpu-time.ts';
import { eventRows, type Pair, postgresPair, sqlitePair } from './load-pairs.ts';

const ROUNDS = 12;
const WARM_UP = 3;
const ROWS = 2_000;
/** Events of a whole pull. */
const PULLED = 50_000;

/** CPU milliseconds of all threads of this process so far. */
function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function spentOn(work: () => Promise<unknown>, cpu: () => number): Promise<number> {
  const before = cpu();
  await work();
  return cpu() - before;
}

/** How much of the cost of `ours` the cost of `yardstick` is, round by round in turn. */
async function ratioOf(
  yardstick: (round: number) => Promise<unknown>,
  ours: (round: number) => Promise<unknown>,
  cpu = ownCpuMs,
): Promise<number> {
  const spent = { yardstick: [] as number[], ours: [] as number[] };
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const turns = [
      async () => spent.yardstick.push(await spentOn(() => yardstick(round), cpu)),
      async () => spent.ours.push(await spentOn(() => ours(round), cpu)),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  return betterHalf(spent.yardstick) / betterHalf(spent.ours);
}

function betterHalf(times: readonly number[]): number {
  const counted = times.slice(WARM_UP).toSorted((a, b) => a - b);
  return counted.slice(0, ROUNDS / 2).reduce((sum, each) => sum + each, 0);
}

/** The bare statement beside the loader, into the same table. */
async function pairRatio(pair: Pair, rows: number, cpu?: () => number): Promise<number> {
  const of = (round: number) => eventRows(round * rows, (round + 1) * rows);
  const batches = Array.from({ length: WARM_UP + ROUNDS }, (_, round) => of(round));
  const sends = batches.map((batch) => pair.bare(batch));
  const ratio = await ratioOf(
    async (round) => sends[round]?.(),
    (round) => pair.load(batches[round] ?? []),
    cpu,
  );
  await pair.close();
  return ratio;
}

export const loadRatio = async (): Promise<number> => pairRatio(await sqlitePair(), ROWS);

/** With the CPU time of the server, which the kernel counts in hundredths of a second: batches are larger. */
export async function copyRatio(): Promise<number> {
  const url = await (await startPostgres()).newDatabase();
  return pairRatio(await postgresPair(url), 2 * ROWS, cpuMs).finally(stopPostgres);
}

/** Parsing alone beside parsing, checking and mapping the same body. */
export async function checkRatio(): Promise<number> {
  const body = JSON.stringify(Array.from({ length: ROWS }, (_, n) => wireEvent(n)));
  const privacy = createPrivacy({}, 'bench');
  return ratioOf(
    async () => JSON.parse(body),
    () =>
      sortRecords({ table: event, record: events.record, records: JSON.parse(body) as unknown[] }, privacy),
  );
}

/** Got and parsed alone beside the same events pulled end to end into SQLite, each in a process of its own. */
export async function pullRatio(): Promise<number> {
  const place = await makeBenchPlace();
  try {
    const parse = await place.measure('parse', 'sqlite', {}, PULLED);
    const pull = await place.measure('pull', 'sqlite', await place.warehouse('sqlite'), PULLED);
    return parse.cpuSeconds / pull.cpuSeconds;
  } finally {
    await place.close();
  }
}

const wireEvent = (n: number) => ({
  event_category: 1 + (n % 14),
  id: n,
  begin_date: new Date(1_767_225_600_000 + n * 30_000).toISOString(),
  end_date: new Date(1_767_225_690_000 + n * 30_000).toISOString(),
  distance: n % 40_000,
  vehicle: { id: 1 + (n % 500), plate: `ABC${1_000 + (n % 500)}`, model: `Model ${n % 30}` },
  driver: { id: 1 + (n % 300), name: `Driver Number ${n % 300}` },
  location_start: { address: `Rua das Flores, ${n % 1_000}, São Paulo` },
  location_end: { address: `Avenida Brasil, ${n % 777}, Rio de Janeiro` },
});

if (import.meta.main) {
  for (const [name, measure] of Object.entries({
    load: loadRatio,
    copy: copyRatio,
    check: checkRatio,
    pull: pullRatio,
  })) {
    process.stdout.write(`${name}: ${(await measure()).toFixed(2)}\n`);
  }
}
