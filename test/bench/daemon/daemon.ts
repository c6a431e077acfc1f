// The daemon: how long the very first start takes to push and to fill the tables, and a view of its page to show its first
// words; then at rest, how long it takes from its
// start to the first run, and its CPU time and memory while nothing is due. The service is a process of its own, except at
// the first start.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadJobs } from '../../../src/app/app.ts';
import { IDLE_AFTER_MS } from '../../../src/core/idle-gc.ts';
import { PRODUCT_FLAGS } from '../../support/process/product-flags.ts';
import { configFor, makeWorkplace, type Workplace } from '../../support/process/workplace.ts';
import type { Section } from '../task.ts';
import { firstPaints } from './first-paint.ts';

const TIMES = 5;
const CONFIG = resolve(import.meta.dirname, '../../../config/roadbook.yaml');
const MOST_SECONDS_TO_FILL = 20;
const MOST_MS_TO_PAINT = 300;
const LONGEST_FIRST_START_MS = 300_000;
const ASK_AGAIN_MS = 200;
const SETTLE_MS = 5_000;
const MB_OF_KB = 1 / 1_024;

/** As the unit and the container start it; only with compiled files of this run, so that the cache has known content. */
const env = { MALLOC_ARENA_MAX: '1', NODE_COMPILE_CACHE: '' };

export async function daemonBench(idleSeconds: number): Promise<Section> {
  env.NODE_COMPILE_CACHE = mkdtempSync(join(tmpdir(), 'roadbook-compiled-'));
  const service = fork(resolve(import.meta.dirname, '../service.ts'), ['10', '1']);
  const [{ url }] = (await once(service, 'message')) as [{ url: string }];
  const begun = await firstStart();
  const starts: Start[] = [];
  for (let time = 0; time < TIMES; time++) starts.push(await startOnce(url));
  const { cpuShare, rssMb } = await idle(url, idleSeconds);
  const first = await idleAfterUse(url);
  const usual = await idleAfterUse(url);
  service.disconnect();
  rmSync(env.NODE_COMPILE_CACHE, { recursive: true, force: true });
  const paints = begun.paints ?? [];
  const best = (of: (each: Start) => number): string => Math.min(...starts.map(of)).toFixed(0);
  return {
    title: 'The daemon',
    faults: [
      ...(begun.filledS > MOST_SECONDS_TO_FILL
        ? [`a first start fills the tables in ${begun.filledS.toFixed(1)} s`]
        : []),
      ...paints
        .filter(({ middleMs }) => middleMs > MOST_MS_TO_PAINT)
        .map(({ view, middleMs }) => `${view} shows its first words after ${middleMs.toFixed(0)} ms`),
    ],
    body: `The very first \`roadbook start\`: an empty folder, the configuration of the repository, the built-in service. The run fails
if the tables are not full within ${MOST_SECONDS_TO_FILL} s.

| a first start | seconds |
|---|---|
| until the sample plans are confirmed | ${begun.confirmedS.toFixed(1)} |
| until every table's first run is ok | ${begun.filledS.toFixed(1)} |

Each view of its page, in a Chromium that has never seen it: first words on the screen, of 5 loads. The run fails if the middle
one takes more than ${MOST_MS_TO_PAINT} ms.${begun.paints === undefined ? ' Not measured: there was no Chromium.' : ''}

| view | middle, ms | longest, ms |
|---|---|---|
${paints.map(({ view, middleMs, longestMs }) => `| ${view} | ${middleMs.toFixed(0)} | ${longestMs.toFixed(0)} |`).join('\n')}

\`roadbook start\` on a warehouse that is there, ${TIMES} times, the best; then ${idleSeconds} s in which nothing is due.
Node caches compiled code: the very first visit to the page finds an empty cache, a visit after a later start finds it filled.

| start to ready, ms | start to the first run, ms | idle CPU, % of a core | idle RSS, MB | after a pull, MB | after the first visit to the page, MB | after a visit in a later start, MB |
|---|---|---|---|---|---|---|
| ${best(({ readyMs }) => readyMs)} | ${best(({ runMs }) => runMs)} | ${(cpuShare * 100).toFixed(2)} | ${rssMb.toFixed(0)} | ${usual.pulledMb.toFixed(0)} | ${first.visitedMb.toFixed(0)} | ${usual.visitedMb.toFixed(0)} |`,
  };
}

/** Seconds from the start of the process, by the times that the daemon has stored. */
async function firstStart() {
  const place = makeWorkplace(readFileSync(CONFIG, 'utf8').replace(/port: \d+/, 'port: 0'), undefined, PRODUCT_FLAGS);
  try {
    // Its page is visited: the later first visit has to find an empty cache.
    const NODE_COMPILE_CACHE = join(env.NODE_COMPILE_CACHE, 'first-start');
    const started = Date.now();
    const daemon = place.start(['start'], { ...env, NODE_COMPILE_CACHE });
    await daemon.printed(/is running/);
    const secondsTo = async (what: string): Promise<number> => {
      for (;;) {
        const [found] = await place.query<{ at: string | null; waiting: number }>(what);
        if (found?.waiting === 0 && found.at !== null) return (Date.parse(found.at) - started) / 1_000;
        if (Date.now() - started > LONGEST_FIRST_START_MS) throw new Error(`a first start waits too long: ${what}`);
        await pause(ASK_AGAIN_MS);
      }
    };
    const confirmedS = await secondsTo(
      'select max(confirmed_at) as at, count(*) - count(confirmed_at) as waiting from push_outbox',
    );
    const filledS = await secondsTo(`select max(first_at) as at, count(*) - count(first_at) as waiting from (
      select (select min(finished_at) from sync_run as run where run.job = filler.job and run.status = 'ok') as first_at
      from table_job as filler)`);
    const paints = await firstPaints(pageOf(daemon.stdout()));
    daemon.kill('SIGTERM');
    await daemon.ended;
    return { confirmedS, filledS, paints };
  } finally {
    place.remove();
  }
}

interface Start {
  readyMs: number;
  runMs: number;
}

/** One job that is due every second, all others off. */
async function startOnce(url: string): Promise<Start> {
  const place = makeWorkplace(
    configFor(url, await jobsSection('pull-vehicles', '* * * * * *')),
    undefined,
    PRODUCT_FLAGS,
  );
  // The first command makes the warehouse; a usual start finds it there.
  await place.run(['status'], env);
  const started = Date.now();
  const daemon = place.start(['start'], env);
  await daemon.printed(/is running/);
  const readyMs = Date.now() - started;
  await daemon.printed(/run started|run begins|"job":"pull-vehicles"/);
  const runMs = (await firstRunAt(place)) - started;
  daemon.kill('SIGTERM');
  await daemon.ended;
  place.remove();
  return { readyMs, runMs };
}

async function firstRunAt(place: Workplace): Promise<number> {
  const [first] = await place.query<{ at: string }>('select min(started_at) as at from sync_run');
  return Date.parse(first?.at ?? '');
}

async function idle(url: string, seconds: number): Promise<{ cpuShare: number; rssMb: number }> {
  const place = makeWorkplace(
    configFor(url, await jobsSection('maintain-warehouse', '0 0 1 1 *')),
    undefined,
    PRODUCT_FLAGS,
  );
  const daemon = place.start(['start'], env);
  await daemon.printed(/is running/);
  await pause(SETTLE_MS);
  const before = cpuSeconds(daemon.pid);
  const begun = performance.now();
  await pause(seconds * 1_000);
  const cpuShare = (cpuSeconds(daemon.pid) - before) / ((performance.now() - begun) / 1_000);
  const rssMb = residentMb(daemon.pid);
  daemon.kill('SIGTERM');
  await daemon.ended;
  place.remove();
  return { cpuShare, rssMb };
}

/** What stays in memory of the parts that come with the first call and the first request. */
async function idleAfterUse(url: string): Promise<{ pulledMb: number; visitedMb: number }> {
  const place = makeWorkplace(
    configFor(url, await jobsSection('pull-vehicles', '0 0 1 1 *')),
    undefined,
    PRODUCT_FLAGS,
  );
  const daemon = place.start(['start'], env);
  // Never run, so it is caught up at once.
  await daemon.printed(/run finished/);
  await pause(IDLE_AFTER_MS + SETTLE_MS);
  const pulledMb = residentMb(daemon.pid);
  const page = pageOf(daemon.stdout());
  for (const path of ['/', '/metrics', '/api/status']) await (await fetch(page + path)).text();
  await pause(IDLE_AFTER_MS + SETTLE_MS);
  const visitedMb = residentMb(daemon.pid);
  daemon.kill('SIGTERM');
  await daemon.ended;
  place.remove();
  return { pulledMb, visitedMb };
}

const pageOf = (printed: string): string => /page\s+(\S+)/.exec(printed)?.[1] ?? '';

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * MB_OF_KB;

/** User and system time by the kernel's counters, in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function jobsSection(only: string, schedule: string): Promise<string> {
  const lines = (await loadJobs()).map(({ name }) =>
    name === only ? `  ${name}: { schedule: "${schedule}" }` : `  ${name}: { enabled: false }`,
  );
  return `jobs:\n${lines.join('\n')}\n`;
}
