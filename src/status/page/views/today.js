// @ts-check
// A day of deliveries: how old its data is, stops by state over the day, late stops, one plan on a map, stops without proof,
// events, vehicles.
import { href, setFilter } from '../address.js';
import { html } from '../html.js';
import { ProgressChart, StackedChart } from '../parts/charts.js';
import { numbered, PlanMap, stopName } from '../parts/map.js';
import { useData, usePage } from '../parts/page.js';
import { BarList } from '../parts/sparks.js';
import { Table } from '../parts/table.js';
import { Card, Empty, Foreign, Loaded, Panel, Time } from '../parts/words.js';
import { rich, t, word } from '../texts.js';
import { clockTime, count, percent, span, weekday, weekdayAndTime } from '../words.js';
import { DayPlans, lateOfErp, MapLink, PlansInShort, total } from './day-plans.js';

/** While changes keep coming, the day is read again this often at most. */
const REFRESH = { everyMs: 15000, ignoresRuns: true };

/** A link may have been typed by hand. Some browsers read the thirtieth of February as a day of March. */
const isDay = (/** @type {string} */ day) =>
  /^\d{4}-\d\d-\d\d$/.test(day) && new Date(Date.parse(`${day}T12:00:00Z`) || 0).toISOString().startsWith(day);

export const TodayView = ({ query: { day = '', plan = '' } }) =>
  day === '' || isDay(day)
    ? html`<${DayView} day=${day} plan=${plan} />`
    : html`<h1 tabindex="-1">${t('view.today')}</h1>
        <p class="wrong" role="alert">${rich('today.noDay', { day: html`<${Foreign}>${day}<//>` })}${' '}<a href="#/today">${t('view.today')}</a></p>`;

function DayView({ day, plan }) {
  const data = useData('today', { day }, REFRESH);
  const plans = useData('day', { day }, REFRESH);
  return html`<${Head} day=${day} today=${data.last?.today} />
    <${Loaded} of=${data}>${(found) => html`<${Day} day=${found} plans=${plans} chosen=${plan} />`}<//>`;
}

/** The day in the address, or the server's today. The step buttons count from the day that was asked for, not the shown one. */
function Head({ day, today = '' }) {
  const asked = day || today;
  const isToday = day === '' || day === today;
  const choose = (/** @type {string} */ value) => setFilter({ day: value === today ? '' : value, plan: '' });
  const step = (/** @type {number} */ days) => () => {
    if (asked === '') return;
    choose(new Date(Date.parse(`${asked}T12:00:00Z`) + days * 86400000).toISOString().slice(0, 10));
  };
  return html`<div class="day-head">
    <h1 tabindex="-1">${isToday ? t('view.today') : weekday(asked)}</h1>
    ${isToday && asked !== '' ? html`<span class="hint">${weekday(asked)}</span>` : null}
    <div class="day-choice">
      <button type="button" class="quiet" aria-label=${t('today.before')} onClick=${step(-1)}>←</button>
      <label><span class="unseen">${t('today.day')}</span>
        <input type="date" value=${asked} min="1970-01-01" max="2199-12-31"
          onChange=${(/** @type {any} */ event) => event.target.value !== '' && choose(event.target.value)} /></label>
      <button type="button" class="quiet" aria-label=${t('today.after')} onClick=${step(1)}>→</button>
      ${isToday ? null : html`<button type="button" class="quiet" onClick=${() => choose(today)}>${t('view.today')}</button>`}
    </div>
  </div>`;
}

/** From the bottom of the stack up. */
const LAYERS = [
  { status: 'E', colour: '--delivered' },
  { status: 'R', colour: '--performed' },
  { status: 'M', colour: '--manual' },
  { status: 'D', colour: '--returned' },
  { status: 'open', colour: '--open' },
];

function Day({ day, plans, chosen }) {
  const { chart, stops } = day;
  const { done, returned, open } = chart.counts;
  const { overview } = usePage();
  const steps = plans.data?.steps;
  const isUnsure = steps === undefined || plans.error !== undefined;
  const ofErp = isUnsure || chart.lateOpen === 0 ? undefined : lateOfErp(plans.data);
  const read = overview?.tables.find(({ name }) => name === 'route_plan')?.read_at;
  const isRead = isReadDay(day);
  /** That nothing is late or open is known only of a day that was read. */
  const figure = (/** @type {number} */ n) => (isRead || n > 0 ? count(n) : '–');
  const layers = LAYERS.filter(({ status }) => chart.states[status] !== undefined);
  const stopWords = Object.entries(chart.byStatus).map(([status, n]) => `${word('stopStatus', status)} ${n}`);
  return html`
    <${Age} read=${read} status=${day.status} isRead=${isRead} />
    <${PlansInShort} plans=${plans} isToday=${day.day === day.today} />
    <ul class="cards" aria-label=${t('today.figures')}>
      <${Card} name=${t('today.plans')} value=${steps === undefined || (!isRead && total(steps) === 0) ? '–' : count(total(steps))}>${steps && stepWords(steps)}<//>
      <${Card} name=${t('today.stopsDone')} value=${isRead || stops > 0 ? t('dayPlans.done', { done, stops }) : '–'} title=${t('today.doneRule')}>${stops > 0 ? percent(done / stops) : isRead ? t('today.nonePlanned') : t('data.notRead')}<//>
      <${Card} name=${t('today.open')} value=${figure(open)}>${t('today.notDone')}<//>
      <${Card} name=${t('today.returned')} value=${figure(returned)} tone=${returned > 0 ? 'bad' : ''}>${t('today.notDelivered')}<//>
      <${Card} name=${t('today.lateNow')} value=${figure(chart.lateOpen)} tone=${chart.lateOpen > 0 ? 'late' : ''} title=${lateRule(day)}>${ofErp === undefined ? null : html`${t('today.lateOfErp', { n: ofErp })}<br />`}${isRead || chart.lateDone > 0 ? t('today.doneLate', { n: chart.lateDone }) : t('data.notRead')}<//>
    </ul>
    <div class="rows"><${DayPlans} plans=${plans} isRead=${isRead} /></div>
    <div class="columns">
      <${Panel} name=${t('today.byStatus')}>${
        stops === 0
          ? html`<${Empty}>${isRead ? t('today.noStops') : t('today.notRead')}<//>`
          : html`<${StackedChart} label="${t('today.byStatus')}: ${stopWords.join(', ')}" period=${day} at=${chart.at}
                layers=${layers.map(({ status, colour }) => ({ colour, values: chart.states[status] }))} />
              <${Legend} keys=${layers.map(({ status, colour }) => [word('stopStatus', status), colour])} />`
      }<//>
      <${Panel} name=${t('today.progress')}>${
        stops === 0
          ? html`<${Empty}>${isRead ? t('today.noStops') : t('today.notRead')}<//>`
          : html`<${ProgressChart} label=${t('today.progressLabel', { done, stops })} planned=${chart.planned} at=${chart.at} done=${chart.done} />
              <${Legend} keys=${[[t('today.planned'), '--muted'], [t('today.doneWord'), '--accent']]} />`
      }<//>
    </div>
    <div class="columns"><${RoutePanel} day=${day} chosen=${chosen} isRead=${isRead} /><${LatePanel} day=${day} isRead=${isRead} /></div>
    <div class="rows"><${ProofPanel} agents=${day.missing_proof} isRead=${isRead} /></div>
    <div class="columns">
      <${Panel} name=${t('today.events')}>${day.events.length === 0 ? html`<${Empty}>${t('today.noEvents')}<//>` : html`<${Events} events=${day.events} />`}<//>
      <${Panel} name=${t('today.vehicles', { day: weekday(day.vehicles.day) })}>
        ${
          day.vehicles.rows.length === 0
            ? html`<${Empty}>${t('today.noSummaries')}<//>`
            : html`<${BarList} rows=${day.vehicles.rows.map(({ title, total_distance, count_travel }) => ({
                name: title,
                value: total_distance ?? 0,
                words: t('today.trips', { n: count_travel ?? 0, distance: count(Math.round(total_distance ?? 0)) }),
              }))} />`
        }
        <p class="hint">${t('today.distance')}</p>
      <//>
    </div>`;
}

/** As is_on_time of bi_delivery. */
const lateRule = ({ late_after_seconds }) => t('today.lateRule', { span: span(late_after_seconds) });

/** Its beginning was read, and it has no hole. Of a day to come nothing is sure yet. */
const isReadDay = ({ status }) => status !== null && status.status !== 'hole' && status.read_until !== null;

/** `read`: when plans were last read; undefined while that is not known. Also says whether the figures may still change. */
function Age({ read, status, isRead }) {
  if (read === undefined) return null;
  if (read === null)
    return html`<p class="banner late" role="status">${rich('today.neverRead', { job: html`<a href=${href('jobs', ['pull-route-plans'])}>pull-route-plans</a>` })}</p>`;
  if (!isRead)
    return html`<p class="banner late" role="status">${t('today.notAllRead')}${' '}<a href=${href('data')}>${t('view.data')}</a></p>`;
  return html`<p class="hint age">${rich('today.readUntil', { when: html`<${Time} at=${read} />` })}${' '}
    <a href=${href('data')}>${statusWords(status)}</a></p>`;
}

/** @type {(status: {status: string, expected_final_at: string | null}) => string} */
const statusWords = ({ status, expected_final_at }) =>
  status === 'provisional'
    ? expected_final_at === null
      ? t('today.waits')
      : t('today.provisional', { at: weekdayAndTime(expected_final_at) })
    : t('today.final');

const stepWords = (/** @type {Record<string, number>} */ steps) =>
  Object.entries(steps)
    .map(([step, n]) => `${count(n)} ${word('step', step)}`)
    .join(', ') || t('list.none');

const Legend = ({ keys }) =>
  html`<p class="legend">${keys.map(([name, colour]) => html`<span key=${name} class="key ${colour.slice(2)}"><span class="swatch"></span>${name}</span>`)}</p>`;

const MOST_CATEGORIES = 10;

/** The most frequent categories by name, the others as one bar. */
function Events({ events }) {
  const named = events
    .slice(0, MOST_CATEGORIES)
    .map(({ event_category, n }) => ({ name: word('event', event_category), value: n, words: count(n) }));
  const others = events.slice(MOST_CATEGORIES).reduce((sum, { n }) => sum + n, 0);
  return html`<${BarList} rows=${others === 0 ? named : [...named, { name: t('today.others'), value: others, words: count(others), tone: 'still' }]} />`;
}

/** A plan under way first, then a finished one: both show more than one that waits. */
const busiest = (plans) =>
  plans.find(({ status }) => status === 'E') ?? plans.find(({ status }) => status === 'C') ?? plans[0];

function RoutePanel({ day, chosen, isRead }) {
  const plan = day.plans.find(({ id }) => String(id) === chosen) ?? busiest(day.plans);
  const points = useData(plan && 'plan-points', { plan: plan?.id }, REFRESH);
  if (plan === undefined)
    return html`<${Panel} name=${t('today.route')}><${Empty}>${isRead ? t('today.noPlan') : t('today.notRead')}<//><//>`;
  const label = ({ id, external_code, vehicle_plate, status }) =>
    [external_code ?? t('today.planId', { id: String(id) }), vehicle_plate, word('planStatus', status)]
      .filter(Boolean)
      .join(' · ');
  return html`<${Panel} name=${t('today.route')} id="route" tabindex="-1">
    <label class="plan-choice"><span>${t('today.plan')}</span>
      <select value=${plan.id} onChange=${(/** @type {any} */ event) => setFilter({ plan: event.target.value })}>
        ${day.plans.slice(0, 500).map((each) => html`<option key=${each.id} value=${each.id} selected=${each.id === plan.id} dir="auto">${label(each)}</option>`)}
      </select></label>
    <${Loaded} of=${points}>${(data) => {
      const stops = numbered(data.points);
      return html`<${PlanMap} key=${plan.id} stops=${stops} />
        <details class="stops"><summary>${t('today.pointList', { n: stops.length })}</summary><${StopTable} stops=${stops} /></details>`;
    }}<//>
  <//>`;
}

const StopTable = ({ stops }) =>
  html`<${Table} caption=${t('today.points')} columns=${[
    { name: t('column.stop'), class: 'wide' },
    { name: t('column.planned') },
    { name: t('column.executed') },
    { name: t('column.order') },
    { name: t('column.state') },
  ]} rows=${stops.map((stop) => ({
    key: String(stop.id),
    cells: [
      html`<${Foreign}>${stopName(stop)}<//>`,
      stop.time_scheduled === null ? null : clockTime(stop.time_scheduled),
      stop.executed_at === null ? null : clockTime(stop.executed_at),
      stop.driven,
      html`${word('stopStatus', stop.status ?? 'P')}${stop.reason === null ? null : html` (<${Foreign}>${stop.reason}<//>)`}`,
    ],
  }))} empty=${t('list.none')} />`;

function LatePanel({ day, isRead }) {
  const { late, lateOpen, lateDone } = day.chart;
  const plans = new Map(day.plans.map((plan) => [plan.id, plan]));
  const rows = late.map((stop) => ({
    key: String(stop.id),
    cells: [
      html`<${Foreign}>${stop.name ?? t('today.stopId', { id: String(stop.id) })}<//>
        <${PlanOfStop} plan=${plans.get(stop.route_plan_id)} />`,
      html`<strong>${span(stop.late_seconds)}</strong>`,
      clockTime(stop.time_scheduled),
      stop.executed_at === null ? t('stopStatus.open') : word('stopStatus', stop.status),
    ],
  }));
  const columns = [
    { name: t('column.stop'), class: 'wide' },
    { name: t('column.lateBy'), class: 'short' },
    { name: t('column.planned'), class: 'short' },
    { name: t('column.state'), class: 'short' },
  ];
  const name =
    isRead || late.length > 0 ? t('today.lateStops', { open: lateOpen, done: lateDone }) : t('today.lateNow');
  const all = lateOpen + lateDone;
  return html`<${Panel} name=${name}>
    <div class="scroll" tabindex="0" role="group" aria-label=${name}>
      <${Table} caption=${t('today.lateCaption')} columns=${columns} rows=${rows} empty=${isRead ? t('today.nothingLate') : t('today.notRead')} /></div>
    <p class="hint">${lateRule(day)}${all > late.length ? ` ${t('list.shown', { shown: late.length, all })}` : ''}</p>
  <//>`;
}

/** Whom to call about a stop: its plan, vehicle and driver. */
const PlanOfStop = ({ plan }) =>
  plan === undefined
    ? null
    : html`<span class="meaning"><${MapLink} plan=${plan.id}><${Foreign}>${plan.external_code ?? t('today.planId', { id: String(plan.id) })}<//><//>
        ${[plan.vehicle_plate, plan.user_name].filter(Boolean).map((text) => html` · <${Foreign}>${text}<//>`)}</span>`;

/** Executed stops without the evidence that the configuration requires, by driver. */
function ProofPanel({ agents, isRead }) {
  const columns = [
    { name: t('dayPlans.driver'), class: 'wide' },
    { name: t('proof.day'), class: 'short' },
    { name: t('today.stops'), class: 'number' },
    { name: t('proof.byOffice'), class: 'number' },
    { name: t('proof.picture'), class: 'number' },
    { name: t('proof.signature'), class: 'number' },
    { name: t('proof.checklist'), class: 'number' },
    { name: t('proof.which'), class: 'wide' },
  ];
  const rows = agents.map((each) => ({
    key: `${each.day} ${each.agent}`,
    cells: [
      html`<${Foreign}>${each.agent ?? '–'}<//>`,
      each.day === null ? null : weekday(each.day),
      html`<strong>${count(each.stops)}</strong>`,
      count(each.by_office),
      count(each.lacks_picture),
      count(each.lacks_signature),
      count(each.lacks_checklist),
      html`<${Foreign}>${each.which.join(', ')}${each.stops > each.which.length ? ', …' : ''}<//>`,
    ],
  }));
  return html`<${Panel} name=${t('proof.title')}>
    <div class="scroll" tabindex="0" role="group" aria-label=${t('proof.title')}>
      <${Table} caption=${t('proof.title')} columns=${columns} rows=${rows} empty=${isRead ? t('proof.none') : t('today.notRead')} /></div>
  <//>`;
}
