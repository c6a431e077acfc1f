// The charts of a day, drawn by uPlot. Colours come from the style sheet, so that a chart follows the light or dark
// scheme of the page.

import uPlot from './uplot.js';
import { clockTime } from './words.js';

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const drawn = new WeakMap();

function draw(frame, options, data) {
  drawn.get(frame)?.destroy();
  frame.replaceChildren();
  const width = Math.max(240, frame.clientWidth);
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  };
  const chart = new uPlot(
    {
      width,
      height: 220,
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false }, points: { show: false } },
      scales: { x: { time: true } },
      axes: [
        { ...axis, grid: { show: false }, values: (_, ticks) => ticks.map((at) => clockTime(at * 1000)) },
        { ...axis, size: 44 },
      ],
      ...options,
    },
    data,
    frame,
  );
  drawn.set(frame, chart);
  watch.observe(frame);
}

/** Resizes each chart with its frame. */
const watch = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = drawn.get(target);
    const width = Math.max(240, target.clientWidth);
    if (chart !== undefined && chart.width !== width) chart.setSize({ width, height: chart.height });
  }
});

/** `layers` are in order from the bottom up; each is stacked on the sum of those below it. */
export function stackedChart(frame, { from, to }, at, layers) {
  const sums = at.map(() => 0);
  const stacked = layers.map(({ values }) => values.map((value, n) => (sums[n] += value)));
  // The top layer is painted first, so that each lower layer covers the area below it.
  const order = layers.map((_, n) => n).toReversed();
  draw(
    frame,
    {
      scales: { x: { time: true, range: () => [Date.parse(from) / 1000, Date.parse(to) / 1000] } },
      series: [
        {},
        ...order.map((n) => ({
          stroke: colour(layers[n].colour),
          fill: colour(layers[n].colour),
          width: 0,
          points: { show: false },
        })),
      ],
    },
    [at, ...order.map((n) => stacked[n])],
  );
}

/** Planned stops for the full day, done stops up to now. */
export function progressChart(frame, { planned, at, done }) {
  const doneBy = new Map(at.map((second, n) => [second, done[n]]));
  draw(
    frame,
    {
      series: [
        {},
        { stroke: colour('--muted'), width: 2, dash: [6, 4], points: { show: false } },
        { stroke: colour('--accent'), width: 3, points: { show: false } },
      ],
    },
    [planned.at, planned.count, planned.at.map((second) => doneBy.get(second) ?? null)],
  );
}
