// The first view: the overall health, one row for each job, one row for each daemon.
import { read } from '../api.js';
import { el } from '../dom.js';
import { orderButton } from '../orders.js';
import { barSpark, lineSpark } from '../pictures.js';
import { table } from '../tables.js';
import {
  attentionWords,
  count,
  entriesNeeding,
  pill,
  plural,
  runSeconds,
  shortCount,
  span,
  ticking,
  toneOf,
} from '../words.js';

export const title = 'Overview';

export const load = async (_, live) => live ?? read('overview');

const SENTENCES = {
  ok: 'Everything runs on time.',
  late: 'Something is late.',
  attention: 'Nothing is late, but a person should look at something.',
  failing: 'Something is failing.',
  paused: 'Nothing is scheduled: every job is paused or disabled.',
  'never ran': 'Not every job has run yet.',
};

/** The worst health first. */
const WORST_FIRST = ['failing', 'late', 'never ran', 'ok', 'paused'];
const byNeed = (a, b) => WORST_FIRST.indexOf(a.health) - WORST_FIRST.indexOf(b.health);

export const render = (status) => [
  el('h1', { class: 'unseen' }, 'Overview'),
  hero(status),
  status.config.error === null
    ? null
    : el(
        'section',
        { class: 'banner bad', 'aria-label': 'Configuration' },
        el('strong', {}, 'The last edit of the configuration was rejected; the previous one stays in effect. '),
        el('code', {}, status.config.error),
        el('a', { href: '#/config' }, 'See the configuration'),
      ),
  cards(status),
  el('h2', {}, 'Jobs'),
  table(
    'Jobs with their health, last run, next tick and freshness',
    COLUMNS,
    status.jobs.toSorted(byNeed).map((job) => row(job, status)),
    'There are no jobs.',
  ),
  el('h2', {}, 'Daemons'),
  queueLine(status.queue),
  table(
    'Daemons on this warehouse with their state, version, start, last heartbeat and slices a minute',
    DAEMON_COLUMNS,
    status.daemons.map(daemonRow),
    'No daemon has run on this warehouse yet.',
  ),
];

const DAEMON_COLUMNS = [
  { name: 'Daemon', class: 'job' },
  { name: 'State', class: 'health' },
  { name: 'Version' },
  { name: 'Since' },
  { name: 'Last heartbeat' },
  { name: 'Slices a minute' },
];

/** The rate of a silent daemon is out of date, so the server sends null for it. */
const daemonRow = (daemon) => ({
  key: `${daemon.host} ${daemon.pid} ${daemon.started_at}`,
  cells: [
    [
      el('span', { class: 'name', dir: 'auto' }, daemon.host),
      el('span', { class: 'meaning' }, `process ${daemon.pid}`),
    ],
    pill(daemon.state),
    daemon.version,
    ticking('ago', daemon.started_at),
    ticking('ago', daemon.heartbeat_at),
    daemon.slices_per_minute === null ? el('span', { class: 'faint' }, 'unknown') : count(daemon.slices_per_minute),
  ],
});

/** Null if the daemons share no queue. */
const queueLine = (queue) =>
  queue === undefined
    ? null
    : el(
        'p',
        { class: queue.dead > 0 ? 'wrong' : 'hint' },
        `Queue: ${plural(queue.waiting, 'slice')} waiting, ${count(queue.active)} active, ${count(queue.dead)} failed.`,
      );

function hero({ health, jobs, outbox, unknownSince, deadline, attention }) {
  const names = jobs.filter((job) => job.health === health && !['ok', 'paused', 'never ran'].includes(health));
  const people = needsPerson(attention);
  const missed = missedDeadline(deadline);
  // The general sentence is left out if a more exact one says what is late.
  const general = health === 'late' && (people ?? missed) !== null ? null : SENTENCES[health];
  const sentence =
    names.length === 0
      ? general
      : `${listed(names.map(({ name }) => name))} ${names.length === 1 ? 'is' : 'are'} ${health}.`;
  const unclear =
    unknownSince === null || people !== null
      ? null
      : [el('a', { href: '#/plans/unknown' }, plural(outbox.unknown, 'push', 'pushes')), ' of unknown outcome.'];
  return el(
    'section',
    { class: `hero ${toneOf(health)}`, 'aria-label': 'Overall health' },
    el(
      'p',
      { class: 'hero-word', 'data-health': health },
      el('span', { class: 'mark', 'aria-hidden': 'true' }),
      health,
    ),
    el(
      'p',
      { class: 'hero-sentence' },
      [sentence, people, unclear, missed].filter((words) => words !== null).map((words) => [words, ' ']),
    ),
  );
}

/** Null if no push needs a person. */
function needsPerson(attention) {
  const entries = entriesNeeding(attention);
  if (entries === 0) return null;
  const words = `${plural(entries, 'push', 'pushes')} ${entries === 1 ? 'needs' : 'need'} a person`;
  return [el('a', { href: '#/plans' }, words), `: ${reasonsIn(attention)}.`];
}

const reasonsIn = (attention) => attention.map(({ reason }) => attentionWords(reason).word).join('; ');

/** Null unless plans for tomorrow have missed a configured deadline. */
function missedDeadline(deadline) {
  const missed = deadline?.missed.length ?? 0;
  if (missed === 0) return null;
  const words = `${plural(missed, 'plan')} for tomorrow ${missed === 1 ? 'is' : 'are'} not confirmed`;
  return [el('a', { href: '#/plans' }, words), ` by ${deadline.at}.`];
}

const listed = (names) => (names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`);

const card = (name, value, words, { tone = '', href } = {}) =>
  el(
    'li',
    { class: `card ${tone}` },
    el(
      href === undefined ? 'div' : 'a',
      { href, class: 'card-inside' },
      el('span', { class: 'card-name' }, name),
      el('span', { class: 'card-value' }, value),
      el('span', { class: 'card-words' }, words),
    ),
  );

function cards({ outbox, attention, quarantine, session, tables, config }) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const open = outbox.ready + outbox.sending;
  return el(
    'ul',
    { class: 'cards', 'aria-label': 'At a glance' },
    card(
      'Need a person',
      count(entriesNeeding(attention)),
      attention.length === 0 ? 'no pushes' : reasonsIn(attention),
      { tone: attention.length > 0 ? 'bad' : '', href: '#/plans' },
    ),
    card('Unknown pushes', count(outbox.unknown), `${count(open)} waiting, ${shortCount(outbox.confirmed)} confirmed`, {
      tone: outbox.unknown > 0 ? 'late' : '',
      href: '#/plans/unknown',
    }),
    card('Rejected pushes', count(outbox.rejected), `${count(outbox.cancelled)} cancelled`, {
      tone: outbox.rejected > 0 ? 'bad' : '',
      href: '#/plans/rejected',
    }),
    card('In quarantine', count(quarantine), quarantine === 0 ? 'no invalid records' : 'invalid records', {
      tone: quarantine > 0 ? 'late' : '',
      href: '#/data',
    }),
    card('Warehouse rows', shortCount(rows), `${tables.length} tables`, { href: '#/data' }),
    card(
      'Service session',
      session.state,
      session.expires_at === null ? 'no token yet' : ['token renews ', ticking('until', session.expires_at)],
      { tone: session.state === 'refused' ? 'bad' : '' },
    ),
    card(
      'Configuration',
      config.error === null ? 'in effect' : 'rejected',
      ['loaded ', ticking('ago', config.loaded_at)],
      {
        tone: config.error === null ? '' : 'bad',
        href: '#/config',
      },
    ),
  );
}

const COLUMNS = [
  { name: 'Job', class: 'job' },
  { name: 'Health', class: 'health' },
  { name: 'Last run', class: 'last' },
  { name: 'Next tick' },
  { name: 'Read' },
  { name: 'Duration', class: 'picture' },
  { name: 'Rows', class: 'picture' },
  { name: 'Actions', unseen: true, class: 'actions' },
];

function row(job, { tables }) {
  const { name, last_run: last } = job;
  return {
    key: name,
    cells: [
      [el('span', { class: 'name' }, name), el('span', { class: 'meaning' }, job.meaning)],
      pill(job.enabled ? job.health : 'disabled', job.enabled ? undefined : 'still'),
      lastRun(job),
      job.next_tick_at === null ? el('span', { class: 'faint' }, '–') : ticking('until', job.next_tick_at),
      freshness(job, tables),
      durations(job),
      rowsWritten(job),
      job.enabled ? buttons(job) : el('span', { class: 'faint' }, ''),
    ],
    below:
      last?.error == null
        ? undefined
        : el(
            'p',
            { class: `trouble ${toneOf(last.status)}` },
            el('span', { dir: 'auto' }, last.error),
            job.hint === null ? null : el('span', { class: 'hint', dir: 'auto' }, ` ${job.hint}`),
          ),
  };
}

const buttons = ({ name, paused }) =>
  el(
    'span',
    { class: 'buttons' },
    orderButton('Run now', `jobs/${name}/run`, { label: `Run now: ${name}` }),
    paused
      ? orderButton('Resume', `jobs/${name}/resume`, { label: `Resume: ${name}` })
      : orderButton('Pause', `jobs/${name}/pause`, { label: `Pause: ${name}` }),
  );

function lastRun({ last_run: last }) {
  if (last === null) return el('span', { class: 'faint' }, 'never');
  const seconds = runSeconds(last);
  return [
    el(
      'span',
      { class: 'line' },
      el('a', { href: `#/runs/${last.run_id}`, class: `run-word ${toneOf(last.status)}` }, last.status),
      ' ',
      ticking('ago', last.started_at),
    ),
    seconds === null ? null : el('span', { class: 'meaning' }, `took ${span(seconds)}`),
  ];
}

/** The oldest read of the tables that the job fills. */
function freshness({ tables: own }, tables) {
  const read = tables.filter(({ name }) => own.includes(name)).map(({ read_at }) => read_at);
  if (read.length === 0) return el('span', { class: 'faint' }, '–');
  const oldest = read.includes(null) ? null : read.toSorted()[0];
  return oldest === null ? el('span', { class: 'faint' }, 'not yet') : ticking('ago', oldest);
}

function durations({ name, recent }) {
  const ended = recent.filter(({ seconds }) => seconds !== null).map(({ seconds }) => seconds);
  const label = ended.length === 0 ? 'no runs' : `latest ${span(ended.at(-1))}, longest ${span(Math.max(...ended))}`;
  return lineSpark(`Duration of the last runs of ${name}: ${label}`, ended);
}

function rowsWritten({ name, recent }) {
  const sum = recent.reduce((all, { rows }) => all + rows, 0);
  return barSpark(
    `Rows written or items sent by the last ${recent.length} runs of ${name}: ${count(sum)}`,
    recent.map(({ rows, status }) => ({ value: rows, tone: status === 'ok' ? 'plain' : toneOf(status) })),
  );
}
