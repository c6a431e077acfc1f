// @ts-check
// The plans of a day for the back office: what the ERP offered and what the service has, in one table.
import { useState } from 'preact/hooks';
import { entryHref, href, readAddress } from '../address.js';
import { html } from '../html.js';
import { usePage } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { AttentionPill, Faint, Foreign, Loaded, Panel, Pill, Said } from '../parts/words.js';
import { linesOf } from '../reasons.js';
import { rich, t, word } from '../texts.js';
import { clockTime, count, dayAndTime } from '../words.js';
import { EntryMessage } from './plans.js';

/** @type {Record<string, string>} */
const TONES = {
  in: 'ok',
  partial: 'late',
  differs: 'late',
  received: 'new',
  rejected: 'bad',
  gone: 'bad',
  unknown: 'late',
};

/** All plans of the day. */
export const total = (/** @type {Record<string, number>} */ steps) =>
  Object.values(steps).reduce((sum, n) => sum + n, 0);

/**
 * Late open stops of the ERP's plans; undefined if there are no other plans, or if not all are known: the server left out
 * rows, or the stops of a plan that may be at the service were not read.
 */
export function lateOfErp(/** @type {any} */ { steps, rows, cut }) {
  if (!steps.foreign || cut) return undefined;
  const own = rows.filter(
    ({ entry, step }) => entry !== null && !['gone', 'rejected', 'cancelled', 'received'].includes(step),
  );
  if (own.some(({ plan }) => !plan)) return undefined;
  return own.reduce((sum, { plan }) => sum + (plan.stops_late_open ?? 0), 0);
}

/** The day's plans in one line: how many of the ERP's are at the service, and what is wrong with the others. */
export function PlansInShort({ plans: { data, error }, isToday }) {
  const { overview } = usePage();
  if (data === undefined) return null;
  const {
    foreign = 0,
    cancelled = 0,
    partial = 0,
    differs = 0,
    rejected = 0,
    gone = 0,
    unknown = 0,
    received = 0,
  } = data.steps;
  const there = (data.steps.in ?? 0) + partial + differs;
  const needing = data.rows.filter((/** @type {any} */ { entry }) => entry?.needs_person);
  // Of any other step the line says something by itself.
  const isUnsaid = ({ step }) =>
    ['in', 'cancelled', 'received'].includes(step) || (step === 'unknown' && unknown > MOST_NAMED);
  const person = needing.filter(isUnsaid).length;
  const n = total(data.steps) - foreign - cancelled;
  const unread = isToday && overview ? linesOf(overview).find(({ code }) => code === 'push_unreadable') : undefined;
  if (n + needing.length === 0 && unread === undefined) return null;
  const tone =
    rejected + gone + needing.length > 0 ? 'bad' : unknown + received + partial + differs > 0 || unread ? 'late' : 'ok';
  // The table below says of when its figures are: old ones reassure nobody.
  if (tone === 'ok' && error !== undefined) return null;
  const link = (/** @type {string} */ state, /** @type {string} */ words) =>
    html`${' '}<a href=${href('plans', [], { state, kind: 'route_plans', day: data.day })}>${words}</a>`;
  const named = (/** @type {'rejected' | 'unknown'} */ step, /** @type {number} */ many) =>
    many > MOST_NAMED
      ? link(step, t(`dayPlans.${step}`, { n: many }))
      : data.rows
          .filter((/** @type {any} */ row) => row.step === step)
          .map(({ entry }) => html`${' '}<${NAMED[step]} entry=${entry} />`);
  return html`<p class="banner ${tone}">
    ${n === 0 ? null : html`<strong>${t('dayPlans.there', { n, there })}</strong>`}
    ${named('rejected', rejected)}${rejected > 0 ? ` ${t('dayPlans.correct', { n: rejected })}` : null}
    ${partial > 0 ? link('partial', `${t('reason.push_partial', { n: partial })}.`) : null}
    ${differs > 0 ? link('differs', `${t('reason.push_differs', { n: differs })}.`) : null}
    ${gone > 0 ? link('confirmed,partial,differs', t('dayPlans.gone', { n: gone })) : null}
    ${named('unknown', unknown)}
    ${received > 0 ? link('ready,sending', t('dayPlans.received', { n: received })) : null}
    ${person > 0 ? link('', t('dayPlans.person', { n: person })) : null}
    ${unread === undefined ? null : html`${' '}<a href=${href('plans')}>${t('dayPlans.unread', { n: unread.n })}</a>`}
  </p>`;
}

const MOST_NAMED = 3;

const Code = ({ entry }) => html`<a href=${entryHref(entry)} dir="auto">${entry.external_code}</a>`;

const Rejected = ({ entry }) =>
  rich('dayPlans.wasRejected', {
    code: html`<${Code} entry=${entry} />`,
    why:
      entry.reasons.length > 0
        ? html`<${Foreign}>${entry.reasons[0].replace(/\.$/, '')}<//>`
        : html`<${Said}>${entry.message}<//>`,
  });

const Unknown = ({ entry }) =>
  html`${rich('dayPlans.isUnknown', { code: html`<${Code} entry=${entry} />` })}${' '}<${AttentionPill} entry=${entry} />`;

/** The steps of which a few plans are named. */
const NAMED = { rejected: Rejected, unknown: Unknown };

/** Rows that are shown at first. */
const FIRST_ROWS = 20;

export function DayPlans({ plans, isRead }) {
  const [isAll, setAll] = useState(false);
  return html`<${Panel} name=${t('dayPlans.title')}>
    <${Loaded} of=${plans}>${(data) => {
      const rows = isAll ? data.rows : data.rows.slice(0, FIRST_ROWS);
      const all = total(data.steps);
      return html`<${Table} caption=${t('dayPlans.caption')} columns=${columns()} rows=${rows.map((row) => planRow(row))}
          empty=${isRead ? t('today.noPlan') : t('today.notRead')} />
        ${
          rows.length === all
            ? null
            : html`<p class="hint">${t('list.shown', { shown: rows.length, all })}${' '}
              ${isAll ? null : html`<button type="button" class="quiet" onClick=${() => setAll(true)}>${t('dayPlans.showAll')}</button>`}</p>`
        }`;
    }}<//>
  <//>`;
}

/**
 * Shows a plan on the map, and goes there. The day stays as it is in the address: another one would be read first, and the
 * map would be gone until then.
 * @param {{plan: number, children?: any}} props
 */
export const MapLink = ({ plan, children }) =>
  html`<a href=${href('today', [], { ...readAddress().query, plan })} onClick=${() => document.getElementById('route')?.focus()}>${children}</a>`;

const columns = () => [
  { name: t('column.code'), class: 'code' },
  { name: t('column.state') },
  { name: t('column.starts'), class: 'short' },
  { name: t('dayPlans.vehicle') },
  { name: t('dayPlans.driver') },
  { name: t('today.stopsDone'), class: 'short' },
  { name: t('today.lateNow'), class: 'number' },
  { name: t('dayPlans.doneLate'), class: 'number' },
  { name: t('column.message'), class: 'wide' },
  { name: t('dayPlans.more'), unseen: true },
];

/** Steps in which nothing of the plan is at the service. */
const NOT_THERE = ['received', 'rejected', 'cancelled', 'gone'];

const shownText = (/** @type {string | null | undefined} */ text) => text && html`<${Foreign}>${text}<//>`;

/** The ERP offered the plan after its start. */
const ReceivedLate = ({ entry }) =>
  entry === null || entry.created_at <= entry.period_start
    ? null
    : html`<span class="meaning late-count">${t('dayPlans.receivedAt', { at: dayAndTime(entry.created_at) })}</span>`;

const rowClass = ({ step, entry }) =>
  TONES[step] === 'bad' || entry?.needs_person ? 'row-bad' : TONES[step] === 'late' ? 'row-late' : '';

/** A plan that is gone from the service has no progress and no map. */
const planRow = ({ code, step, start, entry, plan: known }, plan = step === 'gone' ? null : known) => ({
  key: `${code} ${entry?.code_use} ${known?.id}`,
  class: rowClass({ step, entry }),
  cells: [
    entry === null
      ? html`<${Foreign}>${code ?? t('today.planId', { id: String(plan?.id) })}<//>`
      : html`<a href=${entryHref(entry)} dir="auto">${code}</a>`,
    html`<span class="pills"><${Pill} group="step" state=${step} tone=${TONES[step] ?? 'still'} />
      ${entry === null ? null : html`<${AttentionPill} entry=${entry} />`}
      ${plan?.status ? html`<span class="faint">${word('planStatus', plan.status)}</span>` : null}</span>`,
    start === null ? null : html`${clockTime(start)}<${ReceivedLate} entry=${entry} />`,
    shownText(known?.vehicle_plate ?? entry?.vehicle_plate),
    shownText(known?.user_name),
    plan === null
      ? html`<${Faint}>${t(NOT_THERE.includes(step) ? 'dayPlans.notThere' : 'data.notRead')}<//>`
      : html`${t('dayPlans.done', { done: plan.stops_done, stops: plan.stops })}
          ${plan.stops_returned > 0 ? html`<span class="meaning">${t('dayPlans.returned', { n: plan.stops_returned })}</span>` : null}`,
    plan === null
      ? null
      : plan.stops_late_open > 0
        ? html`<strong class="late-count">${count(plan.stops_late_open)}</strong>`
        : '0',
    plan === null ? null : count(plan.stops_late - plan.stops_late_open),
    entry === null ? null : html`<${EntryMessage} entry=${entry} />`,
    html`<span class="links">
      ${plan === null ? null : html`<${MapLink} plan=${plan.id}>${t('dayPlans.map')}<//>`}
      ${entry?.run_id ? html`<a href=${href('runs', [entry.run_id])}>${t('view.run')}</a>` : null}</span>`,
  ],
});
