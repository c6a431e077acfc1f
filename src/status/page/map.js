// The points of a plan as a drawing without map tiles: only the positions of the stops to each other. The dashed line is
// the planned order, the solid line the driven order by execution time.
import { svg } from './dom.js';

const WIDTH = 640;
const HEIGHT = 440;
const MARGIN = 34;

const placed = (latitude, longitude) => latitude !== null && longitude !== null && !(latitude === 0 && longitude === 0);

export function executedOrder(points) {
  return points
    .filter(({ executed_at }) => executed_at !== null)
    .toSorted((a, b) => (a.executed_at < b.executed_at ? -1 : 1));
}

export function planMap(points) {
  const stops = points.filter(({ latitude, longitude }) => placed(latitude, longitude));
  if (stops.length === 0) return null;
  const project = projection(stops);
  const done = executedOrder(points)
    .map((point) =>
      placed(point.executed_latitude, point.executed_longitude)
        ? project(point.executed_latitude, point.executed_longitude)
        : placed(point.latitude, point.longitude)
          ? project(point.latitude, point.longitude)
          : undefined,
    )
    .filter((place) => place !== undefined);
  const plan = stops.map(({ latitude, longitude }) => project(latitude, longitude));
  const label = `Map of ${stops.length} points; ${done.length} executed`;
  return svg(
    'svg',
    { class: 'map', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    svg('path', { class: 'way planned', d: way(plan) }),
    svg('path', { class: 'way driven', d: way(done) }),
    done.map(([x, y]) => svg('circle', { class: 'trace', cx: x, cy: y, r: 3.5 })),
    stops.map((point, n) => stopMark(point, plan[n], n)),
  );
}

/** Maps degrees to the frame. A degree of longitude is shorter by the cosine of the latitude. */
function projection(stops) {
  const latitudes = stops.map(({ latitude }) => latitude);
  const longitudes = stops.map(({ longitude }) => longitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  const narrow = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min(
    (WIDTH - 2 * MARGIN) / Math.max((east - west) * narrow, 1e-4),
    (HEIGHT - 2 * MARGIN) / Math.max(north - south, 1e-4),
  );
  const left = (WIDTH - (east - west) * narrow * scale) / 2;
  const top = (HEIGHT - (north - south) * scale) / 2;
  return (latitude, longitude) => [
    Number((left + (longitude - west) * narrow * scale).toFixed(1)),
    Number((top + (north - latitude) * scale).toFixed(1)),
  ];
}

const way = (places) => (places.length < 2 ? '' : `M${places.map(([x, y]) => `${x} ${y}`).join('L')}`);

const isEnd = ({ type }) => ['PA', 'CH', 'PARTIDA', 'CHEGADA'].includes((type ?? '').toUpperCase());

function stopMark(point, [x, y], n) {
  const status = isEnd(point) ? 'end' : (point.status ?? 'P');
  return svg(
    'g',
    { class: `stop status-${status}` },
    svg('title', {}, `${n + 1}. ${point.name ?? ''}`),
    svg('circle', { cx: x, cy: y, r: isEnd(point) ? 8 : 10 }),
    svg('text', { x, y: y + 3.5, 'text-anchor': 'middle' }, isEnd(point) ? '' : String(n)),
  );
}
