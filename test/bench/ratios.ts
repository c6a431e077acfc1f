// Ratios that a slower product would show in, small enough for every `npm run bench -- --check`: the load stages beside
// the bare statements, and parsing alone beside parsing, checking and mapping; those of whole pulls and pushes are in files
// of their own.
// Measured in CPU time, in turns, and by the better half of the rounds, so that other work on the machine meets both sides
// alike and mostly drops out.
//   node test/bench/ratios.ts
import { events } from '../../src/fleet/endpoints/events.ts';
import { mapRecords } from '../../src/sync/pull/records/map-records.ts';
import { createPrivacy } from '../../src/warehouse/privacy/privacy.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { startPostgres, stopPostgres } from '../support/databases/postgres.ts';
import { cpuMs } from './cpu-time.ts';
import { eventRows, type Pair, postgresPair, sqlitePair } from './pull/load-pairs.ts';
import { pullRatios } from './pull/pull-ratios.ts';
import { wireEvent } from './pull/wire-event.ts';
import { pushRatio } from './push/push-sides.ts';

const ROUNDS = 12;
const WARM_UP = 3;
const ROWS = 2_000;

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
  const loads = batches.map((batch) => pair.load(batch));
  const ratio = await ratioOf(
    async (round) => sends[round]?.(),
    async (round) => loads[round]?.(),
    cpu,
  );
  await pair.close();
  return ratio;
}

export const loadRatio = async (): Promise<number> => pairRatio(await sqlitePair(), ROWS);

/** With the CPU time of the server, which the kernel counts in hundredths of a second: batches are larger. */
export async function copyRatio(): Promise<number> {
  const url = await (await startPostgres()).newDatabase();
  return pairRatio(await postgresPair(url), 2 * ROWS, cpuMs);
}

/** Parsing alone beside parsing, checking and mapping the same body. */
export async function checkRatio(): Promise<number> {
  const body = JSON.stringify(Array.from({ length: ROWS }, (_, n) => wireEvent(n)));
  const privacy = createPrivacy({}, 'bench');
  return ratioOf(
    async () => JSON.parse(body),
    () => mapRecords({ table: event, endpoint: events, records: JSON.parse(body) as unknown[] }, privacy),
  );
}

if (import.meta.main) {
  const pulls = pullRatios();
  const all = { load: loadRatio, copy: copyRatio, check: checkRatio, push: pushRatio, ...pulls.ratios };
  for (const [name, measure] of Object.entries(all)) {
    process.stdout.write(`${name}: ${(await measure()).toFixed(2)}\n`);
  }
  await pulls.close();
  await stopPostgres();
}
