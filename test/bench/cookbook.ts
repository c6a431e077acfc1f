// How long each recipe of the cookbook takes on a large warehouse, on each engine.
//   node test/bench/cookbook.ts 1000000 sqlite
// Three months of a made-up fleet of 100 vehicles go in through the engine's own loader; each recipe is then run five
// times, and the best counts: other work on the machine can only add to it. Prints a table for docs/performance.md.
import { fillLocalTime } from '../../src/warehouse/local-time.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';
import { recipes } from '../support/cookbook.ts';
import { engineCases, rowsOf } from '../support/engines.ts';
import { loadFleet } from './made-up-fleet.ts';

const events = Number(process.argv[2] ?? 1_000_000);
const wanted = process.argv.slice(3);
const TIMES = 5;

const cases = engineCases.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const figures = new Map<string, number[]>();
const say = (text: string): boolean => process.stderr.write(`${text}\n`);

for (const { name, make } of cases) {
  const place = await make();
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.parse('2026-03-31T15:00:00.000Z'));
  const started = performance.now();
  const rows = await loadFleet(engine, events);
  say(
    `${name}: ${rows.toLocaleString('en')} rows in ${((performance.now() - started) / 1_000).toFixed(0)} s`,
  );
  for (const { number, sql } of recipes()) {
    const took: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const begun = performance.now();
      await engine.read((reader) => rowsOf(reader, sql));
      took.push(performance.now() - begun);
    }
    const best = Math.min(...took);
    figures.set(String(number), [...(figures.get(String(number)) ?? []), best]);
    say(`${name} ${number}: ${best.toFixed(0)} ms`);
  }
  await engine.close();
  await place.remove();
}

const lines = recipes().map(({ number, question }) => {
  const cells = (figures.get(String(number)) ?? []).map((ms) => ms.toFixed(0));
  return `| ${[`${number}. ${question}`, ...cells].join(' | ')} |`;
});
process.stdout.write(
  `| recipe | ${cases.map(({ name }) => `${name}, ms`).join(' | ')} |\n|---|${cases.map(() => '---|').join('')}\n${lines.join('\n')}\n`,
);
process.exit(0);
