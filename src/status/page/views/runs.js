// The last day as a timeline, a list of runs, and one run whole.
import { read } from '../api.js';
import { el, svg } from '../dom.js';
import { pager, table } from '../tables.js';
import { clockTime, count, dayAndTime, fullTime, pill, plural, span, ticking, toneOf } from '../words.js';

export const title = 'Runs';

const filter = { page: 0, job: '', status: '' };
let shown = { bars: [] };

export async function load([id]) {
  if (id !== undefined) return { run: await read('run', { id }) };
  const [timeline, list] = await Promise.all([read('timeline'), read('runs', filter)]);
  shown = timeline;
  return { timeline, list };
}

export const render = ({ run, timeline, list }) => (run === undefined ? board(timeline, list) : story(run));

function board(timeline, list) {
  return [
    el('h1', {}, 'Runs'),
    el('h2', {}, 'The last 24 hours'),
    gantt(timeline),
    el('h2', {}, 'All runs'),
    el(
      'div',
      { class: 'filters' },
      choice('job', 'Job', ['', ...timeline.jobs], filter.job),
      choice('status', 'Ended', ['', 'ok', 'partial', 'failed', 'abandoned', 'running'], filter.status),
    ),
    table('Runs, the newest first', COLUMNS, list.rows.map(row), 'No run fits these filters.'),
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
      values.map((each) =>
        el('option', { value: each, selected: each === value }, each === '' ? 'all' : each),
      ),
    ),
  );

const COLUMNS = [
  { name: 'Started', class: 'short' },
  { name: 'Job', class: 'short' },
  { name: 'Ended' },
  { name: 'Took', class: 'short' },
  { name: 'Records', class: 'number' },
  { name: 'Written', class: 'number' },
  { name: 'Error', class: 'wide' },
];

const seconds = ({ started_at, finished_at }) =>
  finished_at === null ? null : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;

const row = (run) => ({
  key: run.run_id,
  cells: [
    el('a', { href: `#/runs/${run.run_id}` }, dayAndTime(run.started_at)),
    run.job,
    pill(run.status),
    seconds(run) === null ? 'runs' : span(seconds(run)),
    count(run.records + run.sent),
    count(run.inserted + run.updated + run.confirmed),
    el('span', { dir: 'auto' }, run.error ?? ''),
  ],
});

const WIDTH = 1440;
const HEIGHT = 20;
const TONES = ['ok', 'late', 'bad', 'new'];

function gantt({ from, to, jobs, bars, cut }) {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const byJob = Map.groupBy(bars, ({ job }) => job);
  const rows = jobs.map((job) => {
    const own = byJob.get(job) ?? [];
    const failed = own.filter(({ status }) => toneOf(status) === 'bad').length;
    const words = `${job}: ${plural(own.length, 'run')}, ${failed} failed`;
    const byTone = Map.groupBy(own, ({ status }) => toneOf(status));
    return el(
      'div',
      { class: 'gantt-row', 'data-key': job },
      el('span', { class: 'gantt-name' }, job),
      svg(
        'svg',
        {
          class: 'gantt-line',
          viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
          preserveAspectRatio: 'none',
          role: 'img',
          'aria-label': words,
          'data-job': job,
        },
        hours(start, end).map((ms) =>
          svg('path', {
            class: 'hour',
            d: `M${place(ms, start, end)} 0V${HEIGHT}`,
            'vector-effect': 'non-scaling-stroke',
          }),
        ),
        TONES.filter((tone) => byTone.has(tone)).map((tone) =>
          svg('path', {
            class: `run ${tone}`,
            d: byTone
              .get(tone)
              .map((bar) => barPath(bar, start, end))
              .join(''),
          }),
        ),
      ),
    );
  });
  return el(
    'div',
    { class: 'gantt' },
    rows,
    el('div', { class: 'gantt-row axis', 'aria-hidden': 'true' }, el('span', {}), axis(start, end)),
    el(
      'p',
      { class: 'legend' },
      TONES.map((tone) =>
        el('span', { class: `key ${tone}` }, el('span', { class: 'swatch' }), LEGEND[tone]),
      ),
    ),
    cut ? el('p', { class: 'hint' }, 'Only the newest 5,000 runs are drawn.') : null,
    el('p', { class: 'bubble', id: 'bubble', hidden: true, 'aria-hidden': 'true', 'data-drawn': true }),
  );
}

const LEGEND = { ok: 'ok', late: 'partial', bad: 'failed or abandoned', new: 'running' };

const place = (ms, start, end) => (((ms - start) / (end - start)) * WIDTH).toFixed(1);

function barPath({ started_at, finished_at }, start, end) {
  const x = Math.max(0, Number(place(Date.parse(started_at), start, end)));
  const to = finished_at === null ? WIDTH : Number(place(Date.parse(finished_at), start, end));
  // A run of a second would be thinner than a pixel.
  const width = Math.max(2.5, to - x);
  return `M${x} 3h${width.toFixed(1)}v${HEIGHT - 6}h${(-width).toFixed(1)}z`;
}

function hours(start, end, step = 3) {
  const first = Math.ceil(start / 3600000) * 3600000;
  return Array.from({ length: 25 }, (_, n) => first + n * 3600000).filter(
    (ms) => ms < end && new Date(ms).getUTCHours() % step === 0,
  );
}

const axis = (start, end) =>
  el(
    'div',
    { class: 'axis-labels' },
    hours(start, end).map((ms) => {
      const label = el('span', {}, clockTime(ms));
      label.style.left = `${((ms - start) / (end - start)) * 100}%`;
      return label;
    }),
  );

/** The run of a line that lies nearest to the pointer; undefined where none is near. */
function runAt(line, clientX) {
  const box = line.getBoundingClientRect();
  const [start, end] = [Date.parse(shown.from), Date.parse(shown.to)];
  const at = start + ((clientX - box.left) / box.width) * (end - start);
  const near = ((end - start) / box.width) * 6;
  const own = shown.bars.filter(({ job }) => job === line.dataset.job);
  const distance = ({ started_at, finished_at }) => {
    const [begin, stop] = [Date.parse(started_at), finished_at === null ? end : Date.parse(finished_at)];
    return at < begin ? begin - at : Math.max(0, at - stop);
  };
  const best = own.toSorted((a, b) => distance(a) - distance(b))[0];
  return best !== undefined && distance(best) <= near ? best : undefined;
}

export function hover(event) {
  const bubble = document.getElementById('bubble');
  if (bubble === null) return;
  const line = event.target.closest('.gantt-line');
  const run = line === null ? undefined : runAt(line, event.clientX);
  bubble.hidden = run === undefined;
  line?.classList.toggle('hit', run !== undefined);
  if (run === undefined) return;
  const took = seconds(run);
  bubble.textContent = `${run.job} · ${run.status} · ${clockTime(run.started_at)}${took === null ? '' : ` · ${span(took)}`}`;
  const frame = bubble.parentElement.getBoundingClientRect();
  bubble.style.left = `${Math.min(Math.max(0, event.clientX - frame.left - 80), frame.width - 240)}px`;
  bubble.style.top = `${line.getBoundingClientRect().top - frame.top - 34}px`;
}

export function click(event, again) {
  const line = event.target.closest('.gantt-line');
  const run = line === null ? undefined : runAt(line, event.clientX);
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

function story(run) {
  const facts = [
    ['Started', fullTime(run.started_at)],
    ['Ended', run.finished_at === null ? 'still running' : fullTime(run.finished_at)],
    ['Took', seconds(run) === null ? ticking('age', run.started_at) : span(seconds(run))],
    ['Cause', run.cause],
    ['Planned for', run.tick_at === null ? 'no tick' : fullTime(run.tick_at)],
    ['Run', el('code', {}, run.run_id)],
  ];
  return [
    el('p', { class: 'back' }, el('a', { href: '#/runs' }, '← All runs')),
    el('h1', {}, run.job, ' ', pill(run.status)),
    run.error === null
      ? null
      : el(
          'section',
          { class: `banner ${toneOf(run.status)}`, 'aria-label': 'Error' },
          el('strong', { dir: 'auto' }, run.error),
          run.error_hint === null ? null : el('span', { class: 'hint', dir: 'auto' }, ` ${run.error_hint}`),
          run.error_code === null ? null : el('code', {}, run.error_code),
        ),
    el(
      'dl',
      { class: 'facts' },
      facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
    ),
    el('h2', {}, 'Counts'),
    el(
      'dl',
      { class: 'counts' },
      COUNTS.map((name) =>
        el(
          'div',
          { class: run[name] === 0 ? 'zero' : '' },
          el('dt', {}, name),
          el('dd', {}, count(run[name])),
        ),
      ),
    ),
    el('h2', {}, 'Log'),
    run.log.length === 0
      ? el(
          'p',
          { class: 'empty' },
          'Its log lines are not kept any more: the daemon keeps those of its last 100 runs.',
        )
      : el('ol', { class: 'log', tabindex: '0', 'aria-label': 'Log lines' }, run.log.map(logLine)),
  ];
}

function logLine(text) {
  let line;
  try {
    line = JSON.parse(text);
  } catch {
    return el('li', {}, text);
  }
  const { level, time, msg, job: _, run_id: __, ...rest } = line;
  const fields = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return el(
    'li',
    { class: `level-${level}` },
    el('time', { datetime: time }, time.slice(11, 23)),
    el('span', { class: 'level' }, level),
    el('span', { class: 'msg', dir: 'auto' }, msg),
    el('span', { class: 'fields', dir: 'auto' }, fields.join(' ')),
  );
}
