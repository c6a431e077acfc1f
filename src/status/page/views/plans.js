// The push board: entries that need a person first, actions on one or many entries, and the deadline for tomorrow.
import { read } from '../api.js';
import { el } from '../dom.js';
import { orderButton } from '../orders.js';
import { entryPage } from '../outbox-entry.js';
import { pager, table } from '../tables.js';
import { attentionPill, attentionWords, count, dayAndTime, entriesNeeding, pill, plural, ticking } from '../words.js';

export const title = 'Plans';

const STATES = ['unknown', 'sending', 'ready', 'rejected', 'confirmed', 'cancelled'];
const KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'];
const filter = { page: 0, state: '', kind: '', code: '' };
let lastAddress;

/** `#/plans`, `#/plans/<state>`, or `#/plans/<kind>/<code>`, with `/<use>` if it is not the first use of the code. */
export async function load(address) {
  const [first, code, use] = address;
  if (code !== undefined) return { entry: await read('outbox/entry', { kind: first, code, use }) };
  // A new address sets the state filter; after that the buttons set it.
  if (address !== lastAddress) Object.assign(filter, { page: 0, state: STATES.includes(first) ? first : '' });
  lastAddress = address;
  return { board: await read('outbox', filter) };
}

const boardHref = () => (filter.state === '' ? '#/plans' : `#/plans/${filter.state}`);

export const render = ({ entry, board }) => (entry === undefined ? showBoard(board) : entryPage(entry, boardHref()));

const showBoard = ({ counts, attention, deadline, found, ...list }) => [
  el('h1', {}, 'Plans'),
  attention.length === 0 ? null : needsPerson(attention),
  deadline === null ? null : deadlineBanner(deadline),
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
        placeholder: 'part of the code',
        autocomplete: 'off',
      }),
    ),
    el(
      'label',
      {},
      el('span', {}, 'Kind'),
      el(
        'select',
        { 'data-filter': 'kind' },
        ['', ...KINDS].map((kind) =>
          el('option', { value: kind, selected: kind === filter.kind }, kind === '' ? 'all' : kindWords(kind)),
        ),
      ),
    ),
    actionsOnMany(found),
  ),
  table('Outbox entries, those that need a person first', COLUMNS, list.rows.map(row), 'No entry matches.'),
  pager(list),
];

const kindWords = (kind) => kind.replaceAll('_', ' ');

const needsPerson = (attention) =>
  el(
    'section',
    { class: 'banner bad', 'aria-label': 'Needs a person' },
    el('strong', {}, `${plural(entriesNeeding(attention), 'entry needs', 'entries need')} a person.`),
    el(
      'ul',
      { class: 'needs' },
      attention.map(({ reason, text }) =>
        el('li', { 'data-key': reason }, `${text}. `, el('span', { class: 'hint' }, attentionWords(reason).todo)),
      ),
    ),
  );

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

/** Null unless every entry of the state allows the actions. */
function actionsOnMany(found) {
  if (!['rejected', 'ready'].includes(filter.state) || found === 0) return null;
  const body = {
    states: [filter.state],
    kind: filter.kind === '' ? undefined : filter.kind,
    code: filter.code === '' ? undefined : filter.code,
  };
  return el(
    'span',
    { class: 'buttons' },
    orderButton(`Retry all ${count(found)}`, 'outbox/retry-many', { body, many: 'retry' }),
    orderButton(`Cancel all ${count(found)}`, 'outbox/cancel-many', { body, many: 'cancel' }),
  );
}

function deadlineBanner({ at: by, due_at, confirmed, open }) {
  const isPast = Date.parse(due_at) < Date.now();
  const tone = open === 0 ? 'ok' : isPast ? 'bad' : 'late';
  return el(
    'section',
    { class: `banner ${tone}`, 'aria-label': 'Deadline' },
    el(
      'strong',
      {},
      open === 0
        ? 'Every plan for tomorrow is confirmed. '
        : `${plural(open, 'plan')} for tomorrow ${open === 1 ? 'is' : 'are'} not confirmed. `,
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
  { name: 'Message', class: 'wide' },
  { name: 'Changed' },
];

const keyOf = ({ kind, external_code, code_use }) =>
  [kind, external_code, ...(code_use === 1 ? [] : [code_use])].map(encodeURIComponent).join('/');

/** Null if there is no message, so that a narrow screen leaves the line out. */
function whatOf({ message, reasons }) {
  const words = [message, ...reasons].filter(Boolean).join('; ');
  return words === '' ? null : el('span', { dir: 'auto' }, words);
}

const row = (entry) => ({
  key: keyOf(entry),
  class: entry.needs_person !== null ? 'row-bad' : entry.state === 'unknown' ? 'row-late' : '',
  cells: [
    [
      el('a', { href: `#/plans/${keyOf(entry)}`, dir: 'auto' }, entry.external_code),
      entry.code_use === 1 ? null : el('span', { class: 'meaning' }, `use ${entry.code_use} of the code`),
    ],
    el('span', { class: 'pills' }, pill(entry.state), attentionPill(entry)),
    kindWords(entry.kind),
    entry.period_start === null ? null : dayAndTime(entry.period_start),
    whatOf(entry),
    ticking('ago', entry.updated_at),
  ],
});

export function click(event, again) {
  const button = event.target.closest('[data-state], [data-page]');
  if (button === null) return;
  if (button.dataset.page !== undefined) filter.page = Number(button.dataset.page);
  else {
    Object.assign(filter, { state: button.dataset.state, page: 0 });
    history.replaceState(null, '', boardHref());
  }
  again();
}

let typing;

export function input(event, again) {
  const { filter: name } = event.target.dataset;
  if (name === undefined) return;
  Object.assign(filter, { [name]: event.target.value, page: 0 });
  clearTimeout(typing);
  typing = setTimeout(again, 200);
}
