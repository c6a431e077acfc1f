// @ts-check
// The points of a plan as a drawing without map tiles: stops in planned order, the planned and the driven path, late
// stops marked, a scale. A stop shows its card when it is chosen.
import { useState } from 'preact/hooks';
import { html } from '../html.js';
import { t, word } from '../texts.js';
import { clockTime, span } from '../words.js';

const WIDTH = 640;
const HEIGHT = 440;
const MARGIN = 36;
const METRES_OF_A_DEGREE = 111320;

const isPlaced = (latitude, longitude) =>
  latitude !== null && longitude !== null && !(latitude === 0 && longitude === 0);

/** The start or the end of the route, not a stop at a customer's. */
const isEnd = ({ type }) => ['PA', 'CH', 'PARTIDA', 'CHEGADA'].includes((type ?? '').toUpperCase());

/**
 * The points with their numbers as a driver counts them: stops from 1, the ends of the route without a number.
 * @param {any[]} points in planned order
 */
export function numbered(points) {
  const driven = points
    .filter(({ executed_at }) => executed_at !== null)
    .toSorted((a, b) => (a.executed_at < b.executed_at ? -1 : 1))
    .map(({ id }) => id);
  let stops = 0;
  return points.map((point) => ({
    ...point,
    number: isEnd(point) ? null : ++stops,
    driven: driven.includes(point.id) ? driven.indexOf(point.id) + 1 : null,
    late: isEnd(point) ? 0 : (point.late_seconds ?? 0),
  }));
}

export const stopName = ({ number, name }) => `${number === null ? '' : `${number}. `}${name ?? ''}`;

/** @param {{stops: ReturnType<typeof numbered>}} props */
export function PlanMap({ stops }) {
  const [chosen, setChosen] = useState(/** @type {number | undefined} */ (undefined));
  const placed = stops.filter(({ latitude, longitude }) => isPlaced(latitude, longitude));
  if (placed.length === 0) return html`<p class="empty">${t('map.noPlaces')}</p>`;
  const done = stops
    .filter((stop) => stop.driven !== null)
    .toSorted((a, b) => a.driven - b.driven)
    .map((stop) =>
      isPlaced(stop.executed_latitude, stop.executed_longitude)
        ? [stop.executed_latitude, stop.executed_longitude]
        : [stop.latitude, stop.longitude],
    )
    .filter(([latitude, longitude]) => isPlaced(latitude, longitude));
  const { project, metres } = projection([...placed.map(({ latitude, longitude }) => [latitude, longitude]), ...done]);
  const planned = placed.map(({ latitude, longitude }) => project(latitude, longitude));
  const driven = done.map(([latitude, longitude]) => project(latitude, longitude));
  const cards = atPlaceOf(chosen, placed, planned);
  const mark = (stop, n) => {
    const [x, y] = planned[n];
    const choose = () => setChosen(stop.id === chosen ? undefined : stop.id);
    const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose();
    };
    return html`<g key=${stop.id} class="stop status-${isEnd(stop) ? 'end' : (stop.status ?? 'P')} ${stop.late > 0 ? 'is-late' : ''} ${stop.id === chosen ? 'is-chosen' : ''}"
        role="button" tabindex="0" aria-label="${stopName(stop)}${stop.late > 0 ? `, ${t('map.late', { span: span(stop.late) })}` : ''}" aria-pressed=${String(stop.id === chosen)}
        onClick=${choose} onKeyDown=${onKeyDown}>
      ${stop.late > 0 ? html`<circle class="late-ring" cx=${x} cy=${y} r="15" />` : null}
      <circle cx=${x} cy=${y} r=${isEnd(stop) ? 8 : 11} />
      <text x=${x} y=${y + 3.8} text-anchor="middle">${stop.number ?? ''}</text>
    </g>`;
  };
  return html`<svg class="map" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label=${t('map.label', { n: placed.length, done: driven.length })}>
      <path class="way planned" d=${way(planned)} />
      <path class="way driven" d=${way(driven)} />
      ${driven.map(([x, y]) => html`<circle class="trace" cx=${x} cy=${y} r="3.5" />`)}
      ${placed.map(mark)}
      <${Scale} metres=${metres} />
    </svg>
    <p class="legend">
      <span class="key planned-way"><span class="swatch"></span>${t('map.planned')}</span>
      <span class="key driven-way"><span class="swatch"></span>${t('map.driven')}</span>
      <span class="key late-stop"><span class="swatch"></span>${t('map.lateStop')}</span>
    </p>
    <div class="stop-card" role="status">${cards.length === 0 ? html`<span class="hint">${t('map.choose')}</span>` : cards.map((stop) => html`<div key=${stop.id}><${StopCard} stop=${stop} /></div>`)}</div>`;
}

/** The smallest radius of a mark. */
const COVER = 8;

/** The chosen stop and those whose middle its mark covers or that cover it: the pointer reaches only the one on top. */
function atPlaceOf(chosen, placed, planned) {
  const at = planned[placed.findIndex(({ id }) => id === chosen)];
  if (at === undefined) return [];
  return placed.filter((_, n) => Math.hypot(planned[n][0] - at[0], planned[n][1] - at[1]) <= COVER);
}

const StopCard = ({ stop }) => html`<strong dir="auto">${stopName(stop)}</strong>${' '}
  ${[
    word('stopStatus', stop.status ?? 'P'),
    stop.time_scheduled && t('map.plannedAt', { at: clockTime(stop.time_scheduled) }),
    stop.executed_at && t('map.doneAt', { at: clockTime(stop.executed_at), order: stop.driven }),
    stop.late > 0 && t('map.late', { span: span(stop.late) }),
  ]
    .filter(Boolean)
    .join(' · ')}${stop.reason ? html` · <span dir="auto">${stop.reason}</span>` : null}`;

/** Maps degrees to the frame. A degree of longitude is shorter by the cosine of the latitude. @param {number[][]} places */
function projection(places) {
  const latitudes = places.map(([latitude]) => latitude);
  const longitudes = places.map(([, longitude]) => longitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  const narrow = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min(
    (WIDTH - 2 * MARGIN) / Math.max((east - west) * narrow, 1e-4),
    (HEIGHT - 2 * MARGIN) / Math.max(north - south, 1e-4),
  );
  const left = (WIDTH - (east - west) * narrow * scale) / 2;
  const top = (HEIGHT - (north - south) * scale) / 2;
  return {
    /** Metres of one unit of the drawing. */
    metres: METRES_OF_A_DEGREE / scale,
    project: (/** @type {number} */ latitude, /** @type {number} */ longitude) => [
      Number((left + (longitude - west) * narrow * scale).toFixed(1)),
      Number((top + (north - latitude) * scale).toFixed(1)),
    ],
  };
}

const way = (/** @type {number[][]} */ places) =>
  places.length < 2 ? '' : `M${places.map(([x, y]) => `${x} ${y}`).join('L')}`;

/** A bar of a round length: 1, 2 or 5 times a power of ten. @param {{metres: number}} props */
function Scale({ metres }) {
  const most = metres * (WIDTH / 5);
  const power = 10 ** Math.floor(Math.log10(most));
  const length = ([5, 2, 1].find((step) => step * power <= most) ?? 1) * power;
  const [x, y] = [14, HEIGHT - 14];
  const words = length >= 1000 ? `${length / 1000} km` : `${length} m`;
  return html`<g class="scale" aria-hidden="true"><path d="M${x} ${y - 5}v5h${(length / metres).toFixed(1)}v-5" /><text x=${x + 4} y=${y - 8}>${words}</text></g>`;
}
