// npm run prove: three daemons on one warehouse, killed and stopped at random over many ticks, on either engine. Prints
// the figures and puts them into docs/explanation/reliability.md.
//   node test/prove/daemons.ts [ticks] [seed] [sqlite|postgres] [cut-off runs to wait for]
import { type DaemonsReport, hitDaemons } from '../support/daemons/daemons.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import { type EngineName, makePlace, rowsOf } from '../support/warehouse/engines.ts';

const ticks = Number(process.argv[2] ?? 500);
const seed = Number(process.argv[3] ?? 1);
const engineName = (process.argv[4] ?? 'sqlite') as EngineName;
const cutOff = Number(process.argv[5] ?? 20);
const MOST_TAKEOVER_MS = 35_000;

const place = await makePlace(engineName);
const engine = await place.open();
const report = await hitDaemons({
  warehouse: {
    section: `warehouse: ${JSON.stringify(place.settings)}\n`,
    query: <Row>(text: string) => engine.read((sql) => rowsOf<Row>(sql, text)),
  },
  seed,
  ticks,
  cutOff,
  schedule: '*/2 * * * * *',
  latencyMs: 500,
  restMs: [1_500, 5_000],
  stopMs: [
    [1_000, 5_000],
    [21_000, 28_000],
  ],
});

await engine.close();
await place.remove();
await stopPostgres();

const WORDS = {
  sqlite: {
    title: 'Several daemons, one run a tick',
    place: 'one SQLite file',
    hazard:
      'A process\nthat is stopped inside a transaction holds the lock of the SQLite file until it goes on or dies; nothing can be taken\nover before that.',
  },
  postgres: {
    title: 'Several daemons on PostgreSQL, one run a tick',
    place: 'one PostgreSQL database',
    hazard:
      'A process\nthat is stopped between two statements of a transaction loses its session after 15 s; one that is stopped inside a statement\nloses it once another has waited 30 s for it. So the others go on.',
  },
}[engineName];

const section = ({ longestTakeover, ...r }: DaemonsReport): string => `
Three real daemons (\`roadbook start\`) share ${WORDS.place} and three jobs that are due every two seconds. A seeded
choice kills one with -9 or stops one with SIGSTOP, mostly one in the middle of a run, and starts or continues it
later; some stops are longer than the lease of 20 s. The figures are read from \`sync_run\`.

| ticks completed | kills | stops | runs cut off | ticks run twice | runs overlapping | late writes | longest takeover |
|---|---|---|---|---|---|---|---|
| ${[r.ticks, r.kills, r.stops, r.abandoned, r.doubled, r.overlapping, r.lateWrites].join(' | ')} | ${(longestTakeover / 1_000).toFixed(1)} s |

Made by \`node test/prove/daemons.ts ${ticks} ${seed} ${engineName} ${cutOff}\`. With every \`npm run prove -- --quick\` a sample on SQLite
kills and stops, for less than the lease (test/prove-quick/daemons.test.ts); that a holder who comes back after its lease was
given away writes and sends nothing is shown on both engines by test/conformance/engines/leases.test.ts. ${WORDS.hazard}
`;

process.stdout.write(`${JSON.stringify(report)}\n`);
const { doubled, overlapping, lateWrites, leftRunning, longestTakeover, exits } = report;
const isWrong = doubled + overlapping + lateWrites + leftRunning > 0 || longestTakeover > MOST_TAKEOVER_MS;
if (isWrong || exits.some((code) => code !== 0)) process.exitCode = 1;
else
  giveSection(WORDS.title, section(report), {
    run: `three daemons on ${WORDS.place}, killed and stopped at random`,
    many: `${report.ticks} ticks, ${report.kills} kills, ${report.stops} stops`,
    lost: '0 ticks run twice, 0 runs overlapping, 0 late writes',
  });
