// The running configuration, the rejected edit, the runs of the coming week, and the latest actions of people.
import { read } from '../api.js';
import { el } from '../dom.js';
import { table } from '../tables.js';
import { clockTime, count, fullTime, ticking, weekday } from '../words.js';

export const title = 'Config';

export const load = () => read('config');

export const render = ({ file, loaded_at, error, config, schedules, orders }) => [
  el('h1', {}, 'Configuration'),
  error === null
    ? null
    : el(
        'section',
        { class: 'banner bad', 'aria-label': 'Rejected edit' },
        el('strong', {}, 'The last edit was rejected; the previous configuration stays in effect.'),
        el('pre', { class: 'refusal', tabindex: '0', 'aria-label': 'Error' }, error),
      ),
  el('p', { class: 'lead' }, el('code', {}, file), ', loaded ', ticking('ago', loaded_at), '. Secrets are not shown.'),
  el('h2', {}, 'The next seven days'),
  preview(schedules),
  el('h2', {}, 'Options of the jobs'),
  table('Options of each job', OPTION_COLUMNS, Object.entries(config.jobs).map(optionRow), 'There are no jobs.'),
  el('h2', {}, 'Everything else'),
  el(
    'div',
    { class: 'sections' },
    Object.entries(config)
      .filter(([name]) => name !== 'jobs')
      .map(([name, value]) => section(name, value)),
  ),
  el('h2', {}, 'Actions'),
  table('Actions through this page', ACTION_COLUMNS, orders.map(actionRow), 'No actions yet.'),
];

function preview(schedules) {
  const days = schedules.find((each) => each.days.length > 0)?.days ?? [];
  const columns = [
    { name: 'Job', class: 'job' },
    { name: 'Schedule' },
    ...days.map(({ day }) => ({ name: weekday(day), class: 'day' })),
  ];
  return table(
    'How often each job runs on each of the next seven days',
    columns,
    schedules.map(({ name, enabled, paused, schedule, timezone, days: own }) => ({
      key: name,
      cells: [
        el('span', { class: 'name' }, name),
        [el('code', {}, schedule), el('span', { class: 'meaning' }, timezone)],
        ...(own.length > 0
          ? own.map(dayCell)
          : days.map((_, n) => el('span', { class: 'faint' }, n > 0 ? '–' : enabled && paused ? 'paused' : 'off'))),
      ],
    })),
    'There are no jobs.',
  );
}

/** Up to three runs are shown by their times, more by their number. */
function dayCell({ runs, more, first, clock_change }) {
  const words = runs === 0 ? '–' : runs <= 3 ? first.map(clockTime).join(' ') : `${count(runs)}${more ? '+' : ''} ×`;
  return [words, clock_change ? el('span', { class: 'tag', title: 'The clock changes on this day' }, 'clock') : null];
}

const OPTION_COLUMNS = [
  { name: 'Job', class: 'job' },
  { name: 'Options', class: 'wide' },
];

const optionRow = ([name, { options }]) => ({
  key: name,
  cells: [
    el('span', { class: 'name' }, name),
    el(
      'span',
      { class: 'options' },
      leaves(options).map(([key, setting]) =>
        el('span', {}, el('span', { class: 'faint' }, `${key} `), words(setting)),
      ),
    ),
  ],
});

const isFlat = (value) => typeof value !== 'object' || value === null;

/** A section of the file as people write it; nested options are shown by their path. */
function section(name, value) {
  const lines = isFlat(value) ? [[name, value]] : leaves(value);
  return el(
    'section',
    { class: 'panel', 'data-key': name },
    el('h3', {}, name),
    lines.length === 0
      ? el('p', { class: 'faint' }, 'not set')
      : el(
          'dl',
          { class: 'settings' },
          lines.map(([key, setting]) => el('div', {}, el('dt', {}, key), el('dd', { dir: 'auto' }, words(setting)))),
        ),
  );
}

const words = (setting) =>
  setting === null || setting === '' ? el('span', { class: 'faint' }, 'not set') : String(setting);

const leaves = (value, path = []) =>
  Object.entries(value).flatMap(([key, inner]) => {
    if (inner === undefined) return [];
    if (Array.isArray(inner))
      return [[[...path, key].join('.'), inner.map((item) => (isFlat(item) ? item : JSON.stringify(item))).join(', ')]];
    return isFlat(inner) ? [[[...path, key].join('.'), inner]] : leaves(inner, [...path, key]);
  });

const ACTION_COLUMNS = [
  { name: 'When' },
  { name: 'Action' },
  { name: 'On', class: 'wide' },
  { name: 'From' },
  { name: 'Outcome', class: 'wide' },
];

const actionRow = ({ id, at, action, subject, by, outcome }) => ({
  key: id,
  cells: [fullTime(at), action, el('span', { dir: 'auto' }, subject), by, el('span', { dir: 'auto' }, outcome)],
});
