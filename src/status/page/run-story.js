// One run with all details: its facts, counts, error and last log lines.
import { el } from './dom.js';
import { count, fullTime, pill, runSeconds, span, ticking, toneOf } from './words.js';

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

export function runStory(run) {
  const facts = [
    ['Started', fullTime(run.started_at)],
    ['Ended', run.finished_at === null ? 'still running' : fullTime(run.finished_at)],
    ['Took', runSeconds(run) === null ? ticking('age', run.started_at) : span(runSeconds(run))],
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
        el('div', { class: run[name] === 0 ? 'zero' : '' }, el('dt', {}, name), el('dd', {}, count(run[name]))),
      ),
    ),
    el('h2', {}, 'Log'),
    run.log.length === 0
      ? el('p', { class: 'empty' }, 'The log lines of this run are gone: the daemon keeps those of its last 100 runs.')
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
