// npm run bench: the same events got in several ways, one after another in one run; the ratios are the figures.
//   npm run bench -- 1000000
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadStage } from './load-stage.ts';
import type { Measured } from './measured.ts';

const WAYS = ['parse', 'pull', 'again', 'twice', 'script'] as const;
type Way = (typeof WAYS)[number];

const WORDS: Record<Way, string> = {
  parse: 'got and JSON.parse alone, nothing kept',
  pull: 'Roadbook, end to end, into an empty SQLite warehouse',
  again: 'Roadbook, the same events again: nothing changed',
  twice: 'Roadbook, a period twice as long into another warehouse',
  script: 'a script: got, JSON.parse, knex merge of 500 rows',
};

/** As in the first line of src/main.ts; the others run as node runs by itself. */
const FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=70'];

const wanted = Number(process.argv[2] ?? 1_000_000);
const VEHICLES = 500;
const PER_DAY = 200;
const days = Math.max(1, Math.round(wanted / (VEHICLES * PER_DAY)));
const DAY_MS = 86_400_000;
const end = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const period = (length: number) => ({
  beginAt: new Date(end - length * DAY_MS).toISOString(),
  endAt: new Date(end).toISOString(),
});

const dir = mkdtempSync(join(tmpdir(), 'roadbook-bench-'));
const service = fork(resolve(import.meta.dirname, 'service.ts'), [String(VEHICLES), String(PER_DAY)]);
const [{ url, credentials }] = (await once(service, 'message')) as [{ url: string; credentials: object }];

const loads = [load()];
const results = {} as Record<Way, Measured>;
for (const way of WAYS) {
  const place = way === 'twice' ? { dir: join(dir, way), ...period(2 * days) } : { dir, ...period(days) };
  const task = JSON.stringify({ way, url, credentials, ...place });
  const file = resolve(import.meta.dirname, 'measured.ts');
  const flags = way === 'parse' || way === 'script' ? [] : FLAGS;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file, task], {
    maxBuffer: 1e8,
    env: { ...process.env, NODE_COMPILE_CACHE: join(dir, 'compiled') },
  });
  results[way] = JSON.parse(stdout) as Measured;
  process.stderr.write(`${way}: ${JSON.stringify(results[way])}\n`);
}
loads.push(load());
const bytes = statSync(join(dir, 'warehouse.db')).size;
service.disconnect();
rmSync(dir, { recursive: true, force: true });

const rate = (way: Way): number => results[way].rows / results[way].seconds;
const rows = WAYS.map((way) => {
  const { rows, seconds, cpuSeconds, peakMb, loopDelayMs } = results[way];
  const cells = [
    WORDS[way],
    rows.toLocaleString('en'),
    seconds.toFixed(1),
    Math.round(rate(way)).toLocaleString('en'),
    (rate(way) / rate('parse')).toFixed(2),
    cpuSeconds.toFixed(1),
    peakMb.toFixed(0),
    loopDelayMs.toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
});
const text = `# Performance

Written by \`npm run bench\`. One run, one machine (${cpus().length} cores, load ${loads.join(' to ')}), the service as a
process beside it; the ratios are the figures, the rates depend on the machine. The CPU seconds are of all threads of the
measured process, without the service's.

${results.pull.rows.toLocaleString('en')} events of ${VEHICLES} vehicles over ${days} days, 24 calls for each slice.

| way | events | seconds | events/s | ratio to parsing | CPU, s | peak RSS, MB | event-loop delay p99, ms |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

Roadbook is ${(rate('pull') / rate('script')).toFixed(1)} times as fast as the script. The warehouse takes
${Math.round(bytes / results.pull.rows)} bytes an event, indexes included.

## Where the time goes
CPU seconds of a pull of 500,000 events, by thread (the kernel's counters, a CPU profile): main about 5, of which
got and JSON.parse are about half, check and mapping a fifth, the collection of garbage most of the rest; SQLite about 4,
more than half of it to unpack the JSON of a batch, the rest for the table and its three indexes; V8's own threads about 3.
Main and SQLite overlap, and the service takes its part of the same cores. Where other work shares them, the ratio falls
towards the ratio of the CPU seconds.

${await loadStage(Math.min(wanted, 200_000))}`;
writeFileSync(resolve(import.meta.dirname, '../../docs/performance.md'), text);
process.stdout.write(text);

/** Threads that wanted to run in the last minute; more than cores means that others were measured too. */
function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
