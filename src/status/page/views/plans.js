// The push board: what is unknown first, the story of each entry, and the deadline for tomorrow.
import { read } from '../api.js';
import { el } from '../dom.js';
import { orderButton } from '../orders.js';
import { pager, table } from '../tables.js';
import { count, dayAndTime, fullTime, pill, plural, ticking } from '../words.js';

export const title = 'Plans';

const STATES = ['unknown', 'sending', 'ready', 'rejected', 'confirmed', 'cancelled'];
const filter = { page: 0, state: '', code: '' };

export async function load([kind, code]) {
  if (code !== undefined) return { entry: await read('outbox/entry', { kind, code }) };
  return { board: await read('outbox', filter) };
}

export const render = ({ entry, board }) => (entry === undefined ? showBoard(board) : story(entry));

function showBoard({ counts, deadline, ...list }) {
  return [
    el('h1', {}, 'Plans'),
    deadline === null ? null : guard(deadline),
    el(
      'div',
      { class: 'states', role: 'group', 'aria-label': 'State' },
      stateButton(
        '',
        Object.values(counts).reduce((sum, n) => sum + n, 0),
      ),
      STATES.map((state) => stateButton(state, counts[state])),
    ),
    el(
      'div',
      { class: 'filters' },
      el(
        'label',
        {},
        el('span', {}, 'External code'),
        el('input', {
          type: 'search',
          'data-filter': 'code',
          value: filter.code,
          placeholder: 'a part of it',
          autocomplete: 'off',
        }),
      ),
    ),
    table('Entries of the outbox, unknown ones first', COLUMNS, list.rows.map(row), 'Nothing here fits.'),
    pager(list),
  ];
}

const stateButton = (state, n) =>
  el(
    'button',
    {
      type: 'button',
      class: `state ${state === 'unknown' && n > 0 ? 'late' : ''}`,
      'data-state': state,
      'aria-pressed': String(filter.state === state),
    },
    el('span', { class: 'state-count' }, count(n)),
    el('span', {}, state === '' ? 'all' : state),
  );

function guard({ by, due_at, confirmed, open }) {
  const isPast = Date.parse(due_at) < Date.now();
  const tone = open === 0 ? 'ok' : isPast ? 'bad' : 'late';
  return el(
    'section',
    { class: `banner ${tone}`, 'aria-label': 'Deadline' },
    el(
      'strong',
      {},
      open === 0
        ? 'Tomorrow is in. '
        : `${plural(open, 'plan')} of tomorrow ${open === 1 ? 'is' : 'are'} not confirmed. `,
    ),
    `${plural(confirmed, 'plan')} confirmed; the deadline is ${by}, `,
    isPast ? ['passed ', ticking('ago', due_at)] : ticking('until', due_at),
    '.',
  );
}

const COLUMNS = [
  { name: 'Code', class: 'code' },
  { name: 'State' },
  { name: 'Kind', class: 'short' },
  { name: 'Starts', class: 'short' },
  { name: 'What', class: 'wide' },
  { name: 'Changed' },
];

const href = ({ kind, external_code }) =>
  `#/plans/${encodeURIComponent(kind)}/${encodeURIComponent(external_code)}`;

/** Nothing where there is nothing to say, so that a narrow screen leaves the line out. */
function whatOf({ message, reasons }) {
  const words = [message, ...reasons].filter(Boolean).join('; ');
  return words === '' ? null : el('span', { dir: 'auto' }, words);
}

const row = (entry) => ({
  key: `${entry.kind}/${entry.external_code}`,
  class: entry.state === 'unknown' ? 'row-late' : '',
  cells: [
    el('a', { href: href(entry), dir: 'auto' }, entry.external_code),
    pill(entry.state),
    entry.kind.replaceAll('_', ' '),
    entry.period_start === null ? null : dayAndTime(entry.period_start),
    whatOf(entry),
    ticking('ago', entry.updated_at),
  ],
});

export function click(event, again) {
  const button = event.target.closest('[data-state], [data-page]');
  if (button === null) return;
  if (button.dataset.page !== undefined) filter.page = Number(button.dataset.page);
  else Object.assign(filter, { state: button.dataset.state, page: 0 });
  again();
}

let typing;

export function input(event, again) {
  if (event.target.dataset.filter !== 'code') return;
  Object.assign(filter, { code: event.target.value, page: 0 });
  clearTimeout(typing);
  typing = setTimeout(again, 200);
}

const FACTS = [
  ['Identifier at the service', (e) => e.remote_id],
  ['Status there', (e) => e.remote_status],
  ['Given by', (e) => e.origin],
  ['Starts', (e) => e.period_start && fullTime(e.period_start)],
  ['First given', (e) => fullTime(e.created_at)],
  ['Sent', (e) => e.sent_at && fullTime(e.sent_at)],
  ['Confirmed', (e) => e.confirmed_at && fullTime(e.confirmed_at)],
  ['Unknown since', (e) => e.unknown_since && fullTime(e.unknown_since)],
  ['Next attempt', (e) => e.next_attempt_at && fullTime(e.next_attempt_at)],
  ['ERP told', (e) => e.told_at && fullTime(e.told_at)],
  [
    'Changed after the push',
    (e) => (e.changed_after_push ? 'yes; the service has no call that changes it' : null),
  ],
];

function story(entry) {
  const { kind, external_code: code, state } = entry;
  const facts = FACTS.map(([name, of]) => [name, of(entry)]).filter(
    ([, value]) => value !== null && value !== '',
  );
  return [
    el('p', { class: 'back' }, el('a', { href: '#/plans' }, '← All plans')),
    el('h1', {}, el('span', { dir: 'auto', class: 'code' }, code), ' ', pill(state)),
    el('p', { class: 'lead', dir: 'auto' }, entry.message ?? ''),
    entry.reasons.length === 0
      ? null
      : el(
          'ul',
          { class: 'reasons' },
          entry.reasons.map((reason) => el('li', { dir: 'auto' }, reason)),
        ),
    el(
      'p',
      { class: 'buttons' },
      ['rejected', 'ready', 'unknown'].includes(state)
        ? orderButton(state === 'unknown' ? 'Read back again' : 'Retry', 'outbox/retry', {
            body: { kind, code },
          })
        : null,
      ['rejected', 'ready'].includes(state)
        ? orderButton('Cancel', 'outbox/cancel', { body: { kind, code }, sure: 'Press again to give it up' })
        : null,
      state === 'unknown'
        ? orderButton('Give up', 'outbox/cancel', {
            body: { kind, code, force: true },
            sure: 'It may be at the service: press again to give it up',
          })
        : null,
    ),
    el(
      'dl',
      { class: 'facts' },
      facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', { dir: 'auto' }, value))),
    ),
    el('h2', {}, 'Story'),
    entry.attempts.length === 0
      ? el('p', { class: 'empty' }, 'It was never sent nor looked for.')
      : el('ol', { class: 'story' }, entry.attempts.map(attempt)),
  ];
}

const OUTCOME_TONES = {
  accepted: 'ok',
  found: 'ok',
  refused: 'bad',
  unclear: 'late',
  unreadable: 'late',
  absent: 'still',
  'not-sent': 'still',
};

const attempt = ({ what, started_at, outcome, http_status, message, times, number }) =>
  el(
    'li',
    { 'data-key': number },
    el(
      'p',
      {},
      el('strong', {}, what),
      ' ',
      pill(outcome ?? 'open', OUTCOME_TONES[outcome] ?? 'new'),
      times > 1 ? ` ${times} times` : '',
      http_status === null ? '' : ` HTTP ${http_status}`,
    ),
    el('p', { class: 'faint' }, fullTime(started_at)),
    message === null ? null : el('p', { dir: 'auto' }, message),
  );
