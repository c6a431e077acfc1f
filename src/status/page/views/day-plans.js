// @ts-check
// The plans of a day for the back office: what the ERP offered and what the service has, in one table.
import { entryHref, href } from '../address.js';
import { html } from '../html.js';
import { useData } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Faint, Foreign, Loaded, Panel, Pill } from '../parts/words.js';
import { t, word } from '../texts.js';
import { clockTime, count } from '../words.js';
import { EntryMessage } from './plans.js';

/** @type {Record<string, string>} */
const TONES = { in: 'ok', received: 'new', rejected: 'bad', unknown: 'late' };

export function DayPlans({ day, refresh }) {
  const plans = useData('day', { day }, refresh);
  return html`<${Panel} name=${t('dayPlans.title')}>
    <${Loaded} of=${plans}>${(data) => html`
      <p class="pills">${Object.entries(data.steps).map(([step, n]) => html`<span key=${step}><${Pill} group="step" state=${step} tone=${TONES[step] ?? 'still'} /> ${count(n)}</span>`)}</p>
      <div class="scroll" tabindex="0" role="group" aria-label=${t('dayPlans.title')}>
        <${Table} caption=${t('dayPlans.caption')} columns=${columns()} rows=${data.rows.map((row) => planRow(row, data.day))}
          empty=${data.read_until === null ? t('today.notRead') : t('today.noPlan')} /></div>
      ${data.cut ? html`<p class="hint">${t('dayPlans.cut', { n: data.rows.length })}</p>` : null}`}<//>
  <//>`;
}

const columns = () => [
  { name: t('column.code'), class: 'code' },
  { name: t('column.state') },
  { name: t('column.starts'), class: 'short' },
  { name: t('dayPlans.vehicle') },
  { name: t('dayPlans.driver') },
  { name: t('dayPlans.stops'), class: 'short' },
  { name: t('today.late'), class: 'number' },
  { name: t('column.message'), class: 'wide' },
  { name: t('dayPlans.more'), unseen: true },
];

const planRow = ({ code, step, start, entry, plan }, day) => ({
  key: `${code} ${entry?.code_use} ${plan?.id}`,
  class: step === 'rejected' ? 'row-bad' : step === 'unknown' ? 'row-late' : '',
  cells: [
    entry === null
      ? html`<${Foreign}>${code ?? t('today.planId', { id: String(plan?.id) })}<//>`
      : html`<a href=${entryHref(entry)} dir="auto">${code}</a>`,
    html`<span class="pills"><${Pill} group="step" state=${step} tone=${TONES[step] ?? 'still'} />
      ${plan?.status ? html`<span class="faint">${word('planStatus', plan.status)}</span>` : null}</span>`,
    start === null ? null : clockTime(start),
    plan?.vehicle_plate && html`<${Foreign}>${plan.vehicle_plate}<//>`,
    plan?.user_name && html`<${Foreign}>${plan.user_name}<//>`,
    plan === null
      ? html`<${Faint}>${t('data.notRead')}<//>`
      : t('dayPlans.done', { done: plan.stops_done, stops: plan.stops }),
    plan === null
      ? null
      : plan.stops_late > 0
        ? html`<strong class="late-count">${count(plan.stops_late)}</strong>`
        : '0',
    entry === null ? null : html`<${EntryMessage} entry=${entry} />`,
    html`<span class="links">
      ${plan === null ? null : html`<a href=${href('today', [], { day, plan: plan.id })}>${t('dayPlans.map')}</a>`}
      ${entry?.run_id ? html`<a href=${href('runs', [entry.run_id])}>${t('view.run')}</a>` : null}</span>`,
  ],
});
