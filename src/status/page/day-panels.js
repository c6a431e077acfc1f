// Two panels of a day: the map of one plan with a list of its points, and the late stops.
import { el } from './dom.js';
import { executedOrder, planMap } from './map.js';
import { table } from './tables.js';
import { clockTime, count, span } from './words.js';

export const panel = (name, ...content) =>
  el('section', { class: 'panel', 'aria-label': name }, el('h2', {}, name), content);

export function mapPanel({ plans, plan, points, names }) {
  if (plan === undefined) return panel('Route', el('p', { class: 'empty' }, 'No plan starts on this day.'));
  const drawing = planMap(points);
  return panel(
    'Route',
    el(
      'label',
      { class: 'plan-choice' },
      el('span', {}, 'Plan'),
      el(
        'select',
        { 'data-plan': true },
        plans
          .slice(0, 500)
          .map(({ id, external_code, vehicle_plate, status }) =>
            el(
              'option',
              { value: id, selected: id === plan.id },
              [external_code ?? `Plan ${id}`, vehicle_plate, names.plan[status] ?? status].filter(Boolean).join(' · '),
            ),
          ),
      ),
    ),
    drawing ?? el('p', { class: 'empty' }, 'The points of this plan have no coordinates.'),
    drawing === null
      ? null
      : el(
          'p',
          { class: 'legend' },
          el('span', { class: 'key planned-way' }, el('span', { class: 'swatch' }), 'planned order'),
          el('span', { class: 'key driven-way' }, el('span', { class: 'swatch' }), 'as executed'),
        ),
    el(
      'details',
      { class: 'stops' },
      el('summary', {}, `List of the ${points.length} points`),
      stopTable(points, names),
    ),
  );
}

const STOP_COLUMNS = [
  { name: 'Stop', class: 'wide' },
  { name: 'Planned' },
  { name: 'Executed' },
  { name: 'Order' },
  { name: 'State' },
];

function stopTable(points, names) {
  const driven = new Map(executedOrder(points).map(({ id }, n) => [id, n + 1]));
  const rows = points.map((point, n) => ({
    key: String(point.id),
    cells: [
      el('span', { dir: 'auto' }, `${n + 1}. ${point.name ?? ''}`),
      point.time_scheduled === null ? '' : clockTime(point.time_scheduled),
      point.executed_at === null ? '' : clockTime(point.executed_at),
      driven.has(point.id) ? `${n + 1} → ${driven.get(point.id)}` : '',
      [names.stop[point.status] ?? point.status ?? '', point.reason === null ? '' : ` (${point.reason})`],
    ],
  }));
  return table('Points of the plan', STOP_COLUMNS, rows, 'None.');
}

export function latePanel({ picture, plans, names }) {
  const codes = new Map(plans.map(({ id, external_code }) => [id, external_code]));
  const rows = picture.late.map((stop) => ({
    key: String(stop.id),
    cells: [
      [
        el('span', { dir: 'auto' }, stop.name ?? `Stop ${stop.id}`),
        el('span', { class: 'meaning', dir: 'auto' }, codes.get(stop.route_plan_id) ?? ''),
      ],
      el('strong', {}, span(stop.late_seconds)),
      clockTime(stop.time_scheduled),
      stop.executed_at === null ? 'open' : (names.stop[stop.status] ?? stop.status),
    ],
  }));
  return panel(
    'Late stops',
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Late stops' },
      table('Late stops, the latest first', LATE_COLUMNS, rows, 'Nothing is late.'),
    ),
    picture.lateCount > picture.late.length
      ? el('p', { class: 'hint' }, `The latest ${picture.late.length} of ${count(picture.lateCount)}.`)
      : null,
  );
}

const LATE_COLUMNS = [
  { name: 'Stop', class: 'wide' },
  { name: 'Late by', class: 'short' },
  { name: 'Planned', class: 'short' },
  { name: 'State', class: 'short' },
];
