// Small SVG charts: trends beside a row, bars beside a figure. Colours come from the style sheet.
import { el, svg } from './dom.js';

const WIDTH = 120;
const HEIGHT = 26;

const frame = (label, ...shapes) =>
  svg(
    'svg',
    {
      class: 'spark',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    shapes,
  );

/** One bar for each run, coloured by its tone. */
export function barSpark(label, values) {
  if (values.length === 0) return el('span', { class: 'faint' }, '–');
  const most = Math.max(...values.map(({ value }) => value), 1e-9);
  const step = WIDTH / 30;
  const left = WIDTH - values.length * step;
  const paths = Map.groupBy(
    values.map((each, index) => ({ ...each, index })),
    ({ tone }) => tone,
  );
  return frame(
    label,
    [...paths].map(([tone, bars]) =>
      svg('path', {
        class: `bar ${tone}`,
        d: bars.map(({ value, index }) => bar(left + index * step, step - 1, (value / most) * (HEIGHT - 2))).join(''),
      }),
    ),
  );
}

const bar = (x, width, height) => {
  const tall = Math.max(1.5, height);
  return `M${x.toFixed(1)} ${HEIGHT}v${(-tall).toFixed(1)}h${width.toFixed(1)}v${tall.toFixed(1)}z`;
};

export function lineSpark(label, values) {
  if (values.length < 2) return el('span', { class: 'faint' }, '–');
  const most = Math.max(...values, 1e-9);
  const step = WIDTH / (values.length - 1);
  const points = values.map((value, index) => [index * step, HEIGHT - 2 - (value / most) * (HEIGHT - 4)]);
  const line = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');
  return frame(
    label,
    svg('path', { class: 'under', d: `M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}z` }),
    svg('path', { class: 'line', d: `M${line}`, 'vector-effect': 'non-scaling-stroke' }),
  );
}

/** A list of names with one bar each. */
export function barList(rows) {
  const most = Math.max(...rows.map(({ value }) => value), 1e-9);
  return el(
    'ul',
    { class: 'bars' },
    rows.map(({ name, value, words, tone }) =>
      el(
        'li',
        { 'data-key': name },
        el('span', { class: 'bar-name', dir: 'auto' }, name),
        el('span', { class: 'bar-value' }, words),
        svg(
          'svg',
          {
            class: `bar-line ${tone ?? ''}`,
            viewBox: '0 0 100 4',
            preserveAspectRatio: 'none',
            'aria-hidden': 'true',
          },
          svg('rect', { class: 'bar-back', width: 100, height: 4, rx: 1 }),
          svg('rect', {
            class: 'bar-fill',
            width: Math.max(0.5, (value / most) * 100).toFixed(2),
            height: 4,
            rx: 1,
          }),
        ),
      ),
    ),
  );
}
