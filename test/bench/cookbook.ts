// How long each recipe of the cookbook takes on a large warehouse, on each engine.
//   node test/bench/cookbook.ts 1000000 sqlite
// Three months of a made-up fleet of 100 vehicles go in through the engine's own loader; each recipe is then run five
// times, and the best counts: other work on the machine can only add to it. Prints a table for docs/explanation/performance.md.
import { fillLocalTime } from '../../src/warehouse/maintenance/local-time.ts';
import { tables } from '../../src/warehouse/schema/catalog.ts';
import { bringSchemaUpToDate, createLateIndexes } from '../../src/warehouse/schema/converge.ts';
import { recipes } from '../support/cookbook.ts';
import { engineCases, rowsOf } from '../support/engines.ts';
import { stopPostgres } from '../support/postgres.ts';
import { cpuMs } from './cpu-time.ts';
import { loadFleet } from './made-up-fleet.ts';

const events = Number(process.argv[2] ?? 1_000_000);
const wanted = process.argv.slice(3);
const TIMES = 5;

const cases = engineCases.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const cells = recipes().map(({ number, question }) => [`${number}. ${question}`]);
const say = (text: string): boolean => process.stderr.write(`${text}\n`);

for (const { name, make } of cases) {
  const place = await make();
  const engine = await place.open();
  await bringSchemaUpToDate(engine);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.parse('2026-03-31T15:00:00.000Z'));
  const started = performance.now();
  const rows = await loadFleet(engine, events);
  await createLateIndexes(engine, tables);
  say(`${name}: ${rows.toLocaleString('en')} rows in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  for (const [index, { sql }] of recipes().entries()) {
    const times: number[] = [];
    const work: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const [begun, cpu] = [performance.now(), cpuMs()];
      await engine.read((reader) => rowsOf(reader, sql));
      times.push(performance.now() - begun);
      work.push(cpuMs() - cpu);
    }
    const best = [Math.min(...times).toFixed(0), Math.min(...work).toFixed(0)];
    cells[index]?.push(...best);
    say(`${name} ${index + 1}: ${best.join(' ms, CPU ')} ms`);
  }
  await engine.close();
  await place.remove();
}
await stopPostgres();

const head = ['recipe', ...cases.flatMap(({ name }) => [`${name}, ms`, `CPU, ms`])];
const lines = [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
process.stdout.write(`${lines.join('\n')}\n`);
