// npm run bench: measures everything in one run and writes docs/explanation/performance.md with its chart. Parts can be run alone;
// they are then printed and nothing is written.
//   npm run bench                 a million events; four million for the dashboards, up to ten for growth and the export
//   npm run bench -- 100000       fewer
//   npm run bench -- --check      whether the recorded ratios still hold, in a minute; nothing is written
//   npm run bench -- growth push  these parts alone: events, load, growth, push, daemon, dashboards
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { measuredCommit } from '../support/proofs/measured-commit.ts';
import { rejectArguments } from '../support/proofs/reject-arguments.ts';
import { runSamples } from '../support/proofs/run-samples.ts';
import { makeBenchPlace } from './bench-place.ts';
import { barChart } from './chart.ts';
import { daemonBench } from './daemon/daemon.ts';
import { PROFILE } from './profile-notes.ts';
import { eventsBench } from './pull/events.ts';
import { growthBench } from './pull/growth.ts';
import { loadStage } from './pull/load-stage.ts';
import { pushBench } from './push/push.ts';
import type { Section } from './task.ts';
import { dashboardsBench } from './warehouse/dashboards.ts';

const DOCS = resolve(import.meta.dirname, '../../docs/explanation');
const args = process.argv.slice(2);
if (args.includes('--check')) runSamples('bench-check');
const isCount = (arg: string): boolean => /^\d+$/.test(arg);
const wanted = Number(args.find(isCount) ?? 1_000_000);
const words = args.filter((arg) => !isCount(arg));

const PARTS: Readonly<Record<string, () => Promise<Section>>> = {
  events: () => inPlace((place) => eventsBench(place, wanted)),
  load: () => loadStage(Math.min(wanted, 200_000)),
  growth: () => inPlace((place) => growthBench(place, wanted)),
  push: () => pushBench(Math.max(200, Math.min(5_000, Math.round(wanted / 200)))),
  daemon: () => daemonBench(wanted >= 1_000_000 ? 60 : 10),
  dashboards: () => dashboardsBench({ events: 4 * wanted, exported: 10 * wanted }),
};

async function inPlace(work: (place: Awaited<ReturnType<typeof makeBenchPlace>>) => Promise<Section>) {
  const place = await makeBenchPlace();
  try {
    return await work(place);
  } finally {
    await place.close();
  }
}

const stranger = words.find((word) => !Object.hasOwn(PARTS, word));
if (stranger !== undefined)
  rejectArguments(`There is no part named ${stranger}. Try a number of events, or ${Object.keys(PARTS).join(', ')}.`);

/** Threads that wanted to run in the last minute; more than cores means that others were measured too. */
const load = (): string => (loadavg()[0] ?? 0).toFixed(1);
const before = load();
const commit = measuredCommit();
const sections: Section[] = [];
for (const name of words.length === 0 ? Object.keys(PARTS) : words) {
  const section = await PARTS[name]?.();
  if (section !== undefined) sections.push(section);
}
const chapters = sections.map(({ title, body }) => `## ${title}\n${body}\n`).join('\n');
process.stdout.write(chapters);
const faults = sections.flatMap((section) => section.faults ?? []);
if (words.length === 0) writePage();
for (const fault of faults) process.stderr.write(`fault: ${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

function writePage(): void {
  const bars = sections.flatMap((section) => section.bars ?? []);
  writeFileSync(resolve(DOCS, 'performance.svg'), barChart('Events a second', bars));
  writeFileSync(
    resolve(DOCS, 'performance.md'),
    `# Performance

Written by \`npm run bench\`, the last section by hand. One run of commit ${commit}, one machine (${cpus().length} cores, load ${before} before and ${load()} after), the service
as a process beside it; the ratios are the figures, the rates depend on the machine. The CPU seconds are of all threads of
the measured process, without the service's and the database server's.
\`npm run bench -- --check\`, which \`.ci/run\` runs, measures small forms of these ratios, most by CPU time: a pull beside the
script, beside parsing and again, the load stages beside the bare statements, a push beside posting. It fails where one has
fallen by more than a third (test/bench-check/bench-ratios.test.ts and pull-ratios.test.ts hold the recorded ones). By the clock
it measures a pull beside the script, into both databases. A start takes as long as its modules take to load; growth and the daemon
at rest are measured here alone. Memory is that of \`npx roadbook\`, the service unit and the image, which set
\`MALLOC_ARENA_MAX=1\`; \`npm start\` does not.

${missedBounds()}![Events a second](performance.svg)

${chapters}
${PROFILE}`,
  );
}

/** Bounds by the clock are also missed on a machine that is slow at the time; the ratios beside them show which it was. */
function missedBounds(): string {
  if (faults.length === 0) return '';
  return `Bounds that this run missed:\n${faults.map((fault) => `- ${fault}\n`).join('')}\n`;
}
