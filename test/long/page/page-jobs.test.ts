// What a person sees and does on the page about jobs and runs.
import { describe, expect, it, onTestFinished } from 'vitest';
import { zeroCounts } from '../../../src/core/glossary.ts';
import { pauseJob, resumeJob } from '../../../src/warehouse/control/job-controls.ts';
import { violations } from '../../support/status/browser.ts';
import { IN_BROWSER, visitPage } from '../../support/status/page-visit.ts';

describe('jobs and runs on the page', IN_BROWSER, () => {
  const visit = visitPage();
  const { open, untilShown } = visit;

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
    await visit.place.rig.run('push-agents');
    await untilShown(() => row.getByRole('link', { name: 'ok', exact: true }).count());
    expect(await row.locator('.pill').innerText()).toBe('no feed');
    await row.getByRole('link', { name: 'push-agents' }).click();
    await page.getByRole('heading', { name: 'push-agents no feed' }).waitFor();
  });

  it('keeps the keyboard focus while updates arrive', async () => {
    const page = await open('overview');
    const button = page.getByRole('button', { name: 'Pause: pull-drivers' });
    await button.focus();
    await visit.place.rig.run('pull-vehicles');
    await visit.place.rig.clock.advance(2_000);
    await page
      .getByRole('row', { name: /^pull-vehicles/ })
      .getByText(/just now|s ago/)
      .first()
      .waitFor();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Pause: pull-drivers');
  });

  it('shows the result of an action beside the buttons of the table until it is closed', async () => {
    const page = await open('overview');
    const button = page.getByRole('button', { name: 'Pause: pull-drivers' });
    await button.click();
    const note = page.locator('.note', { hasText: 'pull-drivers: pause: as requested' });
    await note.waitFor();
    const { x = 0, width = 0 } = (await note.boundingBox()) ?? {};
    expect(x + width).toBeLessThan((await page.locator('td.actions').first().boundingBox())?.x ?? 0);
    expect(await violations(page)).toEqual([]);
    await note.getByRole('button', { name: 'Close the message' }).click();
    await note.waitFor({ state: 'hidden' });
    expect(visit.place.actions.at(-1)).toBe('pause pull-drivers');
  });

  it('keeps the focus on the button that started an action', async () => {
    const page = await open('overview');
    await page.getByRole('button', { name: 'Run now: pull-drivers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('pull-drivers: run: as requested').waitFor();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Run now: pull-drivers');
  });

  it('keeps the rows of a table in their places while the pointer is in it', async () => {
    const page = await open('overview');
    const names = () => page.getByRole('table').first().getByRole('rowheader').getByRole('link').allInnerTexts();
    const row = page.getByRole('row', { name: /^pull-itineraries/ });
    await row.hover();
    const before = await names();
    await visit.place.rig.engine.write(({ sql }) =>
      sql('sync_run').insert({
        run_id: 'bad-one',
        job: 'pull-itineraries',
        cause: 'schedule',
        status: 'failed',
        started_at: new Date(visit.place.rig.clock.now()).toISOString(),
        finished_at: new Date(visit.place.rig.clock.now()).toISOString(),
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
    await visit.place.rig.engine.write(({ sql }) => sql('sync_run').where({ run_id: 'bad-one' }).delete());
  });

  it.each(['pull-vehicles', 'push-route-plans'])(
    'leaves the pointer on the buttons of %s when it is paused and resumed',
    async (job) => {
      const page = await open('overview');
      const { engine, clock } = visit.place.rig;
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
    const summary = await visit.place.rig.run('pull-vehicles');
    const page = await open(`runs/${summary.run_id}`);
    const lines = page.getByRole('list', { name: 'Log lines' });
    await lines.getByText('run finished').waitFor();
    expect(await lines.innerText()).toContain('slice');
    // In the time zone of the installation, as every other time of the view.
    const time = lines.locator('time').first();
    const instant = Date.parse((await time.getAttribute('datetime')) ?? '');
    expect((await time.innerText()).slice(0, 8)).toBe(new Date(instant - 3 * 3_600_000).toISOString().slice(11, 19));
    // A run of another process.
    await page.goto(`${visit.place.url}/#/runs/f00d`);
    await page
      .getByText('This daemon has no log lines of this run: it keeps those of its own last 100 runs.')
      .waitFor();
  });

  /** Runs of a job, each so many minutes ago; removed after the test. */
  async function addRuns(
    job: string,
    ...runs: [minutesAgo: number, status: string, seconds: number, change?: object][]
  ) {
    const { engine, clock } = visit.place.rig;
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
    await page.goto(`${visit.place.url}/#/plans`);
    const field = page.getByLabel('External code');
    await field.focus();
    await page.keyboard.press('Control+V');
    expect(await field.inputValue()).toBe(text.replaceAll('\n', ' '));
  });

  it('says of a verification that it compared nothing', async () => {
    const at = new Date(visit.place.rig.clock.now() - 3_600_000).toISOString();
    const { engine } = visit.place.rig;
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
});
