// The page in a real Chromium over a working day on the sandbox. With TEST_PICTURES=1 a screenshot of each view is saved
// in test-output/page.
import axe from 'axe-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Browser, chromiumPath, launchBrowser, type OpenPage } from '../support/browser.ts';
import { HOSTILE, makeWorkingDay } from '../support/status-day.ts';
import { type StatusPlace, TOKEN } from '../support/status-place.ts';

if (chromiumPath === undefined) process.stderr.write('Chromium was not found: the browser tests are skipped.\n');

/** The rules of axe's `cat.color` that are enabled by default. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

const VIEWS: Record<string, { hash: string; shows: RegExp }> = {
  overview: { hash: 'overview', shows: /pull-vehicles[\s\S]*Pulls every vehicle[\s\S]*depot-2[\s\S]*silent/ },
  runs: { hash: 'runs', shows: /The last 24 hours[\s\S]*pull-events/ },
  run: { hash: 'runs/f00d', shows: /The folder of the ERP cannot be written/ },
  plans: {
    hash: 'plans',
    shows:
      /3 entries need a person[\s\S]*2 plans for tomorrow are not confirmed[\s\S]*found twice[\s\S]*retries exhausted[\s\S]*R-2026-03-11-7/i,
  },
  plan: {
    hash: 'plans/route_plans/R-2026-03-11-7',
    shows: /no clear answer[\s\S]*Read back[\s\S]*Not shown by the service yet/,
  },
  today: { hash: 'today', shows: /Deliveries by status[\s\S]*Late stops[\s\S]*Events by category/ },
  data: { hash: 'data', shows: /route_point_execution[\s\S]*invalid record/ },
  config: { hash: 'config', shows: /The next seven days[\s\S]*requests_per_minute/ },
};

describe.skipIf(chromiumPath === undefined)('the page', () => {
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

  const openLocked = async (hash: string) => {
    opened = await browser.open({ now: place.rig.clock.now() });
    const { page } = opened;
    onTestFinished(() => page.close());
    await page.goto(`${place.url}/#/${hash}`);
    return page;
  };
  const unlock = async () => {
    const { page } = opened;
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Lock page' }).waitFor();
  };
  const open = async (hash: string) => {
    const page = await openLocked(hash);
    await unlock();
    return page;
  };

  describe.each([
    ['desktop', 1_280, 'light'],
    ['desktop', 1_280, 'dark'],
    ['phone', 360, 'light'],
    ['phone', 360, 'dark'],
  ] as const)('on a %s (%i px, %s)', (size, width, colorScheme) => {
    let same: OpenPage;
    beforeAll(async () => {
      same = await browser.open({ now: place.rig.clock.now(), width, height: 800, colorScheme });
    });
    afterAll(() => same.page.close());

    it.each(Object.entries(VIEWS))('shows %s with real data', async (name, { hash, shows }) => {
      opened = same;
      const { page } = same;
      await page.goto(`${place.url}/#/${hash}`);
      if ((await page.evaluate('sessionStorage.length')) === 0) await unlock();
      await page.getByText('live', { exact: true }).waitFor();
      await expect.poll(() => page.locator('main').innerText()).toMatch(shows);
      await same.picture(`${name}-${size}-${colorScheme}`);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      // Colours are the same in both sizes, and everything else is the same in both colour schemes.
      if (colorScheme === 'light') expect(await seriousFaults()).toEqual([]);
      else if (size === 'desktop') expect(await seriousFaults(COLOUR_RULES)).toEqual([]);
    });
  });

  /** Checks all rules that are enabled by default, or only the given ones. */
  async function seriousFaults(rules?: readonly string[]): Promise<string[]> {
    const { page } = opened;
    // Injected by the debugger, because the policy of the page allows no script. It stays loaded from view to view.
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(`${axe.source}; undefined`);
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
    const result = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
      violations: { impact: string; id: string; nodes: { target: string[]; failureSummary: string }[] }[];
    };
    return result.violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join('; ')}`);
  }

  it('shows a run that ends while the page is open', async () => {
    const page = await open('overview');
    const row = page.getByRole('row', { name: /^push-agents/ });
    await row.getByText('never ran').waitFor();
    await place.rig.run('push-agents');
    // The page may not listen yet when the clock moves for the first time.
    await expect
      .poll(
        async () => {
          await place.rig.clock.advance(2_000);
          return row.getByRole('link', { name: 'ok' }).count();
        },
        { timeout: 30_000 },
      )
      .toBe(1);
  });

  it('keeps the keyboard focus while updates arrive', async () => {
    const page = await open('overview');
    const button = page.getByRole('button', { name: 'Pause: pull-drivers' });
    await button.focus();
    await place.rig.run('pull-vehicles');
    await place.rig.clock.advance(2_000);
    await page
      .getByRole('row', { name: /^pull-vehicles/ })
      .getByText(/just now|s ago/)
      .first()
      .waitFor();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Pause: pull-drivers');
  });

  it('shows nothing without the token, asks for it once, then shows data and allows actions', async () => {
    const page = await openLocked('overview');
    place.actions.splice(0);
    const token = page.getByLabel('Token');
    await token.fill('wrong-token');
    await page.keyboard.press('Enter');
    await page.getByText('The bearer token is wrong').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('pull-vehicles');
    await token.fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run now: pull-vehicles' }).click();
    await page.getByText('pull-vehicles: run: as ordered').waitFor();
    expect(place.actions).toEqual(['run pull-vehicles']);
    const [written] = await place.rig.rows('select action, subject from sync_audit order by id desc limit 1');
    expect(written).toEqual({ action: 'run', subject: 'pull-vehicles' });
  });

  it('hides its data once it is locked', async () => {
    const page = await open('overview');
    await page.getByRole('row', { name: /^pull-vehicles/ }).waitFor();
    await page.getByRole('button', { name: 'Lock page' }).click();
    await page.getByText('locked', { exact: true }).waitFor();
    expect(await page.locator('body').innerText()).not.toContain('pull-vehicles');
  });

  it('keeps the focus on the button that started an action', async () => {
    const page = await open('overview');
    await page.getByRole('button', { name: 'Run now: pull-drivers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('pull-drivers: run: as ordered').waitFor();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Run now: pull-drivers');
  });

  it('reports a token that cannot be valid, and does not store it', async () => {
    const page = await openLocked('overview');
    await page.getByLabel('Token').fill('ключ');
    await page.keyboard.press('Enter');
    await page.getByText('only ASCII letters, digits and punctuation').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('opens a run by a click on the timeline', async () => {
    const page = await open('runs');
    const line = page.locator('.gantt-line[data-job=pull-events]');
    await line.waitFor();
    // Half an hour later the timeline is drawn again, under the same policy.
    await place.rig.clock.advance(1_800_000);
    await place.rig.run('pull-drivers');
    await place.rig.clock.advance(2_000);
    await expect.poll(() => page.locator('tbody tr').first().innerText()).toContain('pull-drivers');
    const box = await line.boundingBox();
    const failed = (await place.rig.rows("select run_id, started_at from sync_run where run_id = 'past-48'"))[0]!;
    const from = place.rig.clock.now() - 86_400_000;
    const share = (Date.parse(String(failed.started_at)) + 20_000 - from) / 86_400_000;
    await page.mouse.move(box!.x + box!.width * share, box!.y + 8);
    await page.mouse.click(box!.x + box!.width * share, box!.y + 8);
    await page.getByText('The service did not answer').waitFor();
    expect(page.url()).toContain('#/runs/past-48');
  });

  it('shows the log lines of a run', async () => {
    const summary = await place.rig.run('pull-vehicles');
    const page = await open(`runs/${summary.run_id}`);
    const lines = page.getByRole('list', { name: 'Log lines' });
    await lines.getByText('run finished').waitFor();
    expect(await lines.innerText()).toContain('slice');
  });

  it('names the entries that need a person on the overview and links to them', async () => {
    const page = await open('overview');
    const hero = page.getByLabel('Overall health');
    await hero.getByText('found twice').waitFor();
    await hero.getByRole('link', { name: '3 pushes need a person' }).click();
    await page.getByLabel('Needs a person').getByText('1 item: at the service more than once').waitFor();
    const codes = await page.getByRole('rowheader').allInnerTexts();
    expect(codes.slice(0, 3)).toEqual([
      expect.stringMatching(/^R-2026-03-11-1\s+use 2 of the code$/),
      'R-2026-03-10-9',
      'R-2026-03-11-7',
    ]);
    await page.goto(`${place.url}/#/overview`);
    await page.getByRole('link', { name: /^Rejected pushes/ }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
  });

  it('distinguishes the uses of one code', async () => {
    const page = await open('plans');
    await page.getByLabel('External code').fill('03-11-1');
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    const links = page.getByRole('link', { name: 'R-2026-03-11-1' });
    await links.first().click();
    await page.getByText('The service has it more than once. ').waitFor();
    await page.getByText('Use of the code').waitFor();
    await page.getByRole('link', { name: 'All plans' }).click();
    await links.last().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await page.getByText('Use of the code').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  it('finds a plan by a part of its code, and cancels it after a second press', async () => {
    const page = await open('plans');
    await page.getByLabel('External code').fill('03-11-7');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'R-2026-03-11-7' }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'It may be at the service. Press again' }).click();
    await page.getByText('It is cancelled').waitFor();
    const rows = await place.rig.rows("select state from push_outbox where external_code = 'R-2026-03-11-7'");
    expect(rows).toEqual([{ state: 'cancelled' }]);
  });

  it('shows hostile names as text', async () => {
    const page = await open('plans');
    await page.getByRole('link', { name: HOSTILE[0] }).click();
    for (const text of HOSTILE.slice(1, 3)) await page.getByText(text, { exact: false }).first().waitFor();
    expect(await page.locator('main script, main img').count()).toBe(0);
  });

  it('masks people in the quarantine', async () => {
    const page = await open('data');
    await page.getByText('year: expected a number').click();
    const record = await page.getByLabel('Masked record').innerText();
    expect(record).toContain('"plate": "ABC1D23"');
    expect(record).not.toMatch(/Somebody|not declared/);
  });

  it('can be used by the keyboard alone', async () => {
    const page = await open('overview');
    await page.reload();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it('pages through ten thousand entries with hostile names quickly', async () => {
    await place.rig.engine.write(({ sql }) =>
      sql.raw(
        `insert into push_outbox (kind, external_code, state, content_hash, remote_key, attempts, unclear_sends,
           created_at, updated_at, revision, message)
         select 'itineraries', 'I-' || value || ' ' || ?, 'ready', 'h', 'k', 0, 0, :at, :at, 1, ?
         from json_each(?)`.replaceAll(':at', `'${new Date(place.rig.clock.now()).toISOString()}'`),
        [HOSTILE[0], HOSTILE[2], JSON.stringify(Array.from({ length: 10_000 }, (_, n) => n))],
      ),
    );
    const page = await open('plans');
    await page.getByRole('button', { name: '10,000 ready' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(51);
    for (const number of [2, 3, 4]) {
      await page.getByRole('button', { name: 'Older' }).click();
      await page.getByText(`Page ${number}`).waitFor();
    }
    expect(await page.getByRole('row').count()).toBe(51);
    expect(await page.locator('main *').count()).toBeLessThan(2_000);
  });

  it('cancels many entries at once, after it has shown how many', async () => {
    const page = await open('plans/ready');
    await page.getByLabel('External code').fill('I-99');
    await page.getByRole('button', { name: 'Cancel all 111' }).click();
    const confirm = page.getByRole('button', { name: 'Press again to cancel 111 entries' });
    await confirm.waitFor();
    await opened.picture('plans-many');
    // A live update leaves the question open.
    const update = page.waitForResponse(/\/api\//);
    await place.rig.run('pull-vehicles');
    await place.rig.clock.advance(2_000);
    await (await update).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    await confirm.click({ timeout: 2_000 });
    await page.getByText('111 cancelled, 0 skipped').waitFor();
    expect(await place.rig.rows(`select count(*) as n from push_outbox where state = 'ready'`)).toEqual([{ n: 9_889 }]);
    await page.getByText('No entry matches.').waitFor();
    expect(await page.getByRole('button', { name: /all \d/ }).count()).toBe(0);
  });

  it('sends an entry again after a person did not find it at the service', async () => {
    const page = await open('plans/route_plans/R-2026-03-10-9');
    await page.getByText('It was sent five times without a clear answer').waitFor();
    const [ask, confirm] = ['Not at the service: send it', 'I checked the service'].map((name) =>
      page.getByRole('button', { name }),
    );
    // A live update may close the question between the two clicks; the page receives the answer when the clock moves on.
    await expect
      .poll(
        async () => {
          for (const button of [ask, confirm]) await button?.click({ timeout: 1_000 }).catch(() => undefined);
          await place.rig.clock.advance(2_000);
          return page.getByText('It is ready; the next run sends it').count();
        },
        { timeout: 60_000 },
      )
      .toBe(1);
    await page.getByText('reported absent').waitFor();
    const rows = await place.rig.rows(
      "select state, attention from push_outbox where external_code = 'R-2026-03-10-9'",
    );
    expect(rows).toEqual([{ state: 'ready', attention: null }]);
  });
});
