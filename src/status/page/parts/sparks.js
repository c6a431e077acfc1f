// @ts-check
// Small SVG charts: trends beside a row, bars beside a figure, and a strip of equal cells. Colours come from the style sheet.
import { useRef, useState } from 'preact/hooks';
import { html } from '../html.js';
import { Faint } from './words.js';

const WIDTH = 120;
const HEIGHT = 26;

const Frame = ({ label, children }) =>
  html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${label}>${children}</svg>`;

/** One bar for each run, coloured by its tone. @param {{label: string, values: {value: number, tone: string}[]}} props */
export function BarSpark({ label, values }) {
  if (values.length === 0) return html`<${Faint}>–<//>`;
  const most = Math.max(...values.map(({ value }) => value), 1e-9);
  const step = WIDTH / 30;
  const left = WIDTH - values.length * step;
  const bar = (/** @type {any} */ { value, tone }, /** @type {number} */ index) => {
    const tall = Math.max(1.5, (value / most) * (HEIGHT - 2));
    return html`<rect class="bar ${tone}" x=${(left + index * step).toFixed(1)} y=${(HEIGHT - tall).toFixed(1)} width=${step - 1} height=${tall.toFixed(1)} />`;
  };
  return html`<${Frame} label=${label}>${values.map(bar)}<//>`;
}

/** @param {{label: string, values: number[]}} props */
export function LineSpark({ label, values }) {
  if (values.length < 2) return html`<${Faint}>–<//>`;
  const most = Math.max(...values, 1e-9);
  const step = WIDTH / (values.length - 1);
  const line = values
    .map((value, index) => `${(index * step).toFixed(1)} ${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`)
    .join('L');
  return html`<${Frame} label=${label}>
    <path class="under" d="M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}z" />
    <path class="line" d="M${line}" vector-effect="non-scaling-stroke" />
  <//>`;
}

/** A list of names with one bar each. @param {{rows: {name: string, value: number, words: string, tone?: string}[]}} props */
export function BarList({ rows }) {
  const most = Math.max(...rows.map(({ value }) => value), 1e-9);
  return html`<ul class="bars">${rows.map(
    ({ name, value, words, tone = '' }) => html`<li key=${name}>
      <span class="bar-name" dir="auto">${name}</span><span class="bar-value">${words}</span>
      <svg class="bar-line ${tone}" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-back" width="100" height="4" rx="1" />
        <rect class="bar-fill" width=${Math.max(0.5, (value / most) * 100).toFixed(2)} height="4" rx="1" />
      </svg></li>`,
  )}</ul>`;
}

/**
 * A strip of equal cells, each a link or nothing: one stop of the Tab key, arrow keys move inside. The text of the cell
 * under the pointer or the focus is shown below the strip.
 * @param {{label: string, cells: {key: string, tone?: string, words?: string, href?: string}[], size?: string}} props
 */
export function Strip({ label, cells, size = '' }) {
  const strip = useRef(/** @type {HTMLElement | null} */ (null));
  const [current, setCurrent] = useState(/** @type {string | undefined} */ (undefined));
  const [isShown, setShown] = useState(false);
  const linked = cells.filter((cell) => cell.href !== undefined);
  const place = linked.findIndex(({ key }) => key === current);
  const focused = place === -1 ? linked.length - 1 : place;
  const show = (/** @type {string} */ key) => () => {
    setCurrent(key);
    setShown(true);
  };
  function move(/** @type {KeyboardEvent} */ event) {
    const steps = { ArrowLeft: focused - 1, ArrowRight: focused + 1, Home: 0, End: linked.length - 1 };
    const to = linked[steps[/** @type {keyof typeof steps} */ (event.key)]];
    if (to === undefined) return;
    event.preventDefault();
    /** @type {HTMLElement | null | undefined} */ (strip.current?.querySelector(`[data-cell="${to.key}"]`))?.focus();
  }
  const cell = (/** @type {(typeof cells)[number]} */ { key, tone, words, href }) =>
    href === undefined
      ? html`<span key=${key} class="cell"></span>`
      : html`<a key=${key} class="cell ${tone}" href=${href} data-cell=${key} aria-label=${words}
          tabindex=${linked[focused]?.key === key ? 0 : -1} onFocus=${show(key)} onPointerEnter=${show(key)}></a>`;
  const words = isShown ? cells.find(({ key }) => key === current)?.words : undefined;
  return html`<div class="strip ${size}" role="group" aria-label=${label} ref=${strip} onKeyDown=${move}
      onPointerLeave=${() => setShown(false)} onFocusOut=${() => setShown(false)}>
    <div class="cells">${cells.map(cell)}</div>
    <p class="bubble" aria-hidden="true" hidden=${words === undefined}>${words}</p>
  </div>`;
}
