// @ts-check
// The plan that the ERP wants and the one that the service has, side by side, with the differences marked.
import { html } from '../html.js';
import { Table } from '../parts/table.js';
import { Foreign, Pill } from '../parts/words.js';
import { t, word } from '../texts.js';
import { dayAndTime, fullTime } from '../words.js';

/** Places that are closer than this, in degrees, are the same: about a metre. */
const SAME_PLACE = 1e-5;

/** A place that is not known on a side is the same as no other. */
const isSamePlace = (own, there) =>
  ['latitude', 'longitude'].every(
    (field) => own[field] !== null && there[field] !== null && Math.abs(own[field] - there[field]) <= SAME_PLACE,
  );

/** Which of the stops of one name is the same stop, the surest sign first. */
const SIGNS = [(own, there) => own.order !== null && own.order === there.planned_order, isSamePlace, () => true];

/** Those without an order last. */
const byOrder = (orderOf) => (a, b) => (orderOf(a) ?? Number.MAX_VALUE) - (orderOf(b) ?? Number.MAX_VALUE);

/**
 * Pairs of stops of the same name, then what is left on either side, in the order of the stops. Stops may share a name: a
 * depot is start and end, and a privacy policy may hide what distinguishes names.
 * @param {any[]} sent
 * @param {any[]} remote
 */
export function pairsOf(sent, remote) {
  const left = remote.toSorted(byOrder(({ planned_order }) => planned_order));
  const pairs = sent.toSorted(byOrder(({ order }) => order)).map((own) => ({ own, there: null }));
  for (const isSame of SIGNS)
    for (const pair of pairs.filter(({ there }) => there === null)) {
      const at = left.findIndex((there) => there.name === pair.own.name && isSame(pair.own, there));
      if (at !== -1) [pair.there] = left.splice(at, 1);
    }
  return [...pairs, ...left.map((there) => ({ own: null, there }))]
    .toSorted(byOrder(({ own, there }) => own?.order ?? there?.planned_order))
    .map((pair) => ({ ...pair, differs: differences(pair) }));
}

/** The fields that differ; a value that the ERP leaves to the service is no difference. */
function differences({ own, there }) {
  if (own === null) return ['onlyThere'];
  if (there === null) return ['onlyHere'];
  const isMoved = ['latitude', 'longitude'].some(
    (field) => own[field] !== null && there[field] !== null && Math.abs(own[field] - there[field]) > SAME_PLACE,
  );
  const isReordered = own.order !== null && own.order !== there.planned_order;
  return [isMoved && 'place', isReordered && 'order'].filter((field) => field !== false);
}

const columns = () => [
  { name: t('column.stop'), class: 'wide' },
  { name: t('stops.sent') },
  { name: t('stops.there') },
  { name: t('column.state') },
  { name: t('stops.difference') },
];

const facts = (/** @type {number | null} */ order, /** @type {string | null} */ at) =>
  [order, at && dayAndTime(at)].filter((value) => value !== null && value !== '').join(' · ') || '–';

/** Vehicle and times of the plan on both sides; a value that the ERP leaves to the service is no difference. */
export function planFields(content, plan) {
  const { plates } = content;
  const times = [
    { name: t('column.starts'), own: content.starts_at, there: plan.date_time_start },
    { name: t('plan.ends'), own: content.ends_at, there: plan.date_time_end },
  ].map(({ name, ...sides }) => ({ name, own: shownTime(sides.own), there: shownTime(sides.there) }));
  return [
    {
      ...{ name: t('dayPlans.vehicle'), own: plates, there: plan.vehicle_plate },
      // The service chooses one of several plates.
      differs: plates !== null && !plates.split(', ').includes(plan.vehicle_plate),
    },
    ...times.map((field) => ({ ...field, differs: field.own !== null && field.own !== field.there })),
  ];
}

const shownTime = (/** @type {string | null} */ at) => at && fullTime(at);

/** The server names the row or record of a file in English. */
export const originWords = (/** @type {string} */ origin) =>
  origin.replace(/ (row|record) (\d+)$/, (_, what, n) => ` ${t(what === 'row' ? 'plan.row' : 'plan.record', { n })}`);

const fieldColumns = () => [
  { name: t('plan.field'), class: 'wide' },
  { name: t('stops.sent') },
  { name: t('stops.there') },
  { name: t('stops.difference') },
];

/** The plan itself, if both sides are known. `differs`: the two are known to differ. An invalid change is not kept as content. */
export function PlanCompared({ content, remote, differs, isInvalid }) {
  if (!content || !remote) return null;
  const fields = planFields(content, remote.plan);
  const isFound = fields.some((field) => field.differs) || pairsOf(content.stops, remote.stops).some(isDifferent);
  const rows = fields.map((field) => ({
    key: field.name,
    class: field.differs ? 'row-late' : '',
    cells: [
      field.name,
      html`<${Foreign}>${field.own ?? '–'}<//>`,
      html`<${Foreign}>${field.there ?? '–'}<//>`,
      field.differs ? html`<${Pill} group="differs" state="value" tone="late" />` : null,
    ],
  }));
  return html`<h2>${t('plan.compared')}</h2>
    ${content.offered_at === null || isInvalid ? null : html`<p class="hint">${t('plan.offered', { at: dayAndTime(content.offered_at) })} <${Foreign}>${originWords(content.origin ?? '')}<//></p>`}
    ${differs && !isFound && !isInvalid && content.offered_at !== null ? html`<p class="hint">${t('plan.otherField')}</p>` : null}
    <${Table} caption=${t('plan.compared')} columns=${fieldColumns()} rows=${rows} empty=${t('list.none')} />`;
}

const isDifferent = ({ differs }) => differs.length > 0;

/** `isExpected`: the service should have the plan, or may have it. */
export function StopsCompared({ content, remote, isExpected }) {
  if (!content && !remote) return null;
  const pairs = pairsOf(content?.stops ?? [], remote?.stops ?? []);
  const isBoth = Boolean(content && remote);
  const rows = pairs.map(({ own, there, differs }, n) => ({
    key: String(n),
    class: isBoth && isDifferent({ differs }) ? 'row-late' : '',
    cells: [
      html`<${Foreign}>${(own ?? there).name ?? ''}<//>`,
      own?.order ?? '–',
      there === null ? '–' : facts(there.planned_order, there.time_scheduled),
      there === null ? null : word('stopStatus', there.status ?? 'P'),
      isBoth
        ? html`<span class="pills">${differs.map((field) => html`<${Pill} key=${field} group="differs" state=${field} tone="late" />`)}</span>`
        : null,
    ],
  }));
  return html`<h2>${t('stops.title')}</h2>
    ${content ? null : html`<p class="hint">${t('stops.noContent')}</p>`}
    ${remote || !isExpected ? null : html`<p class="hint">${t('stops.noRemote')}</p>`}
    <${Table} caption=${t('stops.title')} columns=${columns()} rows=${rows} empty=${t('list.none')} />`;
}
