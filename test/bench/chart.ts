// A bar chart as SVG, a few lines of it: labels left, bars right, the values behind them.
import type { Bar } from './task.ts';

const ROW = 26;
const LABELS = 430;
const BARS = 330;
const WIDTH = LABELS + BARS + 90;
const OURS = '#1f6feb';
const OTHERS = '#9aa4b2';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const height = 44 + bars.length * ROW;
  const lines = bars.map(({ label, value, isOurs }, index) => {
    const y = 34 + index * ROW;
    const length = Math.max(1, (value / most) * BARS);
    return `  <text x="${LABELS - 8}" y="${y + 13}" text-anchor="end">${escaped(label)}</text>
  <rect x="${LABELS}" y="${y}" width="${length.toFixed(1)}" height="18" rx="2" fill="${isOurs ? OURS : OTHERS}"/>
  <text x="${(LABELS + length + 6).toFixed(1)}" y="${y + 13}">${Math.round(value).toLocaleString('en')}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="12" fill="#24292f">
  <rect width="100%" height="100%" fill="#ffffff"/>
  <text x="12" y="20" font-size="14" font-weight="600">${escaped(title)}</text>
${lines.join('\n')}
</svg>
`;
}
