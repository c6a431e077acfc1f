// The last day as a timeline, a list of runs, and one run with all details.
import { read } from '../api.js';
import { el } from '../dom.js';
import { runStory } from '../run-story.js';
import { pager, table } from '../tables.js';
import { runUnder, timeline } from '../timeline.js';
import { count, dayAndTime, pill, runSeconds, span } from '../words.js';

export const title = 'Runs';

const filter = { page: 0, job: '', status: '' };

export async function load([id]) {
  if (id !== undefined) return { run: await read('run', { id }) };
  const [day, list] = await Promise.all([read('timeline'), read('runs', filter)]);
  return { day, list };
}

export { hover } from '../timeline.js';

export const render = ({ run, day, list }) => (run === undefined ? board(day, list) : runStory(run));

function board(day, list) {
  return [
    el('h1', {}, 'Runs'),
    el('h2', {}, 'The last 24 hours'),
    timeline(day),
    el('h2', {}, 'All runs'),
    el(
      'div',
      { class: 'filters' },
      choice('job', 'Job', ['', ...day.jobs], filter.job),
      choice('status', 'Ended', ['', 'ok', 'partial', 'failed', 'abandoned', 'running'], filter.status),
    ),
    table('Runs, the newest first', COLUMNS, list.rows.map(row), 'No run matches these filters.'),
    pager(list),
  ];
}

const choice = (name, label, values, value) =>
  el(
    'label',
    {},
    el('span', {}, label),
    el(
      'select',
      { 'data-filter': name },
      values.map((each) => el('option', { value: each, selected: each === value }, each === '' ? 'all' : each)),
    ),
  );

const COLUMNS = [
  { name: 'Started', class: 'short' },
  { name: 'Job', class: 'short' },
  { name: 'Ended' },
  { name: 'Took', class: 'short' },
  { name: 'Records', class: 'number' },
  { name: 'Written', class: 'number' },
  { name: 'Sent', class: 'number' },
  { name: 'Error', class: 'wide' },
];

const row = (run) => ({
  key: run.run_id,
  cells: [
    el('a', { href: `#/runs/${run.run_id}` }, dayAndTime(run.started_at)),
    run.job,
    pill(run.status),
    runSeconds(run) === null ? 'running' : span(runSeconds(run)),
    count(run.records),
    count(run.inserted + run.updated),
    count(run.sent),
    run.error === null ? null : el('span', { dir: 'auto' }, run.error),
  ],
});

export function click(event, again) {
  const run = runUnder(event);
  if (run !== undefined) location.hash = `#/runs/${run.run_id}`;
  const button = event.target.closest('[data-page]');
  if (button === null) return;
  filter.page = Number(button.dataset.page);
  again();
}

export function input(event, again) {
  const { filter: name } = event.target.dataset;
  if (name === undefined) return;
  filter[name] = event.target.value;
  filter.page = 0;
  again();
}
