// @ts-check
// Charts over time, drawn by uPlot, which is loaded with the first chart. Colours come from the style sheet, so a chart
// follows the light or dark theme of the page.
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../html.js';
import { clockTime } from '../words.js';

/** @typedef {typeof import('uplot')} Uplot */
/** @type {Promise<Uplot> | undefined} */
let loading;
const address = '/page/uplot.js';
const load = () => (loading ??= import(address).then((module) => module.default));

/** The computed value of a colour; a custom property by itself is not resolved. */
function colour(/** @type {HTMLElement} */ frame, /** @type {string} */ name) {
  frame.style.color = `var(${name})`;
  const value = getComputedStyle(frame).color;
  frame.style.color = '';
  return value;
}

/**
 * @param {{label: string, data: any, series: (colour: (name: string) => string) => object[], range?: [number, number]}} props
 */
function Chart({ label, data, series, range }) {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const frame = ref.current;
    if (frame === null) return;
    /** @type {any} */
    let chart;
    let isGone = false;
    const widthOf = () => Math.max(240, frame.clientWidth);
    async function draw() {
      const UPlot = await load();
      if (isGone || frame === null) return;
      chart?.destroy();
      const colourOf = (/** @type {string} */ name) => colour(frame, name);
      const axis = {
        stroke: colourOf('--muted'),
        grid: { stroke: colourOf('--line'), width: 1 },
        ticks: { show: false },
        font: '12px system-ui',
      };
      chart = new UPlot(
        /** @type {any} */ ({
          width: widthOf(),
          height: 220,
          legend: { show: false },
          cursor: { y: false, drag: { setScale: false }, points: { show: false } },
          scales: { x: { time: true, ...(range && { range: () => range }) } },
          axes: [
            { ...axis, grid: { show: false }, values: (_, ticks) => ticks.map((at) => clockTime(at * 1000)) },
            { ...axis, size: 44 },
          ],
          series: [{}, ...series(colourOf)],
        }),
        data,
        frame,
      );
    }
    const redraw = () => void draw();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const watch = new ResizeObserver(() => {
      if (chart !== undefined && chart.width !== widthOf()) chart.setSize({ width: widthOf(), height: 220 });
    });
    redraw();
    watch.observe(frame);
    scheme.addEventListener('change', redraw);
    addEventListener('theme', redraw);
    return () => {
      isGone = true;
      watch.disconnect();
      scheme.removeEventListener('change', redraw);
      removeEventListener('theme', redraw);
      chart?.destroy();
    };
  }, [JSON.stringify(data)]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${ref}></div>`;
}

const seconds = (/** @type {string} */ instant) => Date.parse(instant) / 1000;

/** `layers` are in order from the bottom up; each is stacked on the sum of those below it. */
export function StackedChart({ label, period: { from, to }, at, layers }) {
  const sums = at.map(() => 0);
  const stacked = layers.map(({ values }) => values.map((value, n) => (sums[n] += value)));
  // The top layer is painted first, so that each lower layer covers the area below it.
  const order = layers.map((_, n) => n).toReversed();
  const series = (/** @type {(name: string) => string} */ colourOf) =>
    order.map((n) => ({
      stroke: colourOf(layers[n].colour),
      fill: colourOf(layers[n].colour),
      width: 0,
      points: { show: false },
    }));
  return html`<${Chart} label=${label} data=${[at, ...order.map((n) => stacked[n])]} series=${series} range=${[seconds(from), seconds(to)]} />`;
}

/** Planned stops for the full day, done stops up to now. */
export function ProgressChart({ label, planned, at, done }) {
  const doneBy = new Map(at.map((second, n) => [second, done[n]]));
  const series = (/** @type {(name: string) => string} */ colourOf) => [
    { stroke: colourOf('--muted'), width: 2, dash: [6, 4], points: { show: false } },
    { stroke: colourOf('--accent'), width: 3, points: { show: false } },
  ];
  return html`<${Chart} label=${label} data=${[planned.at, planned.count, planned.at.map((second) => doneBy.get(second) ?? null)]} series=${series} />`;
}
