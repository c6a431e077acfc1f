// A person at the page, in a real Chromium over a working day on the sandbox, for the tests of one describe.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import type { OutboxEntry } from '../../../src/warehouse/outbox/entry.ts';
import { type Browser, chromiumPath, launchBrowser, type OpenPage } from './browser.ts';
import { makeWorkingDay, offerPlans } from './status-day.ts';
import { type StatusPlace, TOKEN } from './status-place.ts';

if (chromiumPath === undefined) process.stderr.write('Chromium was not found: the browser tests are skipped.\n');

/** How such tests run: skipped without Chromium, and failed if they fail twice, for a browser may meet a machine that stalls. */
export const IN_BROWSER = { skip: chromiumPath === undefined, retry: 1 };

export interface PageVisit {
  readonly place: StatusPlace;
  /** The page that was opened last. */
  readonly opened: OpenPage;
  openTab(): Promise<Page>;
  openLocked(hash: string): Promise<Page>;
  open(hash: string): Promise<Page>;
  unlock(): Promise<void>;
  /** Moves the server's clock until the page shows the state. */
  untilShown(shown: () => Promise<number>): Promise<void>;
  /** Stores plans of a day; removed after the test. */
  offer(day: string, entries: readonly OutboxEntry[]): Promise<void>;
}

export function visitPage(): PageVisit {
  let place: StatusPlace;
  let browser: Browser;
  let opened: OpenPage;

  beforeAll(async () => {
    [place, browser] = await Promise.all([makeWorkingDay(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await place.close();
  });
  afterEach(async () => {
    expect(opened.faults).toEqual([]);
    expect([...opened.hosts]).toEqual([new URL(place.url).host]);
    expect(await opened.page.title()).not.toContain('broken');
  });

  const openTab = async () => {
    opened = await browser.open({ now: place.rig.clock.now() });
    const { page } = opened;
    onTestFinished(() => page.close());
    return page;
  };
  const openLocked = async (hash: string) => {
    const page = await openTab();
    await page.goto(`${place.url}/#/${hash}`);
    return page;
  };
  const unlock = async () => {
    const { page } = opened;
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    // The button may appear before the dialog is gone.
    await page.getByRole('button', { name: 'Lock page' }).waitFor();
    await page.locator('#token').waitFor({ state: 'hidden' });
  };
  return {
    get place() {
      return place;
    },
    get opened() {
      return opened;
    },
    openTab,
    openLocked,
    unlock,
    open: async (hash) => {
      const page = await openLocked(hash);
      await unlock();
      return page;
    },
    untilShown: (shown) =>
      expect
        .poll(
          async () => {
            await place.rig.clock.advance(2_000);
            return shown();
          },
          { timeout: 30_000 },
        )
        .toBe(1),
    offer: (day, entries) => offerPlans(place, day, entries),
  };
}
