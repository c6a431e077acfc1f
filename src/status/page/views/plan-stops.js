// @ts-check
// The stops that the ERP wants and those that the service has, side by side, with the differences marked.
import { html } from '../html.js';
import { Table } from '../parts/table.js';
import { Foreign, Pill } from '../parts/words.js';
import { t, word } from '../texts.js';
import { dayAndTime } from '../words.js';

/** Places that are closer than this, in degrees, are the same: about a metre. */
const SAME_PLACE = 1e-5;

/**
 * Pairs of stops: those of the same name, then what is left on either side. Equal names pair in their order.
 * @param {any[]} sent
 * @param {any[]} remote
 */
export function pairsOf(sent, remote) {
  const left = [...remote];
  const pairs = sent.map((own) => {
    const at = left.findIndex(({ name }) => name === own.name);
    return { own, there: at === -1 ? null : left.splice(at, 1)[0] };
  });
  return [...pairs, ...left.map((there) => ({ own: null, there }))].map((pair) => ({
    ...pair,
    differs: differences(pair),
  }));
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

/** `isExpected`: the service should have the plan, or may have it. */
export function StopsCompared({ content, remote, isExpected }) {
  if (!content && !remote) return null;
  const pairs = pairsOf(content?.stops ?? [], remote?.stops ?? []);
  const isBoth = Boolean(content && remote);
  const rows = pairs.map(({ own, there, differs }, n) => ({
    key: String(n),
    class: isBoth && differs.length > 0 ? 'row-late' : '',
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
