// @ts-check
// The last day as a timeline, a list of runs, and one run with all details.
import { href, setFilter } from '../address.js';
import { html } from '../html.js';
import { useData, usePage } from '../parts/page.js';
import { Strip } from '../parts/sparks.js';
import { Pager, Table } from '../parts/table.js';
import { Choice, Empty, Facts, Foreign, Loaded, Pill, RunError, Time } from '../parts/words.js';
import { errorMeaning, t, word } from '../texts.js';
import { clockTime, count, dayAndTime, exactTime, fullTime, runSeconds, span, toneOf } from '../words.js';
import { pushedKind } from './overview.js';

const STATUSES = ['ok', 'partial', 'failed', 'abandoned', 'running'];

export const RunsView = ({ args: [id], query }) =>
  id === undefined ? html`<${Board} query=${query} />` : html`<${Run} id=${id} />`;

/** The day is large. The live document brings the runs since it was read, save those of a backfill. */
const REFRESH = { everyMs: 600000 };

function Board({ query: { page = '0', job = '', status = '' } }) {
  const day = useData('timeline', {}, REFRESH);
  const list = useData('runs', { page, job, status });
  return html`<h1 tabindex="-1">${t('view.runs')}</h1>
    <h2>${t('runs.day')}</h2>
    <${Loaded} of=${day}>${(data) => html`<${Timeline} day=${data} />`}<//>
    <h2>${t('runs.all')}</h2>
    <div class="filters">
      <${Choice} label=${t('column.job')} value=${job} values=${day.data?.jobs ?? []} onChoose=${(value) => setFilter({ job: value })} />
      <${Choice} label=${t('column.ended')} value=${status} values=${STATUSES} group="state" onChoose=${(value) => setFilter({ status: value })} />
    </div>
    <${Loaded} of=${list}>${(found) => html`<${RunTable} runs=${found.rows} />`}<//>
    <${Pager} of=${list} />`;
}

export const RunTable = ({ runs }) =>
  html`<${Table} caption=${t('runs.caption')} columns=${columns()} rows=${runs.map(row)} empty=${t('runs.none')} />`;

const columns = () => [
  { name: t('column.started'), class: 'short' },
  { name: t('column.job'), class: 'short' },
  { name: t('column.ended') },
  { name: t('column.took'), class: 'short' },
  { name: t('column.records'), class: 'number' },
  { name: t('column.written'), class: 'number' },
  { name: t('column.sent'), class: 'number' },
  { name: t('column.error'), class: 'wide' },
];

const row = (run) => ({
  key: run.run_id,
  cells: [
    html`<a href=${href('runs', [run.run_id])}>${dayAndTime(run.started_at)}</a>`,
    html`<a href=${href('jobs', [run.job])}>${run.job}</a>`,
    html`<${Pill} state=${run.status} />`,
    runSeconds(run) === null ? t('state.running') : span(/** @type {number} */ (runSeconds(run))),
    count(run.records),
    count(run.inserted + run.updated),
    count(run.sent),
    run.error === null ? null : (errorMeaning(run.error_code)?.[0] ?? html`<${Foreign}>${run.error}<//>`),
  ],
});

const QUARTER_MS = 900000;
/** The worst status of a cell gives its colour and its link. */
const WORST_FIRST = ['failed', 'abandoned', 'partial', 'running', 'ok'];

/**
 * One line for each job, one cell for each quarter of an hour, wide enough to be chosen. A cell with several runs opens the
 * worst of them; the list below has all.
 */
function Timeline({ day: { to, jobs, bars, cut } }) {
  const { overview } = usePage();
  const live = overview.jobs.flatMap(({ name, recent }) => recent.map((run) => ({ ...run, job: name })));
  const known = [...new Map([...bars, ...live].map((run) => [run.run_id, run])).values()];
  const last = Math.max(Date.parse(to), ...live.map(({ started_at }) => Date.parse(started_at)));
  const end = Math.ceil(last / QUARTER_MS) * QUARTER_MS;
  const starts = Array.from({ length: 96 }, (_, n) => end - (96 - n) * QUARTER_MS);
  const byJob = Map.groupBy(
    known.filter(({ started_at }) => Date.parse(started_at) >= starts[0]),
    ({ job }) => job,
  );
  return html`<div class="gantt">
    ${jobs.map((job) => {
      const runs = byJob.get(job) ?? [];
      const failed = runs.filter(({ status }) => toneOf(status) === 'bad').length;
      const byCell = Map.groupBy(
        runs,
        ({ started_at }) => Math.floor(Date.parse(started_at) / QUARTER_MS) * QUARTER_MS,
      );
      return html`<div class="gantt-row" key=${job}>
        <a class="gantt-name" href=${href('jobs', [job])}>${job}</a>
        <${Strip} label="${job}: ${t('runs.count', { n: runs.length, failed })}" cells=${starts.map((start) => cell(start, byCell.get(start)))} />
      </div>`;
    })}
    <div class="gantt-row axis" aria-hidden="true"><span></span><div class="axis-labels">
      ${starts.filter((start) => start % (12 * QUARTER_MS) === 0).map((start) => html`<span style=${{ left: `${((start - starts[0]) / (96 * QUARTER_MS)) * 100}%` }}>${clockTime(start)}</span>`)}
    </div></div>
    <p class="legend">${['ok', 'partial', 'failed', 'running'].map((status) => html`<span class="key ${toneOf(status)}"><span class="swatch"></span>${word('legend', status)}</span>`)}</p>
    ${cut ? html`<p class="hint">${t('runs.cut')}</p>` : null}
  </div>`;
}

function cell(start, runs = []) {
  const worst = WORST_FIRST.map((status) => runs.find((run) => run.status === status)).find(Boolean);
  const from = clockTime(start);
  if (worst === undefined) return { key: String(start) };
  const { seconds } = worst;
  const words =
    runs.length === 1
      ? `${clockTime(worst.started_at)} · ${word('state', worst.status)}${seconds === null ? '' : ` · ${span(seconds)}`}`
      : `${from}–${clockTime(start + QUARTER_MS)} · ${t('runs.count', { n: runs.length, failed: runs.filter(({ status }) => toneOf(status) === 'bad').length })} · ${t('runs.opens', { status: word('state', worst.status), at: clockTime(worst.started_at) })}`;
  return { key: String(start), tone: toneOf(worst.status), words, href: href('runs', [worst.run_id]) };
}

const COUNTS = [
  'slices',
  'requests',
  'retries',
  'records',
  'inserted',
  'updated',
  'unchanged',
  'quarantined',
  'sent',
  'confirmed',
  'rejected',
  'unknown',
];

function Run({ id }) {
  const run = useData('run', { id });
  return html`<p class="back"><a href=${href('runs')}>← ${t('runs.back')}</a></p>
    <h1 tabindex="-1">${run.data === undefined ? t('view.run') : html`${run.data.job} <${Pill} state=${run.data.status} />`}</h1>
    <${Loaded} of=${run}>${(data) => html`<${RunStory} run=${data} />`}<//>`;
}

/** The count of a run holds rejected items and unreadable files alike. */
const RejectedLinks = ({ job }) => html`<p class="links">
  <a href=${href('plans', [], { state: 'rejected', kind: pushedKind(job) })}>${t('run.rejectedItems')}</a>${' '}
  <a href=${href('plans', [], { show: 'unread' })}>${t('run.unreadFiles')}</a></p>`;

const RunStory = ({ run }) => html`
  ${
    run.error === null
      ? null
      : html`<section class="banner ${toneOf(run.status)}" aria-label=${t('column.error')}>
          <${RunError} code=${run.error_code} error=${run.error} hint=${run.error_hint} />
          ${run.error_code === null ? null : html`<code>${run.error_code}</code>`}</section>`
  }
  ${run.job.startsWith('push-') && run.rejected > 0 ? html`<${RejectedLinks} job=${run.job} />` : null}
  <${Facts} facts=${[
    [t('column.job'), html`<a href=${href('jobs', [run.job])}>${run.job}</a>`],
    [t('column.started'), fullTime(run.started_at)],
    [t('column.ended'), run.finished_at === null ? t('run.stillRunning') : fullTime(run.finished_at)],
    [
      t('column.took'),
      runSeconds(run) === null
        ? html`<${Time} kind="age" at=${run.started_at} />`
        : span(/** @type {number} */ (runSeconds(run))),
    ],
    [t('run.cause'), word('cause', run.cause)],
    [t('run.retry'), run.retry_at && fullTime(run.retry_at)],
    [t('run.tick'), run.tick_at === null ? t('run.noTick') : fullTime(run.tick_at)],
    [t('run.id'), html`<code>${run.run_id}</code>`],
  ]} />
  <h2>${t('run.counts')}</h2>
  <${Facts} kind="counts" facts=${COUNTS.map((name) => [word('count', name), count(run[name]), run[name] === 0 ? 'zero' : ''])} />
  <h2>${t('run.log')}</h2>
  <${Log} lines=${run.log} />`;

export const Log = ({ lines }) =>
  lines.length === 0
    ? html`<${Empty}>${t('run.noLog')}<//>`
    : html`<ol class="log" tabindex="0" aria-label=${t('run.logLines')} lang="en">${lines.map((line) => html`<${LogLine} text=${line} />`)}</ol>`;

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Instants in the log are UTC. @param {unknown} value */
const fieldText = (value) =>
  typeof value !== 'string' ? JSON.stringify(value) : INSTANT.test(value) ? fullTime(value) : value;

function LogLine({ text }) {
  let line;
  try {
    line = JSON.parse(text);
  } catch {
    return html`<li>${text}</li>`;
  }
  const { level, time, msg, job: _, run_id: __, ...rest } = line;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${fieldText(value)}`);
  return html`<li class="level-${level}">
    <time datetime=${time}>${exactTime(time)}</time><span class="level">${level}</span>
    <span class="msg" dir="auto">${msg}</span><span class="fields" dir="auto">${fields.join(' ')}</span></li>`;
}
