// The load stage alone: rows in memory into a warehouse, beside the barest statement that could store them. Batch by
// batch in turn, so that other work on the machine slows both alike; the ratio is the figure.
//   node test/bench/pull/load-stage.ts 200000
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { quarantine, quarantineRows } from '../../../src/warehouse/control/quarantine.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { startPostgres, stopPostgres } from '../../support/databases/postgres.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';
import type { Section } from '../task.ts';
import { eventRows, type Pair, postgresPair, SLICE_ROWS, sqlitePair } from './load-pairs.ts';
import { wireEvent } from './wire-event.ts';

/** Invalid records of one slice, and how many such slices fill the quarantine. */
const INVALID = 20_000;
const INVALID_SLICES = 11;
const MOST_SECONDS_OF_INVALID = 0.5;

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** Seconds of each slice of invalid records, all of them new, from the records to the commit. */
async function quarantineSeconds(engine: Engine): Promise<number[]> {
  const seconds: number[] = [];
  for (let slice = 0; slice < INVALID_SLICES; slice++) {
    const invalid = Array.from({ length: INVALID }, (_, n) => {
      const id = slice * INVALID + n;
      const record = { ...wireEvent(id), begin_date: 'soon' };
      return { table: event, key: String(id), reason: 'begin_date: expected an instant', record };
    });
    const work = async () => {
      const rows = quarantineRows('pull-events', invalid, createRedactor());
      await engine.write((tx) => quarantine(tx, rows, metadataAt('bench', '2026-01-01T00:00:00.000Z')));
    };
    seconds.push(await timed(work));
  }
  return seconds;
}

async function measure({ name, engine, load: product, bare, close }: Pair, count: number) {
  const seconds = { load: 0, bare: 0, again: 0 };
  for (let start = 0; start < count; start += SLICE_ROWS) {
    const rows = eventRows(start, count);
    const [send, store] = [bare(rows), product(rows)];
    // Who goes first changes with every slice.
    const turns = [async () => (seconds.load += await timed(store)), async () => (seconds.bare += await timed(send))];
    for (const turn of (start / SLICE_ROWS) % 2 === 0 ? turns : turns.toReversed()) await turn();
    seconds.again += await timed(store);
  }
  const slices = await quarantineSeconds(engine);
  const middle = slices.toSorted((a, b) => a - b)[Math.floor(slices.length / 2)] ?? 0;
  await close();
  const rate = (spent: number) => Math.round(count / spent).toLocaleString('en');
  const ratio = (seconds.bare / seconds.load).toFixed(2);
  return {
    stored: `| ${[name, rate(seconds.bare), rate(seconds.load), ratio, rate(seconds.again)].join(' | ')} |`,
    quarantined: `| ${[engine.name, ...[slices[0], middle, slices.at(-1)].map((spent) => spent?.toFixed(2))].join(' | ')} |`,
    faults:
      middle > MOST_SECONDS_OF_INVALID
        ? [`${engine.name} takes ${middle.toFixed(2)} s for ${INVALID} invalid records`]
        : [],
  };
}

export async function loadStage(count: number): Promise<Section> {
  const url = await (await startPostgres()).newDatabase();
  const measured = [];
  for (const make of [() => postgresPair(url), sqlitePair]) measured.push(await measure(await make(), count));
  await stopPostgres();
  return {
    title: 'The load stage alone',
    body: `Rows in memory into the warehouse, batch by batch in turn with the barest statement. The text
of both is made before.

| ${count.toLocaleString('en')} events | bare, rows/s | Roadbook, rows/s | ratio | unchanged, rows/s |
|---|---|---|---|---|
${measured.map(({ stored }) => stored).join('\n')}

Invalid records go to the quarantine: ${INVALID_SLICES} slices of ${INVALID.toLocaleString('en')}, from the records that were found invalid to the commit, the first into an empty
quarantine, the last beside ${((INVALID_SLICES - 1) * INVALID).toLocaleString('en')}. The run fails if the middle one takes more than ${MOST_SECONDS_OF_INVALID} s.

| engine | first, s | middle, s | last, s |
|---|---|---|---|
${measured.map(({ quarantined }) => quarantined).join('\n')}`,
    faults: measured.flatMap(({ faults }) => faults),
  };
}

if (import.meta.main) process.stdout.write(`${(await loadStage(Number(process.argv[2] ?? 200_000))).body}\n`);
