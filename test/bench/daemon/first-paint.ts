// How long a view of the page takes until a reader sees its first words, in a real Chromium that has never seen the page.
import { chromiumPath, launchBrowser } from '../../support/status/browser.ts';

const VIEWS = ['overview', 'today', 'plans', 'runs', 'data', 'config'];
const TIMES = 5;

/** Milliseconds by view: the middle and the longest of some loads; undefined where there is no Chromium. */
export async function firstPaints(url: string) {
  if (chromiumPath === undefined) return undefined;
  const paints = new Map<string, number[]>(VIEWS.map((view) => [view, []]));
  for (let time = 0; time < TIMES; time++)
    for (const [view, measured] of paints) {
      const browser = await launchBrowser();
      try {
        const { page } = await browser.open();
        await page.goto(`${url}/#/${view}`);
        await page.getByText('live', { exact: true }).waitFor();
        measured.push(
          await page.evaluate<number>('performance.getEntriesByName("first-contentful-paint")[0].startTime'),
        );
      } finally {
        await browser.close();
      }
    }
  return [...paints].map(([view, measured]) => {
    const sorted = measured.toSorted((a, b) => a - b);
    return { view, middleMs: sorted[Math.floor(TIMES / 2)] ?? 0, longestMs: sorted.at(-1) ?? 0 };
  });
}
