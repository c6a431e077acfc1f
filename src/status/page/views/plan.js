// @ts-check
// The story of one outbox entry: why it needs a person, its actions, its facts, every attempt and every action.
import { href } from '../address.js';
import { html } from '../html.js';
import { ActionButton } from '../parts/action.js';
import { useData } from '../parts/page.js';
import { Empty, EntryPills, Facts, Foreign, Loaded, Pill, Said } from '../parts/words.js';
import { t, word } from '../texts.js';
import { dayAndTime, fullTime } from '../words.js';
import { originWords, PlanCompared, StopsCompared } from './plan-stops.js';

export function PlanStory({ kind, code, use }) {
  const entry = useData('outbox/entry', { kind, code, use });
  return html`<p class="back"><a href=${href('plans')}>← ${t('plan.back')}</a></p>
    <h1 tabindex="-1"><span dir="auto" class="code">${code}</span>
      ${entry.data === undefined ? null : html`${' '}<${EntryPills} entry=${entry.data} />`}</h1>
    <${Loaded} of=${entry}>${(data) => html`<${Story} entry=${data} />`}<//>`;
}

/** The message of an entry to which the ERP made a change that cannot be sent. */
const CHANGED_INVALIDLY = /^The ERP changed it in an invalid way/;

const Story = ({ entry }) => html`
  ${
    entry.needs_person === null
      ? null
      : html`<section class="banner bad" aria-label=${t('plans.needsPerson')}>
          <strong>${t('plan.needs')} ${word('says', entry.needs_person)}</strong>${' '}<span class="hint">${word('todo', entry.needs_person)}</span></section>`
  }
  ${entry.remote?.gone_since ? html`<p class="banner ${entry.state === 'cancelled' ? 'still' : 'bad'}">${t('plan.gone', { at: dayAndTime(entry.remote.gone_since) })}</p>` : null}
  ${entry.message ? html`<p class="lead"><${Said}>${entry.message}<//>${entry.reasons.length === 0 ? '' : ':'}${entry.reasons.length === 1 ? html` <${Foreign}>${entry.reasons[0]}<//>` : null}</p>` : null}
  ${entry.message && entry.reasons.length < 2 ? null : html`<ul class="reasons">${entry.reasons.map((reason) => html`<li><${Foreign}>${reason}<//></li>`)}</ul>`}
  ${entry.state === 'rejected' ? html`<p class="hint">${rejectedText(entry)}</p>` : null}
  ${['partial', 'differs'].includes(entry.shown_state) ? html`<p class="hint">${word('stateTodo', entry.shown_state)}</p>` : null}
  <p class="buttons"><${EntryActions} entry=${entry} /></p>
  <${Facts} facts=${factsOf(entry)} />
  <${PlanCompared} content=${entry.content} remote=${entry.remote} differs=${entry.shown_state === 'differs'} isInvalid=${CHANGED_INVALIDLY.test(entry.message ?? '')} />
  <${StopsCompared} content=${entry.content} remote=${entry.remote} isExpected=${entry.state !== 'rejected'} />
  <h2>${t('plan.history')}</h2>
  ${
    entry.attempts.length === 0
      ? html`<${Empty}>${t('plan.noHistory')}<//>`
      : html`<ol class="history">${entry.attempts.map((attempt) => html`<${Attempt} key=${attempt.number} attempt=${attempt} />`)}</ol>`
  }
  ${
    entry.actions.length === 0
      ? null
      : html`<h2>${t('plan.actions')}</h2><ol class="history">${entry.actions.map(
          ({
            id,
            at,
            action,
            by,
            outcome,
          }) => html`<li key=${id}><p><strong>${word('did', action)}</strong> <${Said}>${outcome}<//></p>
            <p class="faint">${fullTime(at)} · <span dir="auto">${by}</span></p></li>`,
        )}</ol>`
  }`;

/** Where a rejected item is, who knows of it, and what to do. */
function rejectedText({ remote_id, sent_hash, told_at, from_files, has_content, content_until }) {
  const there = remote_id !== null ? 'rejected.older' : sent_hash !== null ? 'rejected.notSeen' : 'rejected.notThere';
  return [
    t(there),
    told_at === null ? t('rejected.notNotified') : t('rejected.notified', { at: dayAndTime(told_at) }),
    from_files ? t('rejected.files') : t('rejected.erp'),
    has_content ? t('rejected.retry') : t('rejected.gone'),
    content_until === null ? '' : t('rejected.kept', { at: dayAndTime(content_until) }),
  ].join(' ');
}

/** For these reasons a person who has checked the service may say that the item is absent. */
const MAY_BE_ABSENT = ['never_shown', 'inconclusive', 'retries_exhausted'];

function EntryActions({ entry }) {
  const { kind, external_code: code, code_use: use, state, attention } = entry;
  const body = { kind, code, use };
  if (state === 'sending') return html`<span class="hint">${t('plan.beingSent')}</span>`;
  const isReadBack = state === 'unknown' || (state === 'confirmed' && attention !== null);
  const isDone = state === 'confirmed' && attention === null;
  return [
    isDone
      ? null
      : isReadBack
        ? html`<${ActionButton} key="read" path="outbox/retry" body=${body}>${t('action.readBack')}<//>`
        : html`<${ActionButton} key="retry" path="outbox/retry" body=${body}
            question=${{ title: t('retry.title', { code }), text: html`<p>${entry.has_content && state !== 'cancelled' ? t('retry.text') : t('retry.offerAgain')}</p>` }}>${t('action.retry')}<//>`,
    state === 'unknown' || MAY_BE_ABSENT.includes(attention)
      ? html`<${ActionButton} key="absent" path="outbox/retry" body=${{ ...body, not_there: true }}
          question=${{ title: t('absent.title', { code }), text: html`<p>${t('absent.text')}</p>` }}>${t('action.absent')}<//>`
      : null,
    state === 'cancelled' || isDone
      ? null
      : html`<${ActionButton} key="cancel" path="outbox/cancel" body=${mayBeThere(entry) ? { ...body, force: true } : body}
          question=${{ title: t('cancel.title', { code }), text: html`<p>${mayBeThere(entry) ? t('cancel.mayBeThere') : t('cancel.text')}</p>`, confirm: kind === 'route_plans' ? t('cancel.plan') : t('cancel.item'), back: t('cancel.back') }}>${t('action.cancel')}<//>`,
  ];
}

const mayBeThere = ({ state, sent_hash, remote_id }) =>
  ['unknown', 'confirmed'].includes(state) || (state === 'ready' && sent_hash !== null && remote_id === null);

const time = (/** @type {string | null} */ instant) => instant && fullTime(instant);

const factsOf = (entry) => [
  [t('column.kind'), word('kind', entry.kind)],
  [t('plan.use'), entry.code_use === 1 ? null : entry.code_use],
  [t('dayPlans.vehicle'), entry.vehicle && html`<${Foreign}>${entry.vehicle}<//>`],
  [t('plan.remoteId'), entry.remote_id],
  [t('plan.remoteStatus'), entry.remote_status && word('planStatus', entry.remote_status)],
  [t('plan.source'), entry.origin && html`<${Foreign}>${originWords(entry.origin)}<//>`],
  [t('column.starts'), time(entry.period_start)],
  [t('plan.ends'), time(entry.period_end)],
  [t('plan.received'), time(entry.created_at)],
  [t('plan.sent'), time(entry.sent_at)],
  [t('plan.lookedFor'), time(lastAttempt(entry, 'read-back')?.finished_at ?? null)],
  [t('plan.answer'), lastAnswer(entry)],
  [t('plan.confirmed'), time(entry.confirmed_at)],
  [t('plan.shown'), time(entry.seen_at)],
  [t('plan.unknownSince'), time(entry.unknown_since)],
  [t('plan.next'), time(entry.next_attempt_at)],
  [t('plan.notified'), notified(entry)],
];

const lastAttempt = ({ attempts }, /** @type {string[]} */ ...kinds) =>
  attempts.findLast((/** @type {any} */ { what }) => kinds.includes(what));

/** What came back of the last send, while nobody knows what became of it. */
function lastAnswer(entry) {
  const sent = entry.state === 'unknown' ? lastAttempt(entry, 'create', 'change') : undefined;
  return sent?.message && html`<${Said}>${sent.message}<//>`;
}

/** The ERP is notified of every state except the two before an outcome. */
function notified({ state, told_at }) {
  if (told_at !== null) return fullTime(told_at);
  return ['ready', 'sending'].includes(state) ? null : t('plan.notYet');
}

/** @type {Record<string, string>} */
const TONES = {
  accepted: 'ok',
  found: 'ok',
  rejected: 'bad',
  unclear: 'late',
  inconclusive: 'late',
  unreadable: 'late',
  retried: 'new',
  'asserted-absent': 'new',
  'acknowledged-again': 'new',
};

const Attempt = ({
  attempt: { what, started_at, finished_at, outcome, http_status, message, times, run_id },
}) => html`<li>
  <p><strong>${word('attempt', what)}</strong>${' '}<${Pill} group="outcome" state=${outcome ?? 'open'} tone=${TONES[outcome] ?? 'still'} />
    ${times > 1 ? ` ${t('plan.times', { n: times })}` : ''}${http_status === null ? '' : ` HTTP ${http_status}`}</p>
  <p class="faint">${fullTime(started_at)}${times > 1 && finished_at ? ` – ${fullTime(finished_at)}` : ''}${run_id ? html` · <a href=${href('runs', [run_id])}>${t('view.run')}</a>` : null}</p>
  ${message === null ? null : html`<p><${outcome === 'rejected' ? Foreign : Said}>${message}<//></p>`}
</li>`;
