// A day of deliveries: stops by state over the day, late stops, one plan on a map, events and vehicles.
import { read } from '../api.js';
import { progressChart, stackedChart } from '../charts.js';
import { latePanel, mapPanel, panel } from '../day-panels.js';
import { el } from '../dom.js';
import { barList } from '../pictures.js';
import { count, span, weekday } from '../words.js';

export const title = 'Today';

const chosen = { day: '', plan: '' };

export async function load() {
  const day = await read('today', { day: chosen.day });
  const plan = day.plans.find(({ id }) => String(id) === chosen.plan) ?? busiest(day.plans);
  const points = plan === undefined ? [] : (await read('plan-points', { plan: plan.id })).points;
  return { ...day, plan, points };
}

/** A plan under way first, then a finished one: both show more than one that waits. */
const busiest = (plans) =>
  plans.find(({ status }) => status === 'E') ?? plans.find(({ status }) => status === 'C') ?? plans[0];

/** From the bottom of the stack up. */
const LAYERS = [
  { status: 'E', colour: '--delivered' },
  { status: 'R', colour: '--performed' },
  { status: 'M', colour: '--manual' },
  { status: 'D', colour: '--returned' },
  { status: 'open', colour: '--open' },
];

const layersOf = ({ picture }) => LAYERS.filter(({ status }) => picture.states[status] !== undefined);

export function render(day) {
  const { picture, stops, names } = day;
  const open = picture.byStatus.P ?? 0;
  const isToday = day.day === day.today;
  return [
    el(
      'div',
      { class: 'day-head' },
      el('h1', {}, isToday ? 'Today' : weekday(day.day)),
      el(
        'div',
        { class: 'day-choice' },
        el('button', { type: 'button', class: 'quiet', 'data-step': -1, 'aria-label': 'The day before' }, '←'),
        el(
          'label',
          {},
          el('span', { class: 'unseen' }, 'Day'),
          el('input', {
            type: 'date',
            'data-day': true,
            value: day.day,
            min: '1970-01-01',
            max: '2199-12-31',
          }),
        ),
        el('button', { type: 'button', class: 'quiet', 'data-step': 1, 'aria-label': 'The day after' }, '→'),
        isToday ? null : el('button', { type: 'button', class: 'quiet', 'data-today': true }, 'Today'),
      ),
    ),
    el(
      'ul',
      { class: 'cards', 'aria-label': 'The day in figures' },
      figure('Plans', count(day.plans.length), planWords(day)),
      figure(
        'Stops',
        count(stops),
        stops === 0 ? 'none planned' : `${Math.round(((stops - open) / stops) * 100)} % done`,
      ),
      figure('Open', count(open), 'not done yet'),
      figure('Returned', count(picture.byStatus.D ?? 0), 'not delivered', picture.byStatus.D > 0 ? 'bad' : ''),
      figure(
        'Late',
        count(picture.lateCount),
        `by more than ${span(day.late_after_seconds)}`,
        picture.lateCount > 0 ? 'late' : '',
      ),
    ),
    el(
      'div',
      { class: 'columns' },
      panel(
        'Deliveries by status',
        chartFrame(
          'stacked',
          `Stops by status over the day: ${Object.entries(picture.byStatus)
            .map(([status, n]) => `${names.stop[status] ?? status} ${n}`)
            .join(', ')}`,
          stops,
        ),
        stops === 0
          ? null
          : legend(
              layersOf(day).map(({ status, colour }) => [
                status === 'open' ? 'Open' : (names.stop[status] ?? status),
                colour,
              ]),
            ),
      ),
      panel(
        'Planned and done',
        chartFrame(
          'progress',
          `Stops planned and done over the day: ${picture.done.at(-1) ?? 0} of ${stops} done`,
          stops,
        ),
        stops === 0
          ? null
          : legend([
              ['Planned', '--muted'],
              ['Done', '--accent'],
            ]),
      ),
    ),
    el('div', { class: 'columns' }, mapPanel(day), latePanel(day)),
    el(
      'div',
      { class: 'columns' },
      panel(
        'Events by category',
        day.events.length === 0 ? el('p', { class: 'empty' }, 'No events for this day.') : eventBars(day.events, names),
      ),
      panel(
        `Vehicles on ${weekday(day.vehicles.day)}`,
        day.vehicles.rows.length === 0
          ? el('p', { class: 'empty' }, 'No summaries for this day yet.')
          : barList(
              day.vehicles.rows.map(({ title: name, total_distance: distance, count_travel: trips }) => ({
                name,
                value: distance ?? 0,
                words: `${count(Math.round(distance ?? 0))} · ${count(trips ?? 0)} trips`,
              })),
            ),
        el('p', { class: 'hint' }, 'Distance travelled, in the unit of the service, and trips.'),
      ),
    ),
  ];
}

const figure = (name, value, words, tone = '') =>
  el(
    'li',
    { class: `card ${tone}` },
    el(
      'div',
      { class: 'card-inside' },
      el('span', { class: 'card-name' }, name),
      el('span', { class: 'card-value' }, value),
      el('span', { class: 'card-words' }, words),
    ),
  );

function planWords({ plans, names }) {
  const groups = Map.groupBy(plans, ({ status }) => names.plan[status] ?? status ?? 'unknown');
  return [...groups].map(([name, own]) => `${own.length} ${name.toLowerCase()}`).join(', ') || 'none';
}

const chartFrame = (name, label, stops) =>
  stops === 0
    ? el('p', { class: 'empty' }, 'No stops are planned for this day.')
    : el('div', { class: 'chart', role: 'img', 'aria-label': label, 'data-chart': name, 'data-drawn': true });

const legend = (keys) =>
  el(
    'p',
    { class: 'legend' },
    keys.map(([name, colour]) =>
      el('span', { class: `key ${colour.slice(2)}` }, el('span', { class: 'swatch' }), name),
    ),
  );

/** The most frequent categories by name, the others as one bar. */
function eventBars(events, names) {
  const named = events.slice(0, MOST_CATEGORIES).map(({ event_category, n }) => ({
    name: names.event[event_category] ?? `Category ${event_category}`,
    value: n,
    words: count(n),
  }));
  const others = events.slice(MOST_CATEGORIES).reduce((sum, { n }) => sum + n, 0);
  return barList(
    others === 0 ? named : [...named, { name: 'Others', value: others, words: count(others), tone: 'still' }],
  );
}

const MOST_CATEGORIES = 10;

export function draw(root, day) {
  const { picture } = day;
  const stacked = root.querySelector('[data-chart=stacked]');
  if (stacked !== null)
    stackedChart(
      stacked,
      day,
      picture.at,
      layersOf(day).map(({ status, colour }) => ({ colour, values: picture.states[status] })),
    );
  const progress = root.querySelector('[data-chart=progress]');
  if (progress !== null) progressChart(progress, picture);
}

export function input(event, again) {
  const { target } = event;
  if (target.dataset.plan !== undefined) chosen.plan = target.value;
  else if (target.dataset.day !== undefined && target.value !== '') chosen.day = target.value;
  else return;
  again();
}

export function click(event, again) {
  const button = event.target.closest('[data-step], [data-today]');
  if (button === null) return;
  if (button.dataset.today !== undefined) chosen.day = '';
  else {
    const shown = document.querySelector('[data-day]').value;
    const day = new Date(Date.parse(`${shown}T12:00:00Z`) + Number(button.dataset.step) * 86400000);
    chosen.day = day.toISOString().slice(0, 10);
  }
  again();
}
