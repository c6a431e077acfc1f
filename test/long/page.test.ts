// What a person does on the page, in a real Chromium over a working day on the sandbox.
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/glossary.ts';
import { zeroCounts } from '../../src/core/glossary.ts';
import { pauseJob, resumeJob } from '../../src/warehouse/control/job-controls.ts';
import { storeContents } from '../../src/warehouse/outbox/content.ts';
import type { OutboxEntry } from '../../src/warehouse/outbox/entry.ts';
import { type Browser, chromiumPath, launchBrowser, type OpenPage, violations } from '../support/browser.ts';
import { entryIn } from '../support/outbox-samples.ts';
import { HOSTILE, makeRejection, makeWorkingDay, offerPlans } from '../support/status-day.ts';
import { makeStatusPlace, type StatusPlace, TOKEN } from '../support/status-place.ts';

if (chromiumPath === undefined) process.stderr.write('Chromium was not found: the browser tests are skipped.\n');

/** A browser may meet a machine that stalls: a test fails if it fails twice. */
const RETRY = { retry: 1 };

describe.skipIf(chromiumPath === undefined)('the page', RETRY, () => {
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
    // The button may appear before the dialog is gone.
    await page.getByRole('button', { name: 'Lock page' }).waitFor();
    await page.locator('#token').waitFor({ state: 'hidden' });
  };
  const open = async (hash: string) => {
    const page = await openLocked(hash);
    await unlock();
    return page;
  };
  /** Moves the server's clock until the page shows the state. */
  const untilShown = (shown: () => Promise<number>) =>
    expect
      .poll(
        async () => {
          await place.rig.clock.advance(2_000);
          return shown();
        },
        { timeout: 30_000 },
      )
      .toBe(1);

  it('names every reason of the health, the worst first, with links to what it is about', async () => {
    const page = await open('overview');
    const hero = page.getByLabel('Overall health');
    await hero.getByText('failing', { exact: true }).waitFor();
    const lines = await hero
      .getByRole('listitem')
      .evaluateAll((items) =>
        items.map((item) => [
          item.textContent.trim().replaceAll(/\s+/g, ' '),
          ...[...item.querySelectorAll('a')].map((link) => link.getAttribute('href')),
        ]),
      );
    expect(lines.slice(0, -1)).toEqual([
      ['1 job is failing: return-executions', '#/jobs/return-executions'],
      ['3 pushes need a person: found twice; retries exhausted; no clear answer', '#/plans'],
      ['Rows of final days differ from the service', '#/data'],
      ['1 push was rejected', '#/plans?state=rejected'],
      ['1 push job has no feed', '#/config'],
      ['The last edit of the configuration was rejected; the previous one stays in effect', '#/config'],
      ['1 record is in quarantine', '#/data/quarantine'],
      ['1 daemon is silent', '#/overview'],
    ]);
    const [words = '', ...links] = lines.at(-1) ?? [];
    expect(words).toMatch(/^5 jobs have not run yet: maintain-warehouse .* verify-warehouse$/);
    expect(links).toEqual((words.match(/[a-z]+-[a-z-]+/g) ?? []).map((job: string) => `#/jobs/${job}`));
    expect(links).toHaveLength(5);
  });

  it('shows a run that ends while the page is open', async () => {
    const page = await open('overview');
    const row = page.getByRole('row', { name: /^push-agents/ });
    await row.getByText('never', { exact: true }).waitFor();
    // Its runs are ok and push nothing.
    await row.getByText('no feed').waitFor();
    await place.rig.run('push-agents');
    await untilShown(() => row.getByRole('link', { name: 'ok', exact: true }).count());
    expect(await row.locator('.pill').innerText()).toBe('no feed');
    await row.getByRole('link', { name: 'push-agents' }).click();
    await page.getByRole('heading', { name: 'push-agents no feed' }).waitFor();
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
    await page.getByText('The token is wrong').waitFor();
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

  it('keeps the token although what was asked without one is refused while it is checked', async () => {
    opened = await browser.open({ now: place.rig.clock.now() });
    const { page } = opened;
    onTestFinished(() => page.close());
    const { promise: isChecked, resolve: check } = Promise.withResolvers<void>();
    await page.route(/\/api\/timeline/, async (route) => {
      if (route.request().headers().authorization !== undefined) return route.continue();
      const response = await route.fetch();
      await isChecked;
      await route.fulfill({ response });
    });
    await page.route('**/api/token', async (route) => {
      const refused = page.waitForResponse((response) => response.status() === 401);
      check();
      await refused;
      await route.continue();
    });
    await page.goto(`${place.url}/#/runs`);
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

  it('shows the result of an action beside the buttons of the table until it is closed', async () => {
    const page = await open('overview');
    const button = page.getByRole('button', { name: 'Pause: pull-drivers' });
    await button.click();
    const note = page.locator('.note', { hasText: 'pull-drivers: pause: as ordered' });
    await note.waitFor();
    const { x = 0, width = 0 } = (await note.boundingBox()) ?? {};
    expect(x + width).toBeLessThan((await page.locator('td.actions').first().boundingBox())?.x ?? 0);
    expect(await violations(page)).toEqual([]);
    await note.getByRole('button', { name: 'Close the message' }).click();
    await note.waitFor({ state: 'hidden' });
    expect(place.actions.at(-1)).toBe('pause pull-drivers');
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

  it('opens a run of the timeline by click and by keyboard, also where runs are many', async () => {
    const page = await open('runs');
    const line = page.getByRole('group', { name: /^pull-events: \d+ runs, \d failed/ });
    await line
      .getByRole('link', { name: /· failed ·/ })
      .last()
      .click();
    await page.getByText('The service did not answer').waitFor();
    expect(page.url()).toMatch(/#\/runs\/past-\d+$/);
    await page.goBack();
    // One stop of the Tab key for each line; the arrow keys move in it.
    await line.getByRole('link').last().focus();
    await page.keyboard.press('ArrowLeft');
    const chosen = (await page.evaluate('document.activeElement.getAttribute("aria-label")')) as string;
    await page.keyboard.press('Tab');
    expect(await line.locator(':focus').count()).toBe(0);
    await page.keyboard.press('Shift+Tab');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(chosen);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Counts' }).waitFor();
  });

  it('shows the log lines of a run', async () => {
    const summary = await place.rig.run('pull-vehicles');
    const page = await open(`runs/${summary.run_id}`);
    const lines = page.getByRole('list', { name: 'Log lines' });
    await lines.getByText('run finished').waitFor();
    expect(await lines.innerText()).toContain('slice');
    // In the time zone of the installation, as every other time of the view.
    const time = lines.locator('time').first();
    const instant = Date.parse((await time.getAttribute('datetime')) ?? '');
    expect((await time.innerText()).slice(0, 8)).toBe(new Date(instant - 3 * 3_600_000).toISOString().slice(11, 19));
    // A run of another process.
    await page.goto(`${place.url}/#/runs/f00d`);
    await page
      .getByText('This daemon has no log lines of this run: it keeps those of its own last 100 runs.')
      .waitFor();
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

  it('distinguishes the unknown pushes that need nobody yet from those of the card', async () => {
    const unknown_since = new Date(place.rig.clock.now() - 60_000).toISOString();
    await offer('2026-03-21', [entryIn('unknown', { external_code: 'U-1', unknown_since })]);
    const page = await open('overview');
    const reason = (name: string) => page.locator('.hero').getByRole('link', { name, exact: true });
    await untilShown(() => reason('1 push has an unknown outcome, which the next runs read back').count());
    onTestFinished(async () => void (await page.evaluate('localStorage.clear()')));
    await page.getByLabel('Language').selectOption('Português');
    await reason('1 envio tem resultado desconhecido, que as próximas execuções consultam').waitFor();
  });

  it('distinguishes the uses of one code', async () => {
    const page = await open('plans');
    await page.getByLabel('External code').fill('03-11-1');
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    const links = page.getByRole('link', { name: 'R-2026-03-11-1' });
    await links.first().click();
    await page.getByText('This entry needs a person: at the service more than once.').waitFor();
    await page.getByText('Use of the code').waitFor();
    await page.getByRole('link', { name: 'All plans' }).click();
    await links.last().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await page.getByText('Use of the code').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  it('finds a plan by a part of its code, and cancels it after a question', async () => {
    const page = await open('plans');
    await page.getByLabel('External code').fill('03-11-7');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('rowheader').getByRole('link', { name: 'R-2026-03-11-7' }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Cancel R-2026-03-11-7?' });
    await dialog.getByText('It may be at the service').waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await dialog.getByRole('button', { name: 'Cancel the plan' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByText('It is cancelled').waitFor();
    const rows = await place.rig.rows("select state from push_outbox where external_code = 'R-2026-03-11-7'");
    expect(rows).toEqual([{ state: 'cancelled' }]);
  });

  it('shows hostile names as text', async () => {
    const page = await open('plans');
    await page.getByRole('table').getByRole('link', { name: HOSTILE[0] }).click();
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

  it('keeps the rows of a table in their places while the pointer is in it', async () => {
    const page = await open('overview');
    const names = () => page.getByRole('table').first().getByRole('rowheader').getByRole('link').allInnerTexts();
    const row = page.getByRole('row', { name: /^pull-itineraries/ });
    await row.hover();
    const before = await names();
    await place.rig.engine.write(({ sql }) =>
      sql('sync_run').insert({
        run_id: 'bad-one',
        job: 'pull-itineraries',
        cause: 'schedule',
        status: 'failed',
        started_at: new Date(place.rig.clock.now()).toISOString(),
        finished_at: new Date(place.rig.clock.now()).toISOString(),
        host: 'h',
        pid: 1,
        ...zeroCounts(),
      }),
    );
    await untilShown(() => row.getByText('failing').count());
    expect(await names()).toEqual(before);
    await page.mouse.move(0, 0);
    await expect
      .poll(async () => (await names()).slice(0, 2).toSorted())
      .toEqual(['pull-itineraries', 'return-executions']);
    expect(await page.title()).toContain('failing');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/page/favicon-bad.svg');
    await place.rig.engine.write(({ sql }) => sql('sync_run').where({ run_id: 'bad-one' }).delete());
  });

  it.each(['pull-vehicles', 'push-route-plans'])(
    'leaves the pointer on the buttons of %s when it is paused and resumed',
    async (job) => {
      const page = await open('overview');
      const { engine, clock } = place.rig;
      const at = () => new Date(clock.now()).toISOString();
      onTestFinished(() => resumeJob(engine, job, at()));
      const pause = page.getByRole('button', { name: `Pause: ${job}` });
      const resume = page.getByRole('button', { name: `Resume: ${job}` });
      await pause.hover();
      const { x = 0, y = 0, width = 0, height = 0 } = (await pause.boundingBox()) ?? {};
      const underPointer = () =>
        page.evaluate(`document.elementFromPoint(${x + width / 2}, ${y + height / 2}).getAttribute('aria-label')`);
      const heights = () =>
        page
          .getByRole('table')
          .first()
          .getByRole('row')
          .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      const before = await heights();
      await pauseJob(engine, job, at());
      await untilShown(() => resume.count());
      expect.soft(await heights()).toEqual(before);
      expect.soft(await underPointer()).toBe(`Resume: ${job}`);
      await resumeJob(engine, job, at());
      await untilShown(() => pause.count());
      expect.soft(await heights()).toEqual(before);
      expect.soft(await underPointer()).toBe(`Pause: ${job}`);
    },
  );

  /** Runs of a job, each so many minutes ago; removed after the test. */
  async function addRuns(
    job: string,
    ...runs: [minutesAgo: number, status: string, seconds: number, change?: object][]
  ) {
    const { engine, clock } = place.rig;
    const rows = runs.map(([minutesAgo, status, seconds, change], n) => {
      const startMs = clock.now() - minutesAgo * 60_000;
      const finished_at = status === 'running' ? null : new Date(startMs + seconds * 1_000).toISOString();
      const known = { run_id: `${job}-${n}`, job, cause: 'schedule', host: 'h', pid: 1, ...zeroCounts() };
      return { ...known, status, started_at: new Date(startMs).toISOString(), finished_at, ...change };
    });
    onTestFinished(async () => {
      const ids = rows.map(({ run_id }) => run_id);
      await engine.write(({ sql }) => sql('sync_run').whereIn('run_id', ids).delete());
    });
    await engine.write(async ({ sql }) => {
      for (const row of rows) await sql('sync_run').insert(row);
    });
    return rows.map(({ started_at }) => started_at);
  }

  it('keeps the last error, its hint and since when the job fails while its next run is under way', async () => {
    const error = { error_code: 'unreachable', error: 'No answer came', error_hint: 'Wait for the next tick.' };
    const [success, first] = await addRuns(
      'maintain-warehouse',
      [190, 'ok', 0],
      [130, 'failed', 2, { ...error, error: 'The first one' }],
      [70, 'failed', 2, error],
      [1, 'running', 0],
    );
    const page = await open('overview');
    const words =
      /^No answer came Wait for the next tick\.\s+Failing since 2 h 10 min ago, 2 runs in a row\. Last success 3 h 10 min ago\.$/;
    const below = page.getByRole('row', { name: /^No answer came/ });
    expect((await below.innerText()).trim()).toMatch(words);
    const instants = await below.locator('time').evaluateAll((all) => all.map((each) => each.getAttribute('datetime')));
    expect(instants).toEqual([first, success]);
    await page
      .getByRole('row', { name: /^maintain-warehouse/ })
      .getByText('running')
      .waitFor();

    await page.getByRole('link', { name: 'maintain-warehouse', exact: true }).last().click();
    await page.getByLabel('Error').getByText('No answer came').waitFor();
    await page.getByText('Wait for the next tick.').waitFor();
    const fact = (name: string) => page.locator('dl.facts > div', { hasText: name }).locator('dd');
    expect(await fact('Failing since').innerText()).toBe('2 h 10 min ago');
    expect(await fact('Failures in a row').innerText()).toBe('2');
    expect(await fact('Last success').innerText()).toBe('3 h 10 min ago');
    expect(await fact('Last run').innerText()).toMatch(/^running/);
  });

  it('shows the last runs of a job as cells, with their durations and rows', async () => {
    const starts = await addRuns(
      'verify-warehouse',
      [180, 'ok', 90, { inserted: 3 }],
      [120, 'partial', 4, { updated: 2 }],
      [60, 'failed', 30, { inserted: 2 }],
    );
    const page = await open('jobs/verify-warehouse');
    const cells = page.getByRole('group', { name: 'The last 3 runs, the newest last' }).getByRole('link');
    await cells.first().waitFor();
    const shown = await cells.evaluateAll((all) =>
      all.map((cell) => ['aria-label', 'href', 'class'].map((name) => cell.getAttribute(name))),
    );
    const clock = (at = '') => new Date(Date.parse(at) - 3 * 3_600_000).toISOString().slice(11, 16);
    expect(shown).toEqual([
      [`10 Mar, ${clock(starts[0])} · ok · 1 min 30 s`, '#/runs/verify-warehouse-0', 'cell ok'],
      [`10 Mar, ${clock(starts[1])} · partial · 4 s`, '#/runs/verify-warehouse-1', 'cell late'],
      [`10 Mar, ${clock(starts[2])} · failed · 30 s`, '#/runs/verify-warehouse-2', 'cell bad'],
    ]);
    const spark = (name: string) => page.getByRole('img', { name: `verify-warehouse: ${name}` });
    const line = await spark('latest run 30 s, longest 1 min 30 s').locator('path.line').getAttribute('d');
    expect(line).toBe('M0.0 2.0L60.0 23.0L120.0 16.7');
    const bars = spark('rows written or items sent by the last 3 runs: 7').locator('rect');
    expect(await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('class')))).toEqual([
      'bar plain',
      'bar late',
      'bar bad',
    ]);
    await page.getByText('List of 3 runs').click();
    expect(await page.getByRole('table', { name: 'Runs, the newest first' }).getByRole('row').count()).toBe(4);
  });

  it('shows each of the last 30 days of a table as final, provisional or a hole, with a link to the day', async () => {
    const page = await open('data');
    expect(await page.getByLabel('Yesterday', { exact: true }).getAttribute('class')).toMatch(/^banner (?:late|bad)$/);
    const strip = page.getByRole('group', { name: 'route_plan: latest final day: Fri 06 Mar' }).getByRole('link');
    await strip.first().waitFor();
    const shown = await strip.evaluateAll((all) =>
      all.map((cell) => ['aria-label', 'href', 'class'].map((name) => cell.getAttribute(name))),
    );
    expect(shown).toHaveLength(30);
    expect(shown[0]).toEqual(['Mon 09 Feb · hole · not read yet', '#/today?day=2026-02-09', 'cell bad']);
    expect(shown[25]).toEqual(['Fri 06 Mar · final · read completely', '#/today?day=2026-03-06', 'cell ok']);
    const expected = 'late corrections are read for 3 d after it · expected final Fri 13 Mar, 00:00';
    expect(shown[28]).toEqual([
      `Mon 09 Mar · provisional · read completely · ${expected}`,
      '#/today?day=2026-03-09',
      'cell new',
    ]);
    expect(shown[29]?.[0]).toMatch(
      /^Tue 10 Mar · provisional · read until 10 Mar, 15:\d\d · final once a plan of the day/,
    );
    expect(shown[29]?.[1]).toBe('#/today?day=2026-03-10');
  });

  it('links a plan of the day to the run that pushed it', async () => {
    const page = await open('today?day=2026-03-11');
    const row = page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row', { name: /R-2026-03-11-2/ });
    await row.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: 'push-route-plans' }).waitFor();
    const [run] = await place.rig.rows(
      "select run_id from push_attempt where external_code = 'R-2026-03-11-2' order by number desc limit 1",
    );
    expect(page.url()).toMatch(new RegExp(`#/runs/${run?.run_id}$`));
  });

  it('copies the text of an incident where the browser has no clipboard for scripts', async () => {
    const page = await open('jobs/return-executions');
    // As on a page that comes from another machine by plain http.
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.getByRole('button', { name: 'Copy incident' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Incident' });
    const text = await dialog.getByRole('textbox').inputValue();
    expect(text).toMatch(/^Job: return-executions: failing\nError: The folder of the ERP cannot be written/);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByText('The incident is copied.').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await page.goto(`${place.url}/#/plans`);
    const field = page.getByLabel('External code');
    await field.focus();
    await page.keyboard.press('Control+V');
    expect(await field.inputValue()).toBe(text.replaceAll('\n', ' '));
  });

  it('shows the card of a stop that is chosen on the map', async () => {
    const page = await open('today');
    const stop = page.getByRole('group', { name: /^Map of \d+ points/ }).getByRole('button', { name: /^2\. .*late/ });
    await stop.focus();
    await page.keyboard.press('Enter');
    await page.getByText(/executed \d\d:\d\d, as number \d/).waitFor();
    await page.getByText(/^List of the \d+ points/).click();
    await opened.picture('today-points');
    expect(await page.locator('.stops .table-frame').evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(
      0,
    );
    expect(await violations(page)).toEqual([]);
  });

  it('shows the cards of the start and the end of a round trip together, for one covers the other', async () => {
    const page = await open('today');
    const stops = page.locator('#route').getByRole('button');
    await stops.first().waitFor();
    // At its place, whatever is on top there.
    await stops.first().click({ force: true });
    await expect.poll(() => page.locator('.stop-card strong').allInnerTexts()).toEqual(['Depot', 'Depot']);
    await opened.picture('round-trip');
  });

  const offer = (day: string, entries: readonly OutboxEntry[]) => offerPlans(place, day, entries);

  it('says in one line which plans of the ERP are not at the service, and names the vehicle of a rejected one', async () => {
    const payload = JSON.stringify({ data: { vehicle_plate: 'XYZ9A87' } });
    await offer('2026-03-15', [
      entryIn('confirmed', { external_code: 'V-1', remote_id: null }),
      entryIn('unknown', { external_code: 'V-2' }),
      entryIn('rejected', { external_code: 'V-3', payload, reasons: '["No vehicle has this plate."]' }),
    ]);
    const page = await open('today?day=2026-03-15');
    const said = page.getByText('1 of 3 plans from the ERP are confirmed at the service.').locator('..');
    await said
      .getByText(
        'V-3 was rejected: No vehicle has this plate. Correct it in the ERP; then it is sent by itself. It is not known whether V-2 arrived.',
      )
      .waitFor();
    const rejected = page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row', { name: /V-3/ });
    expect(await rejected.innerText()).toMatch(/rejected[\s\S]*XYZ9A87[\s\S]*not at the service/);
    await said.getByRole('link', { name: 'V-3' }).click();
    await page.getByRole('heading', { name: 'V-3' }).waitFor();
  });

  it('shows a plan that was taken in part as such in the list, its story and its day, in both languages', async () => {
    const part = {
      message: 'Accepted in part; 1 rejected',
      reasons: '["point rejected: S7: Address not found"]',
      updated_at: new Date(place.rig.clock.now()).toISOString(),
    };
    await offer('2026-03-16', [
      entryIn('confirmed', { external_code: 'T-1', remote_id: null }),
      entryIn('confirmed', { external_code: 'T-2', ...part }),
    ]);
    const page = await open('overview');
    const reason = page.getByRole('link', { name: '1 plan was taken without some of its stops', exact: true });
    await untilShown(() => reason.count());
    await reason.click();
    await page.getByRole('button', { name: '1 taken in part', pressed: true }).waitFor();
    const rows = page.getByRole('table').getByRole('row');
    await rows.filter({ hasText: 'T-2' }).waitFor();
    expect(await rows.count()).toBe(2);
    expect(await rows.last().innerText()).toMatch(
      /taken in part[\s\S]*1 rejected: point rejected: S7: Address not found/,
    );
    expect(await rows.last().innerText()).not.toContain('confirmed');
    await opened.picture('partial-plans');
    await page.getByRole('link', { name: 'T-2' }).click();
    await page.getByRole('heading', { name: 'T-2 taken in part' }).waitFor();
    await page.getByText('add the stops there').waitFor();
    await opened.picture('partial-plan');

    await page.goto(`${place.url}/#/today?day=2026-03-16`);
    const said = page.getByText('2 of 2 plans from the ERP are confirmed at the service.').locator('..');
    await said.getByRole('link', { name: '1 plan was taken without some of its stops.' }).waitFor();
    const ofDay = page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row');
    expect(await ofDay.filter({ hasText: 'T-2' }).innerText()).toMatch(/taken in part[\s\S]*Address not found/);
    await opened.picture('partial-day');
    await said.getByRole('link').click();
    onTestFinished(async () => void (await page.evaluate('localStorage.clear()')));
    await page.getByLabel('Language').selectOption('Português');
    const words = /aceito em parte[\s\S]*Aceito em parte \(partes rejeitadas: 1\): parada rejeitada: S7/;
    await expect.poll(() => rows.filter({ hasText: 'T-2' }).innerText()).toMatch(words);
    await opened.picture('partial-plans-pt');
  });

  it('is not green over a plan that the ERP changed after the push, and says what to do', async () => {
    const changed = { external_code: 'T-3', remote_id: null, content_hash: 'new', sent_hash: 'old' };
    await offer('2026-03-17', [entryIn('confirmed', changed)]);
    const page = await open('overview');
    const said = '1 item at the service differs from what the ERP offers, and no call can change it';
    const reason = page.getByRole('link', { name: said, exact: true });
    await untilShown(() => reason.count());
    await reason.click();
    await page.getByRole('button', { name: '1 differs from the ERP', pressed: true }).waitFor();
    await page.getByText('make the change there').waitFor();
    await page.getByRole('link', { name: 'T-3' }).click();
    await page.getByRole('heading', { name: 'T-3 differs from the ERP' }).waitFor();
    await page.getByText('make the change there').waitFor();
    await opened.picture('differing-plan');
    await page.goto(`${place.url}/#/today?day=2026-03-17`);
    const line = page.getByText('1 of 1 plan from the ERP is confirmed at the service.').locator('..');
    await line.getByRole('link', { name: `${said}.` }).waitFor();
    await opened.picture('differing-day');
  });

  it('says in one line which plans are gone from the service or need a person, on their rows and in the story', async () => {
    const { engine } = place.rig;
    const { id } = await engine.read((sql) => sql('route_plan').first('id'));
    const mark = (_missing_since: string | null) =>
      engine.write(({ sql }) => sql('route_plan').where({ id }).update({ _missing_since }));
    await mark('2026-03-10T14:00:00.000Z');
    onTestFinished(async () => void (await mark(null)));
    const told_at = '2026-03-10T12:00:00.000Z';
    await offer('2026-03-17', [
      entryIn('confirmed', { external_code: 'G-1', remote_id: id, told_at }),
      entryIn('confirmed', { external_code: 'G-2', remote_id: null, told_at, attention: 'found_twice' }),
    ]);
    const page = await open('today?day=2026-03-17');
    const said = page.getByText('1 of 2 plans from the ERP are confirmed at the service.').locator('..');
    expect(await said.innerText()).toMatch(/1 plan is gone from the service\.\s+1 plan needs a person\.$/);
    expect(await said.getAttribute('class')).toBe('banner bad');
    const row = (name: RegExp) => page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row', { name });
    expect(await row(/G-1/).innerText()).toMatch(/gone from the service[\s\S]*not at the service/);
    expect(await row(/G-2/).innerText()).toMatch(/at the service\s+found twice/);
    await row(/G-1/).getByRole('link', { name: 'G-1' }).click();
    await page.getByText(/^The service no longer returns this plan since/).waitFor();
    await page.goto(`${place.url}/#/plans`);
    await page.getByLabel('Needs a person').getByRole('link', { name: 'G-1' }).waitFor();
  });

  it('goes to the map of a plan, and says how many of many plans it shows', async () => {
    const codes = Array.from({ length: 25 }, (_, n) => `many-${n}`);
    await offer(
      '2026-03-10',
      codes.map((external_code) => entryIn('ready', { external_code })),
    );
    const page = await open('today');
    const rows = page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row');
    await page.getByText('Showing 20 of 34.').waitFor();
    expect(await rows.count()).toBe(21);
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => rows.count()).toBe(35);
    await rows.last().getByRole('link', { name: 'map' }).click();
    const plan = new URLSearchParams(page.url().split('?')[1]).get('plan');
    await expect.poll(() => page.locator('#route select').inputValue()).toBe(plan);
    expect(await page.evaluate('document.activeElement.id')).toBe('route');
    expect(await page.evaluate('document.querySelector("#route .map").getBoundingClientRect().top < innerHeight')).toBe(
      true,
    );
  });

  it.each([
    ['that is older than any reading', '2025-01-01'],
    ['that is a hole', '2026-03-01'],
    ['to come', '2026-04-20'],
  ])('does not reassure about a day %s', async (_, day) => {
    const page = await open(`today?day=${day}`);
    await page.getByText('Perhaps not all of this day was read').waitFor();
    const figures = page.getByRole('list', { name: 'The day in figures' });
    expect(await figures.locator('.card-value').allInnerTexts()).toEqual(['–', '–', '–', '–', '–']);
    const words = await page.locator('main').innerText();
    expect(words).not.toMatch(/Nothing is late|No stops are planned|No plan starts|Every executed stop|none planned/);
    expect(words.match(/Not read yet\./g)).toHaveLength(6);
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
    await page.getByText('It is cancelled').waitFor();
    // The button is gone with the action.
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  it('says that the day in the address is none, and recovers from an error once the address changes', async () => {
    const page = await open('today?day=18/11/2026');
    await page.getByText('18/11/2026 is not a day').waitFor();
    await page.goto(`${place.url}/#/today?day=2026-02-30`);
    await page.getByText('2026-02-30 is not a day').waitFor();
    await page.locator('main').getByRole('link', { name: 'Today', exact: true }).click();
    await page.getByText('Plans and stops as the service had them').waitFor();
    await page.route(/api\/today\?day=2026-03-09/, (route) => route.fulfill({ json: {} }));
    await page.getByRole('button', { name: 'The day before' }).click();
    await page.getByRole('heading', { name: 'This view has an error' }).waitFor();
    await page.goBack();
    await page.getByText('Plans and stops as the service had them').waitFor();
  });

  it('says that a kind in the address is none, and shows all kinds once that is chosen', async () => {
    const page = await open('plans?kind=bogus');
    await page.getByText('a filter in the address is invalid').waitFor();
    expect(await page.getByText('No entry matches.').count()).toBe(0);
    await page.getByLabel('Kind').selectOption('all');
    await page.getByRole('link', { name: 'R-2026-03-11-2' }).waitFor();
  });

  it('goes from the overview to the records in quarantine, and shows a filter of several states', async () => {
    const page = await open('overview');
    await page
      .getByLabel('Overall health')
      .getByRole('link', { name: /in quarantine$/ })
      .click();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Quarantine');
    const heading = page.getByRole('heading', { name: 'Quarantine' });
    expect(await heading.evaluate((node) => node.getBoundingClientRect().top)).toBeLessThan(800);
    await page.goto(`${place.url}/#/plans?state=ready,sending`);
    const pressed = page.getByRole('group', { name: 'State' }).getByRole('button', { pressed: true });
    await expect
      .poll(() => pressed.allInnerTexts())
      .toEqual([expect.stringMatching(/sending$/), expect.stringMatching(/ready$/)]);
    await page.getByRole('button', { name: /all$/ }).click();
    await expect.poll(() => pressed.allInnerTexts()).toEqual([expect.stringMatching(/all$/)]);
  });

  it('speaks Portuguese of actions, their results and the errors of runs', async () => {
    await offer('2026-03-15', [
      entryIn('ready', { external_code: 'P-1' }),
      entryIn('ready', { external_code: 'P-2', sent_hash: 'one' }),
    ]);
    const page = await open('overview');
    await page.getByLabel('Language').selectOption('Português');
    onTestFinished(() => page.evaluate('localStorage.clear()').then(() => undefined));
    await page.goto(`${place.url}/#/plans?state=ready&day=2026-03-15`);
    await page.getByRole('button', { name: 'Cancelar todos os 2' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('P-2 pode estar no serviço; nenhuma consulta o mostrou ainda').waitFor();
    await dialog.getByRole('button', { name: 'Cancelar todos' }).click();
    const result = 'Cancelados: 1. Ignorados porque mudaram ou seu estado não permite: 1.';
    await page.getByText(`2 escolhidos · pronto · dom., 15 de mar.: ${result}`).waitFor();
    await place.ask('POST', '/api/outbox/cancel', { body: { kind: 'route_plans', code: 'P-2' } });
    await place.ask('POST', '/api/outbox/assert-absent-many', { body: { states: ['sending'], sure: true } });
    await page.goto(`${place.url}/#/config`);
    const actions = page.getByRole('table', { name: 'Ações feitas por esta página' });
    await actions.getByRole('row', { name: /afirmar que vários não estão no serviço.*enviando.*Marcados/ }).waitFor();
    await actions.getByText('falhou: P-2 pode estar no serviço').waitFor();
    expect(await actions.getByText(result).count()).toBe(1);
    await page.goto(`${place.url}/#/jobs/return-executions`);
    const error = page.getByRole('region', { name: 'Erro' });
    const words = /O ERP não responde\.[\s\S]*The folder of the ERP cannot be written/;
    expect(await error.innerText()).toMatch(words);
    expect(await error.innerText()).toMatch(/\.\s+The folder/);
    expect(await error.locator('[lang=en]').innerText()).toMatch(
      /^The folder of the ERP cannot be written.*\. Check erp\.route_plans\.folder/,
    );
    await page.getByRole('button', { name: 'Copiar incidente' }).click();
    expect(await dialog.getByRole('textbox').inputValue()).toMatch(words);
  });

  it('says of a verification that it compared nothing', async () => {
    const at = new Date(place.rig.clock.now() - 3_600_000).toISOString();
    const { engine } = place.rig;
    await engine.write(({ sql }) =>
      sql('sync_run').insert({
        ...zeroCounts(),
        ...{ run_id: 'nothing', job: 'verify-warehouse', cause: 'manual', status: 'ok', host: 'h', pid: 1 },
        ...{ started_at: at, finished_at: at },
      }),
    );
    onTestFinished(() => engine.write(({ sql }) => sql('sync_run').where({ run_id: 'nothing' }).delete()));
    const page = await open('data');
    const row = page.getByRole('row', { name: /^driver/ });
    await row.getByText(/^not in the sample of the last check, .* ago$/).waitFor();
    await row.getByRole('link', { name: /^next check in/ }).click();
    await page.getByRole('heading', { name: 'verify-warehouse' }).waitFor();
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
      await opened.page.route(address, (route) => promise.then(() => route.continue()));
      return resolve;
    }
    const isFocused = async (element: Locator) => (await element.and(opened.page.locator(':focus')).count()) === 1;

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
    // As after a change of the token: the next stream is refused.
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
    const now = place.rig.clock.now();
    const tabs = [];
    for (const _ of Array(7)) {
      opened = await browser.open({ now });
      const { page } = opened;
      onTestFinished(() => page.close());
      await page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
      // Chromium without a screen calls every tab visible.
      await page.addInitScript(
        "Object.defineProperty(document, 'visibilityState', { get: () => window.seen ?? 'hidden' })",
      );
      await page.goto(`${place.url}/#/overview`);
      await page.getByRole('button', { name: 'Pause: pull-drivers' }).waitFor();
      tabs.push(page);
    }
    const { engine, clock } = place.rig;
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
    await page.goto(`${place.url}/#/config`);
    await page.getByText('Loading…').waitFor();
    await page.clock.fastForward(20_000);
    await page.locator('main').getByText('No answer within 20 s. The daemon may be busy').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('action');
  });

  it.each(['__proto__', 'constructor'])('shows the overview for the address of no view: %s', async (name) => {
    const page = await open(name);
    await page.getByLabel('Overall health').getByText('failing', { exact: true }).waitFor();
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
      await page.getByRole('link', { name: 'Older' }).click();
      await page.getByText(`Page ${number}`).waitFor();
    }
    expect(await page.getByRole('row').count()).toBe(51);
    expect(await page.locator('main *').count()).toBeLessThan(2_000);
  });

  it('cancels many entries at once, after it has shown which; a live update leaves the question open', async () => {
    const page = await open('plans?state=ready&code=I-99');
    await page.getByRole('button', { name: 'Cancel all 111' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Cancel 111 entries?' });
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(111);
    await opened.picture('plans-many');
    const update = page.waitForResponse(/\/api\/outbox/);
    await place.rig.run('pull-vehicles');
    await place.rig.clock.advance(2_000);
    await (await update).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    await dialog.getByRole('button', { name: 'Cancel them' }).click({ timeout: 2_000 });
    await page.getByText('111 cancelled, 0 skipped').waitFor();
    expect(await place.rig.rows(`select count(*) as n from push_outbox where state = 'ready'`)).toEqual([{ n: 9_889 }]);
    await page.getByText('No entry matches.').waitFor();
    expect(await page.getByRole('button', { name: /all \d/ }).count()).toBe(0);

    await page.goto(`${place.url}/#/plans?state=ready`);
    await page.getByRole('button', { name: 'Cancel all 9,889' }).click();
    const cut = page.getByRole('alertdialog', { name: 'Cancel 500 entries?' });
    await cut.getByText('Only these 500 entries are acted on; 9,389 more match.').waitFor();
    await cut.getByRole('button', { name: 'Keep them' }).click();
  });

  it('acts on the entries that it showed, and on none that match or change afterwards', async () => {
    const rejected = (code: string, change = {}) => entryIn('rejected', { external_code: code, ...change });
    const changed = { content_hash: 'two', revision: 2, updated_at: new Date(place.rig.clock.now()).toISOString() };
    await offer('2026-03-19', [rejected('L-1'), rejected('L-2'), rejected('L-3')]);
    const page = await open('plans?state=rejected&day=2026-03-19');
    await page.getByRole('button', { name: 'Cancel all 3' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Cancel 3 entries?' });
    await dialog.waitFor();
    await offer('2026-03-19', [rejected('L-3', changed), rejected('L-4')]);
    await place.ask('POST', '/api/outbox/retry', { body: { kind: 'route_plans', code: 'L-2' } });
    await dialog.getByRole('button', { name: 'Cancel them' }).click();
    await page.getByText('1 cancelled, 2 skipped because they changed').waitFor();
    const states = "select external_code as code, state from push_outbox where external_code like 'L-_' order by 1";
    expect(await place.rig.rows(states)).toEqual([
      { code: 'L-1', state: 'cancelled' },
      { code: 'L-2', state: 'ready' },
      { code: 'L-3', state: 'rejected' },
      { code: 'L-4', state: 'rejected' },
    ]);
  });

  it('says that nothing is left to do once no entry matches any more', async () => {
    await offer('2026-03-19', [entryIn('rejected', { external_code: 'L-1' })]);
    const page = await open('plans?state=rejected&day=2026-03-19');
    const cancel = page.getByRole('button', { name: 'Cancel this one' });
    await cancel.waitFor();
    await offer('2026-03-19', [entryIn('ready', { external_code: 'L-1', revision: 2 })]);
    await cancel.click();
    await page.getByLabel('Messages').getByText('Nothing is left to do: no entry matches any more.').waitFor();
    expect(await page.getByRole('alertdialog').count()).toBe(0);
    await page.getByText('No entry matches.').waitFor();
    expect(await cancel.count()).toBe(0);
  });

  it('retries many entries, or sends them again as absent, after it has shown what becomes of them', async () => {
    await offer('2026-03-18', [
      ...['M-1', 'M-2'].map((external_code) => entryIn('rejected', { external_code })),
      ...['N-1', 'N-2'].map((external_code) => entryIn('unknown', { external_code })),
    ]);
    const states = () =>
      place.rig.rows(
        `select external_code as code, state, sent_hash as sent from push_outbox
         where period_start like '2026-03-18%' order by 1`,
      );
    const unknown = ['N-1', 'N-2'].map((code) => ({ code, state: 'unknown', sent: 'one' }));
    const ready = (...codes: string[]) => codes.map((code) => ({ code, state: 'ready', sent: null }));
    const page = await open('plans?state=rejected&day=2026-03-18');
    await page.getByRole('button', { name: 'Retry all 2' }).click();
    const retry = page.getByRole('alertdialog', { name: 'Retry 2 entries?' });
    await retry.getByText('The next run sends the content unchanged').waitFor();
    expect(await retry.getByRole('listitem').allInnerTexts()).toEqual([
      'M-1: rejected → ready',
      'M-2: rejected → ready',
    ]);
    expect((await states()).map(({ state }) => state)).toEqual(['rejected', 'rejected', 'unknown', 'unknown']);
    await retry.getByRole('button', { name: 'Retry' }).click();
    await retry.waitFor({ state: 'hidden' });
    expect(await states()).toEqual([...ready('M-1', 'M-2'), ...unknown]);

    await page.goto(`${place.url}/#/plans?state=unknown&day=2026-03-18`);
    await page.getByRole('button', { name: 'Not at the service: send all 2' }).click();
    const absent = page.getByRole('alertdialog', { name: 'Send 2 entries again?' });
    await absent.getByText('Confirm only if you have checked the service').waitFor();
    expect(await absent.getByRole('listitem').allInnerTexts()).toEqual([
      'N-1: unknown → ready',
      'N-2: unknown → ready',
    ]);
    expect(await states()).toEqual([...ready('M-1', 'M-2'), ...unknown]);
    await absent.getByRole('button', { name: 'Send them' }).click();
    await absent.waitFor({ state: 'hidden' });
    expect(await states()).toEqual(ready('M-1', 'M-2', 'N-1', 'N-2'));
  });

  it('tells in the story of a plan both sides of its stops, and what people did', async () => {
    await offer('2026-03-15', [entryIn('ready', { external_code: 'S-1' })]);
    const page = await open('plans/route_plans/S-1');
    const people = page.getByRole('heading', { name: 'Actions of people' });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the plan' }).click();
    const action = people.locator('+ ol').getByRole('listitem');
    await action.waitFor();
    expect(await action.innerText()).toMatch(/^cancel It is cancelled.*\s+\d+ Mar 2026, [\d:]+ · \S+$/);

    await place.rig.run('pull-route-plans', { since: '4d' });
    const code = 'R-2026-03-11-2';
    await page.goto(`${place.url}/#/plans/route_plans/${code}`);
    const table = page.getByRole('table', { name: 'Stops from the ERP and at the service' });
    await table.waitFor();
    const rows = () => table.getByRole('row').allInnerTexts();
    expect(await table.locator('tr.row-late').count()).toBe(0);
    expect(await rows()).toEqual([
      expect.stringMatching(/^Stop\s+From the ERP\s+At the service\s+State\s+Difference$/),
      expect.stringMatching(/^Depot\s+1\s+1 · 11 Mar, [\d:]+\s+Planned\s*$/),
      expect.stringMatching(/^Square 1\s+2\s+2 · 11 Mar, [\d:]+\s+Planned\s*$/),
    ]);
    const entry = { kind: 'route_plans', external_code: code, code_use: 1 };
    const route_points = [
      { name: 'Square 9', order: 1 },
      { name: 'Square 1', order: 1 },
    ];
    const period = { start: '2026-03-11T11:00:00.000Z', end: '2026-03-11T23:00:00.000Z' };
    const offered = { entry, data: { route_points, vehicle_plate: 'NEW1A23' }, period, origin: 'late.json record 1' };
    const asIs = { stop: (stop: JsonObject) => stop, plate: (plate: string) => plate };
    const at = new Date(place.rig.clock.now()).toISOString();
    await place.rig.engine.write((tx) => storeContents(tx, [offered], asIs, at));
    await page.reload();
    await table.waitFor();
    expect((await rows()).map((row) => row.replaceAll(/\s+/g, ' ').trim()).slice(1)).toEqual([
      'Square 9 1 – only from the ERP',
      expect.stringMatching(/^Square 1 1 2 · .* Planned other order$/),
      expect.stringMatching(/^Depot – 1 · .* Planned only at the service$/),
    ]);
    expect(await table.locator('tbody tr.row-late').count()).toBe(3);
    const fields = page.getByRole('table', { name: 'Plan from the ERP and at the service' });
    expect((await fields.getByRole('row').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim())).toEqual([
      'Field From the ERP At the service Difference',
      expect.stringMatching(/^Vehicle NEW1A23 \S+ differs$/),
      expect.stringMatching(/^Starts 11 Mar 2026, \S+ 11 Mar 2026, \S+$/),
      expect.stringMatching(/^Ends 11 Mar 2026, 20:00:00 11 Mar 2026, \S+ differs$/),
    ]);
    await page.getByText(/^Offered last by the ERP on .*: late\.json record 1$/).waitFor();
  });

  it('sends an entry again after a person did not find it at the service', async () => {
    const page = await open('plans/route_plans/R-2026-03-10-9');
    await page.getByText('sent five times without a clear answer').waitFor();
    await page.getByRole('button', { name: 'Not at the service: send it' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('Confirm only if you have checked the service').waitFor();
    await dialog.getByRole('button', { name: 'Not at the service: send it' }).click();
    await page.locator('#main').getByText('It is ready; the next run sends it').waitFor();
    await page.getByText('reported absent').waitFor();
    const rows = await place.rig.rows(
      "select state, attention from push_outbox where external_code = 'R-2026-03-10-9'",
    );
    expect(rows).toEqual([{ state: 'ready', attention: null }]);
  });
});

describe.skipIf(chromiumPath === undefined)('the page after a rejected plan and an unreadable file', RETRY, () => {
  it('says what was rejected, where it is and what to do, and calls no job late', async () => {
    const [{ place, folder }, browser] = await Promise.all([makeRejection(), launchBrowser()]);
    onTestFinished(async () => {
      await browser.close();
      await place.close();
    });
    const opened = await browser.open({ now: place.rig.clock.now() });
    const { page } = opened;
    await page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
    await page.goto(`${place.url}/#/overview`);
    await page.getByRole('link', { name: /^To look at\s*2/ }).waitFor();
    expect(await page.getByLabel('Overall health').innerText()).not.toMatch(/late|on time/);
    expect(await page.title()).toBe('needs attention · Overview · Roadbook');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/page/favicon-attention.svg');
    const job = page.getByRole('row', { name: /push-route-plans/ });
    expect(await job.innerText()).toMatch(/needs attention/);
    const error = page.getByRole('row', { name: '1 plan rejected, 1 file not read completely' });
    expect(await error.getByRole('link', { name: 'Open the list' }).getAttribute('href')).toBe(
      '#/plans?state=rejected',
    );
    await opened.picture('rejection-overview');

    await page.getByRole('link', { name: '1 file or feed could not be read', exact: true }).click();
    const unread = page.getByLabel('1 file or feed could not be read in the last day.');
    await unread.getByText(`${folder}/failed`).waitFor();
    expect(await unread.innerText()).toMatch(/broken\.json[\s\S]*push-route-plans 10 Mar, 15:00/);

    await page.goto(`${place.url}/#/plans?state=rejected`);
    await page.getByText('Rejected by the service: No vehicle has this plate (XXX0X00)').waitFor();
    await opened.picture('rejection-plans');
    await page.getByRole('link', { name: 'R-2' }).click();
    await page.getByText('Not at the service. The ERP was notified on 10 Mar, 15:00. Correct it in the ERP').waitFor();
    expect(await page.locator('main').innerText()).toMatch(/kept until 17 Mar, 15:00[\s\S]*Vehicle\s+XXX0X00/);
    expect(await page.getByText('has not been read from the service').count()).toBe(0);
    await opened.picture('rejection-plan');
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByRole('link', { name: 'Rejected items' }).click();
    await page.getByRole('link', { name: 'R-2' }).click();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('alertdialog', { name: 'Retry R-2?' }).getByRole('button', { name: 'Retry' }).click();
    await page.getByText('It is ready; the next run sends it').waitFor();
    expect(await place.rig.rows("select state from push_outbox where external_code = 'R-2'")).toEqual([
      { state: 'ready' },
    ]);
    expect(opened.faults).toEqual([]);

    const inPortuguese = await browser.open({ now: place.rig.clock.now(), locale: 'pt-BR' });
    await inPortuguese.page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
    await inPortuguese.page.goto(`${place.url}/#/plans?show=unread`);
    await inPortuguese.page.getByLabel('1 arquivo ou fonte não pôde ser lido').getByText('broken.json').waitFor();
    const [sent] = await place.rig.rows("select remote_id as id from push_outbox where external_code = 'R-1'");
    await place.ask('POST', '/api/outbox/cancel', { body: { kind: 'route_plans', code: 'R-1', force: true } });
    await inPortuguese.page.goto(`${place.url}/#/plans/route_plans/R-1`);
    const message = `Cancelado por uma pessoa; ainda pode estar no serviço com o id ${sent?.id}`;
    await inPortuguese.page.getByText(message).first().waitFor();

    // After midnight R-2 is no plan of tomorrow, and not confirmed.
    // An open page would be sent its updates of every second.
    for (const { page: view } of [opened, inPortuguese]) await view.goto('about:blank');
    await place.rig.clock.advance(13 * 3_600_000);
    for (const [{ page: view }, label, words] of [
      [opened, 'Deadline', /1 plan missed the deadline: R-2\s+Every plan for tomorrow/],
      [inPortuguese, 'Prazo', /1 plano perdeu o prazo: R-2\s+Todos os planos de amanhã/],
    ] as const) {
      await view.goto(`${place.url}/#/plans?page=0`);
      const banner = view.getByLabel(label, { exact: true });
      await banner.getByRole('link', { name: 'R-2' }).waitFor();
      expect(await banner.innerText()).toMatch(words);
      expect(await banner.getAttribute('class')).toBe('banner bad');
    }
  });
});

describe.skipIf(chromiumPath === undefined)('the page without a token in the configuration', RETRY, () => {
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
