// How the page is reached and kept up: token, address, keyboard, slow and silent answers.
import type { Locator } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pauseJob, resumeJob } from '../../../src/warehouse/control/job-controls.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { launchBrowser, violations } from '../../support/status/browser.ts';
import { IN_BROWSER, visitPage } from '../../support/status/page-visit.ts';
import { makeStatusPlace, TOKEN } from '../../support/status/status-place.ts';

describe('access to the page', IN_BROWSER, () => {
  const visit = visitPage();
  const { offer, open, openLocked, openTab, unlock } = visit;

  it('shows nothing without the token, asks for it once, then shows data and allows actions', async () => {
    const page = await openLocked('overview');
    visit.place.actions.splice(0);
    const token = page.getByLabel('Token');
    await token.fill('wrong-token');
    await page.keyboard.press('Enter');
    await page.getByText('The token is wrong').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('pull-vehicles');
    await token.fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run now: pull-vehicles' }).click();
    await page.getByText('pull-vehicles: run: as requested').waitFor();
    expect(visit.place.actions).toEqual(['run pull-vehicles']);
    const [written] = await visit.place.rig.rows('select action, subject from sync_audit order by id desc limit 1');
    expect(written).toEqual({ action: 'run', subject: 'pull-vehicles' });
  });

  it('keeps the token although requests without one are rejected while it is checked', async () => {
    const page = await openTab();
    const { promise: isChecked, resolve: check } = Promise.withResolvers<void>();
    await page.route(/\/api\/timeline/, async (route) => {
      if (route.request().headers().authorization !== undefined) return route.continue();
      const response = await route.fetch();
      await isChecked;
      await route.fulfill({ response });
    });
    await page.route('**/api/token', async (route) => {
      const rejected = page.waitForResponse((response) => response.status() === 401);
      check();
      await rejected;
      await route.continue();
    });
    await page.goto(`${visit.place.url}/#/runs`);
    await unlock();
    await page.getByRole('group', { name: /^pull-events/ }).waitFor();
  });

  it('hides its data once it is locked', async () => {
    const page = await open('overview');
    await page.getByRole('row', { name: /^pull-vehicles/ }).waitFor();
    await page.getByRole('button', { name: 'Lock page' }).click();
    await page.getByText('locked', { exact: true }).waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(/pull-vehicles|The page is locked/);
  });

  it('reports a token that cannot be valid, and does not store it', async () => {
    const page = await openLocked('overview');
    await page.getByLabel('Token').fill('ключ');
    await page.keyboard.press('Enter');
    await page.getByText('only ASCII letters, digits and punctuation').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('asks for the token again after "Not now", and returns the focus from each dialog to where it was', async () => {
    await offer('2026-03-15', [entryIn('ready', { external_code: 'F-1' })]);
    const page = await open('plans/route_plans/F-1');
    await page.getByRole('button', { name: 'Cancel', exact: true }).focus();
    await page.evaluate('sessionStorage.clear()');
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog', { name: 'Cancel F-1?' });
    const token = page.getByRole('dialog', { name: 'Unlock page' });
    const focused = () => page.evaluate('document.activeElement.textContent');
    const confirm = question.getByRole('button', { name: 'Cancel the plan' });
    await question.waitFor();
    await confirm.press('Enter');
    await token.getByRole('button', { name: 'Not now' }).click();
    await token.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Cancel the plan');
    expect(await question.getByRole('alert').count()).toBe(0);
    await page.keyboard.press('Enter');
    await token.waitFor();
    await page.keyboard.press('Escape');
    await token.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Cancel the plan');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Cancel');
    await page.keyboard.press('Enter');
    await question.getByRole('button', { name: 'Keep it' }).press('Enter');
    await question.waitFor({ state: 'hidden' });
    await expect.poll(focused).toBe('Cancel');
    await page.keyboard.press('Enter');
    await confirm.click();
    await unlock();
    await page.getByText('It is cancelled').first().waitFor();
    // The button is gone with the action.
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it('can be used by the keyboard alone', async () => {
    const page = await open('runs');
    await page.reload();
    await page.getByRole('heading', { name: 'All runs' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    expect(page.url()).toMatch(/#\/runs$/);
    await page.getByRole('link', { name: 'Plans', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Plans', exact: true }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it.each(['__proto__', 'constructor'])('shows the overview for the address of no view: %s', async (name) => {
    const page = await open(name);
    await page.getByLabel('Overall health').getByText('failing', { exact: true }).waitFor();
  });

  it('says that the day in the address is none, and recovers from an error once the address changes', async () => {
    const page = await open('today?day=18/11/2026');
    await page.getByText('18/11/2026 is not a day').waitFor();
    await page.goto(`${visit.place.url}/#/today?day=2026-02-30`);
    await page.getByText('2026-02-30 is not a day').waitFor();
    await page.locator('main').getByRole('link', { name: 'Today', exact: true }).click();
    await page.getByText('Plans and stops as the service had them').waitFor();
    await page.route(/api\/today\?day=2026-03-09/, (route) => route.fulfill({ json: {} }));
    await page.getByRole('button', { name: 'The day before' }).click();
    await page.getByRole('heading', { name: 'This view has an error' }).waitFor();
    await page.goBack();
    await page.getByText('Plans and stops as the service had them').waitFor();
  });

  it('leaves nothing of the old view while a slow one is on its way', async () => {
    const page = await open('overview');
    const answer = Promise.withResolvers<void>();
    await page.route('**/api/config', (route) => answer.promise.then(() => route.continue()));
    await page.getByRole('link', { name: 'Config', exact: true }).click();
    await page.getByRole('heading', { name: 'Configuration' }).waitFor();
    expect(await page.locator('main').innerText()).toBe('Configuration\n\nLoading…');
    answer.resolve();
    await page.getByRole('heading', { name: 'The next seven days' }).waitFor();
  });

  describe('with an answer that is slow', () => {
    /** Answers the request once the test has looked. */
    async function hold(address: RegExp) {
      const { promise, resolve } = Promise.withResolvers<void>();
      await visit.opened.page.route(address, (route) => promise.then(() => route.continue()));
      return resolve;
    }
    const isFocused = async (element: Locator) =>
      (await element.and(visit.opened.page.locator(':focus')).count()) === 1;

    it('shows no figure of another day, and leaves the focus on the step to it', async () => {
      const page = await open('today');
      const figures = page.getByRole('list', { name: 'The day in figures' });
      await figures.waitFor();
      const answer = await hold(/api\/(?:today|day)\?day=2026-03-09/);
      const step = page.getByRole('button', { name: 'The day before' });
      await step.press('Enter');
      await page.getByRole('heading', { name: 'Mon 09 Mar' }).waitFor();
      expect(await page.locator('main').innerText()).toMatch(/^Mon 09 Mar\s+←\s+Day\s+→\s+Today\s+Loading…$/);
      answer();
      await figures.waitFor();
      expect(await isFocused(step)).toBe(true);
    });

    it('offers no action on the entries of another filter, and keeps the states and the focus', async () => {
      const code = (n: number) => ({ external_code: `H-${n}` });
      await offer('2026-03-22', [entryIn('rejected', code(1)), entryIn('ready', code(2)), entryIn('ready', code(3))]);
      const page = await open('plans?state=rejected&day=2026-03-22');
      await page.getByRole('button', { name: 'Cancel this one' }).waitFor();
      const answer = await hold(/api\/outbox\?.*state=ready/);
      const ready = page.getByRole('button', { name: /^\d+ ready$/ });
      await ready.press('Enter');
      await page.getByText('Loading…').waitFor();
      expect(await page.getByText('H-1').count()).toBe(0);
      expect(await page.getByRole('button', { name: /Cancel all/ }).count()).toBe(0);
      answer();
      await page.getByRole('button', { name: 'Cancel all 2' }).waitFor();
      expect(await isFocused(ready)).toBe(true);
    });

    it('shows no records of another table, and keeps the choice', async () => {
      const page = await open('data');
      const record = page.getByText('year: expected a number');
      await record.waitFor();
      const answer = await hold(/api\/quarantine\?.*table=driver/);
      const choice = page.getByRole('combobox', { name: /^Table/ });
      await choice.focus();
      await choice.selectOption('driver');
      await record.waitFor({ state: 'hidden' });
      answer();
      await page.getByText('No records of this table.').waitFor();
      expect(await isFocused(choice)).toBe(true);
    });
  });

  it('says within ten seconds that the daemon is silent although its connection stays open', async () => {
    const page = await open('overview');
    await page.getByText('live', { exact: true }).waitFor();
    // As a frozen daemon: nothing comes by the open stream, because its clock stands still, and a new one is not answered.
    await page.route('**/api/live', () => undefined);
    // The page's clock stands still after that: a wait of the test makes no second pass.
    await page.clock.pauseAt(((await page.evaluate('Date.now()')) as number) + 10_000);
    await page.getByText('The daemon does not answer').waitFor();
    expect(await page.locator('main').getAttribute('class')).toBe('outdated');
    await page.clock.resume();
    await expect.poll(() => page.title()).toContain('no answer');
    expect(await violations(page)).toEqual([]);
    await page.unroute('**/api/live');
    await page.clock.fastForward(10_000);
    await page.clock.fastForward(5_000);
    await page.getByText('live', { exact: true }).waitFor();
  });

  it('says of figures that stay after the page was locked that they are no longer kept up', async () => {
    const page = await open('overview');
    await page.getByText('live', { exact: true }).waitFor();
    // As after a change of the token: the next stream is rejected.
    await page.evaluate("sessionStorage.setItem('roadbook-token', 'an-old-token')");
    await page.clock.fastForward(10_000);
    await page.getByRole('dialog').getByRole('button', { name: 'Not now' }).click();
    await page.getByText(/^The page is locked: .* This page shows the state of 10 Mar 2026, [\d:]+\.$/).waitFor();
    await page.getByText('locked', { exact: true }).waitFor();
    expect(await page.title()).toBe('locked · Overview · Roadbook');
    expect(await page.locator('main').getAttribute('class')).toBe('outdated');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Unlock page' }).click();
    await unlock();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.getByText('The page is locked').count()).toBe(0);
  });

  it('works in more tabs than the browser has connections, and a tab that is not shown keeps up with less', async () => {
    const tabs = [];
    for (const _ of Array(7)) {
      const page = await openTab();
      await page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
      // Chromium without a screen calls every tab visible.
      await page.addInitScript(
        "Object.defineProperty(document, 'visibilityState', { get: () => window.seen ?? 'hidden' })",
      );
      await page.goto(`${visit.place.url}/#/overview`);
      await page.getByRole('button', { name: 'Pause: pull-drivers' }).waitFor();
      tabs.push(page);
    }
    const { engine, clock } = visit.place.rig;
    const at = () => new Date(clock.now()).toISOString();
    onTestFinished(() => resumeJob(engine, 'pull-drivers', at()));
    await pauseJob(engine, 'pull-drivers', at());
    const [first, second, third] = tabs;
    await first?.evaluate("window.seen = 'visible'; document.dispatchEvent(new Event('visibilitychange'))");
    await first?.getByRole('button', { name: 'Resume: pull-drivers' }).waitFor();
    await second?.clock.fastForward(60_000);
    await second?.getByRole('button', { name: 'Resume: pull-drivers' }).waitFor();
    expect(await second?.title()).toBe('failing · Overview · Roadbook');
    // No stream opens for it: it shows what it read when it was shown last.
    await third?.route('**/api/live', () => undefined);
    await third?.evaluate("window.seen = 'visible'; document.dispatchEvent(new Event('visibilitychange'))");
    await third?.locator('.link-state').getByText('connecting', { exact: true }).waitFor();
  });

  it('says of an action without an answer that it may still be carried out, and not of a reading', async () => {
    const page = await open('overview');
    await page.route('**/api/jobs/**', () => undefined);
    await page.getByRole('button', { name: 'Run now: pull-drivers' }).click();
    await page.clock.fastForward(20_000);
    await page.getByText('No answer within 20 s. The action may still be carried out').waitFor();
    await page.route('**/api/config', () => undefined);
    await page.goto(`${visit.place.url}/#/config`);
    await page.getByText('Loading…').waitFor();
    await page.clock.fastForward(20_000);
    await page.locator('main').getByText('No answer within 20 s. The daemon may be busy').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('action');
  });
});

describe('the page without a token in the configuration', IN_BROWSER, () => {
  it('says at once that actions are off, and asks for no token', async () => {
    const [place, browser] = await Promise.all([makeStatusPlace({ config: 'status: { port: 0 }' }), launchBrowser()]);
    onTestFinished(async () => {
      await browser.close();
      await place.close();
    });
    const { page } = await browser.open({ now: place.rig.clock.now() });
    await page.goto(`${place.url}/#/overview`);
    const buttons = ['Run now: pull-vehicles', 'Unlock page'].map((name) => page.getByRole('button', { name }));
    for (const button of [...buttons, ...buttons]) {
      const answer = page.waitForResponse((response) => response.status() === 403);
      await button.click();
      await answer;
    }
    await page.getByText('Actions are off: the configuration has no status.token.').first().waitFor();
    expect(await page.getByLabel('Token').count()).toBe(0);
  });
});
