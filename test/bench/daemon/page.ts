// The cost of the status page: a warehouse with 1,000 runs, 10,000 entries of the outbox and 1,000,000 events; how
// long each view takes, and how fast a load is with and without pages that watch. Prints a table; fails where the
// overview takes 200 ms or more at the median. Run it with `node test/bench/daemon/page.ts`.
import type { Row } from '../../../src/warehouse/engine.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { ask, makeStatusPlace, type StatusPlace, WITH_TOKEN } from '../../support/status/status-place.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';

const EVENTS = 1_000_000;
const ENTRIES = 10_000;
const RUNS = 1_000;
const TIMES = 20;
const MOST_MS = 200;
const LOADED = 100_000;
const WATCHERS = 5;

const COUNTS =
  'slices, requests, retries, records, inserted, updated, unchanged, quarantined, sent, confirmed, rejected, unknown';
const series = (n: number): string =>
  `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${n - 1})`;

async function fill({ rig, dependencies }: StatusPlace): Promise<void> {
  const now = rig.clock.now() / 1_000;
  const at = (secondsAgo: string): string => `strftime('%Y-%m-%dT%H:%M:%S.000Z', ${now} - ${secondsAgo}, 'unixepoch')`;
  const jobs = dependencies.jobs.map(({ name }, n) => `when ${n} then '${name}'`).join(' ');
  await rig.engine.write(async ({ sql }) => {
    await sql.raw(`insert into event (event_category, id, begin_date, end_date, vehicle_id, _first_seen_at, _changed_at, _run_id)
      ${series(EVENTS)} select 1 + i % 14, i, ${at('i * 2')}, ${at('i * 2')}, i % 500, ${at('0')}, ${at('0')}, 'r' from n`);
    await sql.raw(`insert into sync_run (run_id, job, cause, status, started_at, finished_at, host, pid, ${COUNTS})
      ${series(RUNS)} select 'run-' || i, case i % ${dependencies.jobs.length} ${jobs} end, 'schedule',
      case when i % 17 = 0 then 'failed' else 'ok' end, ${at('i * 80')}, ${at('i * 80 - 9')}, 'h', 1,
      1, 1, 0, 9, 5, 2, 2, 0, 0, 0, 0, 0 from n`);
    await sql.raw(`insert into push_outbox (kind, external_code, state, content_hash, remote_key, attempts, unclear_sends, created_at, updated_at, revision)
      ${series(ENTRIES)} select 'route_plans', 'P-' || i, case when i % 500 = 0 then 'unknown' when i % 7 = 0 then 'ready' else 'confirmed' end,
      'h', 'k', 1, 0, ${at('i')}, ${at('i')}, 1 from n`);
    await sql.raw(`insert into sync_coverage (job, scope, begin_at, end_at, covered_at, run_id)
      ${series(500)} select 'pull-events', 'vehicle ' || i, ${at('864000')}, ${at('60')}, ${at('60')}, 'r' from n`);
  });
}

/** Milliseconds of each of several calls, the first apart. */
async function timed(url: string): Promise<{ first: number; median: number; slowest: number; kb: number }> {
  const taken: number[] = [];
  let bytes = 0;
  for (let n = 0; n <= TIMES; n++) {
    const begun = performance.now();
    bytes = (await ask('GET', url)).text.length;
    taken.push(performance.now() - begun);
  }
  const [first = 0, ...later] = taken;
  const sorted = later.toSorted((a, b) => a - b);
  return { first, median: sorted[TIMES / 2] ?? 0, slowest: sorted.at(-1) ?? 0, kb: bytes / 1_024 };
}

/** Rows a second of a load of new events. */
async function load({ rig }: StatusPlace, firstId: number): Promise<number> {
  const columns = event.columns.length - 4;
  const begun = performance.now();
  for (let start = 0; start < LOADED; start += 2_000) {
    const rows: Row[] = Array.from({ length: 2_000 }, (_, n) => {
      const at = new Date(rig.clock.now() - n * 1_000).toISOString();
      return [1, firstId + start + n, at, at, 10, n % 500, ...new Array<null>(columns - 6).fill(null)];
    });
    await rig.engine.write((tx) => tx.load(event, rows, metadataAt('bench', new Date(rig.clock.now()).toISOString())));
  }
  return LOADED / ((performance.now() - begun) / 1_000);
}

async function watched(place: StatusPlace): Promise<{ rate: number; slowest: number }> {
  const leave = new AbortController();
  for (let n = 0; n < WATCHERS; n++) void fetch(`${place.url}/api/live`, { headers: WITH_TOKEN, signal: leave.signal });
  let isOver = false;
  let slowest = 0;
  const asking = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await ask('GET', `${place.url}/api/overview`);
      slowest = Math.max(slowest, performance.now() - begun);
      await place.rig.clock.advance(2_000);
    }
  })();
  const rate = await load(place, 20_000_000);
  isOver = true;
  await asking;
  leave.abort();
  return { rate, slowest };
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const place = await makeStatusPlace();
await fill(place);
say(`${RUNS} runs, ${ENTRIES} entries of the outbox, ${EVENTS} events; milliseconds.\n`);
say('| call | first | median | slowest | KiB |\n|---|---|---|---|---|');
let overviewMs = 0;
for (const path of ['overview', 'status', 'timeline', 'runs', 'outbox', 'outbox?code=99', 'today', 'config']) {
  const { first, median, slowest, kb } = await timed(`${place.url}/api/${path}`);
  if (path === 'overview') overviewMs = median;
  say(`| ${path} | ${first.toFixed(0)} | ${median.toFixed(0)} | ${slowest.toFixed(0)} | ${kb.toFixed(0)} |`);
}
const alone = await load(place, 10_000_000);
const { rate, slowest } = await watched(place);
say(
  `\nA load of ${LOADED} events: ${alone.toFixed(0)} rows/s alone, ${rate.toFixed(0)} rows/s while ${WATCHERS} pages`,
);
say(`watch and one asks without a pause; the slowest overview meanwhile took ${slowest.toFixed(0)} ms.`);
await place.close();
if (overviewMs >= MOST_MS) {
  say(`The overview took ${overviewMs.toFixed(0)} ms: more than ${MOST_MS}.`);
  process.exitCode = 1;
}
