// The load stage alone: rows in memory into a warehouse, beside the barest statement that could store them. Batch by
// batch in turn, so that other work on the machine slows both alike; the ratio is the figure.
//   node test/bench/load-stage.ts 200000
import { startPostgres, stopPostgres } from '../support/postgres.ts';
import { eventRows, type Pair, postgresPair, SLICE_ROWS, sqlitePair } from './load-pairs.ts';
import type { Section } from './task.ts';

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

async function measure({ name, load: product, bare, close }: Pair, count: number): Promise<string> {
  const seconds = { load: 0, bare: 0, again: 0 };
  for (let start = 0; start < count; start += SLICE_ROWS) {
    const rows = eventRows(start, count);
    const [send, store] = [bare(rows), product(rows)];
    // Who goes first changes with every slice.
    const turns = [async () => (seconds.load += await timed(store)), async () => (seconds.bare += await timed(send))];
    for (const turn of (start / SLICE_ROWS) % 2 === 0 ? turns : turns.toReversed()) await turn();
    seconds.again += await timed(store);
  }
  await close();
  const rate = (spent: number) => Math.round(count / spent).toLocaleString('en');
  const ratio = (seconds.bare / seconds.load).toFixed(2);
  return `| ${[name, rate(seconds.bare), rate(seconds.load), ratio, rate(seconds.again)].join(' | ')} |`;
}

export async function loadStage(count: number): Promise<Section> {
  const url = await (await startPostgres()).newDatabase();
  const lines = [];
  for (const make of [() => postgresPair(url), sqlitePair]) lines.push(await measure(await make(), count));
  await stopPostgres();
  return {
    title: 'The load stage alone',
    body: `Rows in memory into the warehouse, batch by batch in turn with the barest statement. The text
of both is made before.

| ${count.toLocaleString('en')} events | bare, rows/s | Roadbook, rows/s | ratio | unchanged, rows/s |
|---|---|---|---|---|
${lines.join('\n')}`,
  };
}

if (import.meta.main) process.stdout.write(`${(await loadStage(Number(process.argv[2] ?? 200_000))).body}\n`);
