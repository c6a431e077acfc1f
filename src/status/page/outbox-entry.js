// One outbox entry: why it needs a person, its actions, its facts and its history.
import { el } from './dom.js';
import { orderButton } from './orders.js';
import { attentionPill, attentionWords, fullTime, pill } from './words.js';

export const entryPage = (entry, back) => [
  el('p', { class: 'back' }, el('a', { href: back }, '← All plans')),
  el(
    'h1',
    {},
    el('span', { dir: 'auto', class: 'code' }, entry.external_code),
    ' ',
    pill(entry.state),
    ' ',
    attentionPill(entry),
  ),
  entry.needs_person === null ? null : whyAPerson(entry),
  el('p', { class: 'lead', dir: 'auto' }, entry.message ?? ''),
  entry.reasons.length === 0
    ? null
    : el(
        'ul',
        { class: 'reasons' },
        entry.reasons.map((reason) => el('li', { dir: 'auto' }, reason)),
      ),
  el('p', { class: 'buttons' }, actions(entry)),
  el(
    'dl',
    { class: 'facts' },
    FACTS.map(([name, of]) => [name, of(entry)])
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', { dir: 'auto' }, value))),
  ),
  el('h2', {}, 'History'),
  entry.attempts.length === 0
    ? el('p', { class: 'empty' }, 'This entry was never sent or read back.')
    : el('ol', { class: 'history' }, entry.attempts.map(attempt)),
];

function whyAPerson({ needs_person: reason }) {
  const { says, todo } = attentionWords(reason);
  return el(
    'section',
    { class: 'banner bad', 'aria-label': 'Needs a person' },
    el('strong', {}, `This entry needs a person. ${says} `),
    el('span', { class: 'hint' }, todo),
  );
}

/** For these reasons a person who has checked the service may say that the item is absent. */
const MAY_BE_ABSENT = ['never_shown', 'inconclusive', 'retries_exhausted'];

function actions(entry) {
  const { kind, external_code: code, code_use: use, state, attention } = entry;
  const body = { kind, code, use };
  if (state === 'sending')
    return el('span', { class: 'hint' }, 'This entry is being sent now; there are no actions until that ends.');
  const isReadBack = state === 'unknown' || (state === 'confirmed' && attention !== null);
  return [
    isReadBack || state !== 'confirmed'
      ? orderButton(isReadBack ? 'Read back again' : 'Retry', 'outbox/retry', { body })
      : null,
    state === 'unknown' || MAY_BE_ABSENT.includes(attention)
      ? orderButton('Not at the service: send it', 'outbox/retry', {
          body: { ...body, not_there: true },
          sure: 'Press again to confirm: I checked the service, it is not there. Send it',
        })
      : null,
    state === 'cancelled' || (state === 'confirmed' && attention === null) ? null : cancelButton(entry, body),
  ];
}

function cancelButton({ state, sent_hash, remote_id }, body) {
  const mayBeThere =
    ['unknown', 'confirmed'].includes(state) || (state === 'ready' && sent_hash !== null && remote_id === null);
  return mayBeThere
    ? orderButton('Cancel', 'outbox/cancel', {
        body: { ...body, force: true },
        sure: 'It may be at the service. Press again to cancel it',
      })
    : orderButton('Cancel', 'outbox/cancel', { body, sure: 'Press again to cancel it' });
}

const time = (instant) => instant && fullTime(instant);

const FACTS = [
  ['Kind', ({ kind }) => kind.replaceAll('_', ' ')],
  ['Use of the code', ({ code_use }) => (code_use === 1 ? null : code_use)],
  ['Identifier at the service', (e) => e.remote_id],
  ['Status there', (e) => e.remote_status],
  ['Source', (e) => e.origin],
  ['Starts', (e) => time(e.period_start)],
  ['Ends', (e) => time(e.period_end)],
  ['Received', (e) => time(e.created_at)],
  ['Sent', (e) => time(e.sent_at)],
  ['Confirmed', (e) => time(e.confirmed_at)],
  ['Shown by the service', (e) => time(e.seen_at)],
  ['Unknown since', (e) => time(e.unknown_since)],
  ['Next attempt', (e) => time(e.next_attempt_at)],
  ['ERP notified', notified],
  ['Changed after the push', (e) => (e.changed_after_push ? 'yes; the service has no call to change it' : null)],
];

/** The ERP is notified of every state except the two before an outcome. */
function notified({ state, told_at }) {
  if (told_at !== null) return fullTime(told_at);
  return ['ready', 'sending'].includes(state) ? null : 'not yet';
}

const KINDS_OF_ATTEMPT = {
  create: 'Sent',
  change: 'Change sent',
  'read-back': 'Read back',
  action: 'Action by a person',
};

const OUTCOMES = {
  accepted: { tone: 'ok' },
  rejected: { tone: 'bad' },
  unclear: { tone: 'late' },
  'turned-away': { word: 'turned away', tone: 'still' },
  'not-sent': { word: 'not sent', tone: 'still' },
  found: { tone: 'ok' },
  absent: { tone: 'still' },
  inconclusive: { tone: 'late' },
  unreadable: { tone: 'late' },
  retried: { tone: 'new' },
  'asserted-absent': { word: 'reported absent', tone: 'new' },
  cancelled: { tone: 'still' },
  'acknowledged-again': { word: 'acknowledged again', tone: 'new' },
};

function attempt({ what, started_at, outcome, http_status, message, times, number }) {
  const { word = outcome ?? 'open', tone = 'new' } = OUTCOMES[outcome] ?? {};
  return el(
    'li',
    { 'data-key': number },
    el(
      'p',
      {},
      el('strong', {}, KINDS_OF_ATTEMPT[what] ?? what),
      ' ',
      pill(word, tone),
      times > 1 ? ` ${times} times` : '',
      http_status === null ? '' : ` HTTP ${http_status}`,
    ),
    el('p', { class: 'faint' }, fullTime(started_at)),
    message === null ? null : el('p', { dir: 'auto' }, message),
  );
}
