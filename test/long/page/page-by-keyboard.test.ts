// What people do on the page, with the keyboard alone, on a desktop and on a phone, in both languages. Every dialog and error
// that opens on the way is free of axe's violations. The words come from the catalogues of the page, which a test compares.
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { OutboxEntry } from '../../../src/warehouse/outbox/entry.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { type Browser, chromiumPath, launchBrowser, type OpenPage, violations } from '../../support/status/browser.ts';
import { makeWorkingDay, offerPlans } from '../../support/status/status-day.ts';
import { makeStatusPlace, type StatusPlace, TOKEN } from '../../support/status/status-place.ts';

const TEXTS = '../../../src/status/page/texts';
type Catalogue = Record<string, string | { one: string; other: string }>;
const { en } = (await import(`${TEXTS}/en.js`)) as { en: Catalogue };
const { pt } = (await import(`${TEXTS}/pt.js`)) as { pt: Catalogue };

/** A text of a catalogue with its values. */
function worded(catalogue: Catalogue, key: string, values: Record<string, unknown> = {}): string {
  const text = catalogue[key];
  if (text === undefined) throw new Error(`the page has no text ${key}`);
  const form = typeof text === 'string' ? text : text[values.n === 1 ? 'one' : 'other'];
  return form.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

describe.skipIf(chromiumPath === undefined)('the page by keyboard', () => {
  let place: StatusPlace;
  let browser: Browser;
  beforeAll(async () => {
    [place, browser] = await Promise.all([makeWorkingDay(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await place.close();
  });

  describe.each([
    ['a desktop', 1_280, 'en-US'],
    ['a desktop', 1_280, 'pt-BR'],
    ['a phone', 360, 'en-US'],
    ['a phone', 360, 'pt-BR'],
  ] as const)('on %s (%i px, %s)', (_size, width, locale) => {
    let opened: OpenPage;
    beforeEach(async () => {
      opened = await browser.open({ now: place.rig.clock.now(), width, locale });
      onTestFinished(async () => {
        expect(opened.faults).toEqual([]);
        await opened.page.close();
      });
    });

    const [own, other] = locale === 'pt-BR' ? [pt, en] : [en, pt];
    const said = (key: string, values?: Record<string, unknown>) => worded(own, key, values);
    const button = (name: string, within: Locator = opened.page.locator('body')) =>
      within.getByRole('button', { name, exact: true });
    const dialog = () => opened.page.getByRole('alertdialog');

    /** Only what the Tab key reaches can be pressed. */
    async function press(element: Locator, key = 'Enter') {
      expect(await element.evaluate((node) => (node as unknown as { tabIndex: number }).tabIndex)).toBe(0);
      await element.press(key);
    }

    async function open(hash: string) {
      const { page } = opened;
      await page.goto(`${place.url}/#/${hash}`);
      await page.locator('#token:focus').waitFor();
      await page.keyboard.type(TOKEN);
      await page.keyboard.press('Enter');
      // The button may appear before the dialog, which keeps the page from keys, is gone.
      await button(said('token.lock')).waitFor();
      await page.locator('#token').waitFor({ state: 'hidden' });
      return page;
    }

    const offer = (...entries: OutboxEntry[]) => offerPlans(place, '2026-03-20', entries);
    const states = () =>
      place.rig.rows("select external_code as code, state from push_outbox where external_code like 'K-%' order by 1");

    it('reports a wrong token and takes the right one', async () => {
      const { page } = opened;
      await page.goto(`${place.url}/#/overview`);
      const token = page.getByLabel(said('token.label'));
      await token.waitFor();
      await page.keyboard.type('wrong-token');
      await page.keyboard.press('Enter');
      await page.getByText(said('error.token_wrong')).waitFor();
      expect(await violations(page)).toEqual([]);
      await token.press('Control+a');
      await page.keyboard.type(TOKEN);
      await page.keyboard.press('Enter');
      await page.getByText(said('link.live'), { exact: true }).waitFor();
    });

    it('pauses a job and takes it back', async () => {
      await open('overview');
      place.actions.splice(0);
      await press(button(said('action.labelled', { action: said('action.pause'), on: 'pull-drivers' })));
      await press(button(said('note.undo')));
      await expect.poll(() => place.actions).toEqual(['pause pull-drivers', 'resume pull-drivers']);
    });

    it('cancels a plan after a question that can be left', async () => {
      await offer(entryIn('ready', { external_code: 'K-1' }));
      const page = await open('plans/route_plans/K-1');
      const cancel = button(said('action.cancel'), page.locator('main'));
      await press(cancel);
      await dialog()
        .getByText(said('cancel.title', { code: 'K-1' }))
        .waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'hidden' });
      expect(await states()).toEqual([{ code: 'K-1', state: 'ready' }]);
      await press(cancel);
      await press(button(said('cancel.plan'), dialog()));
      await expect.poll(states).toEqual([{ code: 'K-1', state: 'cancelled' }]);
    });

    it('sends an entry again that a person did not find at the service', async () => {
      await offer(entryIn('unknown', { external_code: 'K-2', attention: 'retries_exhausted' }));
      const page = await open('plans/route_plans/K-2');
      await press(button(said('action.absent'), page.locator('main')));
      await dialog().getByText(said('absent.text')).waitFor();
      expect(await violations(page)).toEqual([]);
      await press(button(said('action.absent'), dialog()));
      await expect.poll(states).toEqual([{ code: 'K-2', state: 'ready' }]);
    });

    it('finds plans by state, has the filter in the address, and cancels many after it has shown them', async () => {
      await offer(...['K-3', 'K-4', 'K-5'].map((external_code) => entryIn('ready', { external_code })));
      const page = await open('plans?day=2026-03-20');
      await press(page.getByRole('button', { name: new RegExp(`^3 ${said('entry.ready')}$`) }));
      await page.locator('main').getByLabel(said('column.kind')).selectOption('route_plans');
      await expect.poll(() => page.url()).toContain('state=ready&kind=route_plans');
      await page.reload();
      await expect.poll(() => page.locator('main').getByLabel(said('column.kind')).inputValue()).toBe('route_plans');
      await press(button(said('manyAll.cancel', { n: 3 })));
      await dialog()
        .getByText(said('many.cancel', { n: 3 }))
        .waitFor();
      for (const code of ['K-3', 'K-4', 'K-5']) await dialog().getByText(code).first().waitFor();
      expect(await violations(page)).toEqual([]);
      await press(button(said('manyDo.cancel'), dialog()));
      await expect
        .poll(async () => new Set((await states()).map(({ state }) => state)))
        .toEqual(new Set(['cancelled']));
      await page.goBack();
      await expect.poll(() => page.url()).not.toContain('kind=');
    });

    it('steps through the days, goes back, and opens a stop of the map', async () => {
      const page = await open('today');
      const day = page.getByLabel(said('today.day'), { exact: true });
      await press(button(said('today.before')));
      await expect.poll(() => day.inputValue()).toBe('2026-03-09');
      expect(page.url()).toContain('day=2026-03-09');
      await page.goBack();
      await expect.poll(() => day.inputValue()).toBe('2026-03-10');
      const stop = page.locator('#route').getByRole('button', { name: /^2\. / });
      await press(stop);
      await page
        .getByText(new RegExp(said('map.plannedAt', { at: '\\d\\d:\\d\\d' })))
        .first()
        .waitFor();
      expect(await violations(page)).toEqual([]);
    });

    it('opens a run of the timeline, and its job with the text of the incident', async () => {
      const page = await open('runs');
      const line = page.getByRole('group', { name: /^return-executions: / });
      await line.getByRole('link').last().press('Enter');
      await page.getByRole('heading', { name: said('run.counts') }).waitFor();
      await page.goto(`${place.url}/#/jobs/return-executions`);
      await press(button(said('incident.button')));
      const incident = await dialog().getByRole('textbox').inputValue();
      expect(incident).toContain('return-executions');
      expect(incident).toContain(`${said('job.inARow')}: 1`);
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'hidden' });
    });

    it('says that an address has no day, and that the daemon is silent', async () => {
      const page = await open('today?day=2026-02-30');
      await page.getByText(said('today.noDay', { day: '2026-02-30' })).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.goto(`${place.url}/#/overview`);
      await page.getByText(said('link.live'), { exact: true }).waitFor();
      await page.context().setOffline(true);
      onTestFinished(() => page.context().setOffline(false));
      await page.clock.fastForward(10_000);
      await page.getByText(said('trouble.silent')).waitFor();
      expect(await violations(page)).toEqual([]);
    });

    it('keeps the chosen language and theme', async () => {
      const page = await open('overview');
      onTestFinished(async () => void (await page.evaluate('localStorage.clear()')));
      const overview = page.getByRole('link', { name: worded(other, 'view.overview'), exact: true });
      await page.getByLabel(said('page.language')).selectOption(locale === 'pt-BR' ? 'en' : 'pt');
      await overview.waitFor();
      await page.getByLabel(worded(other, 'page.theme')).selectOption('dark');
      await page.reload();
      await overview.waitFor();
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    });

    it('does not reassure before anything was read', async () => {
      const empty = await makeStatusPlace();
      onTestFinished(() => empty.close());
      const { page } = opened;
      await page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
      await page.goto(`${empty.url}/#/today`);
      await page.getByText(said('today.neverRead', { job: 'pull-route-plans' })).waitFor();
      expect(await page.getByText(said('today.nothingLate')).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
    });
  });
});
