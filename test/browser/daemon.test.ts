// The page of the real daemon: it is served at the printed address, and its actions take effect.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadJobs } from '../../src/app/app.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace, type Running, type Workplace } from '../support/process/workplace.ts';
import { type Browser, chromiumPath, launchBrowser } from '../support/status/browser.ts';

describe.skipIf(chromiumPath === undefined)('the page of a daemon', () => {
  let browser: Browser;
  let place: Workplace;
  let daemon: Running;
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
    const others = (await loadJobs()).filter(({ name }) => name !== 'pull-vehicles');
    const jobs = others.map(({ name }) => `  ${name}: { enabled: false }`).join('\n');
    const rest = `status: { port: 0, token: open-sesame-7 }\njobs:\n  pull-vehicles: { schedule: "0 0 1 1 *" }\n${jobs}\n`;
    place = makeWorkplace(configFor(sandbox.url, rest));
    daemon = place.start(['start']);
    await daemon.printed(/"job":"pull-vehicles"[^\n]*"run finished"/);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    place.remove();
    await sandbox.close();
  });

  it('runs, pauses and resumes a job by its actions, and goes away with the daemon', async () => {
    const url = /page\s+(http:\S+)/.exec(daemon.stdout())?.[1] ?? '';
    const { page, faults } = await browser.open();
    await page.goto(url);
    await page.getByLabel('Token').fill('open-sesame-7');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Run now: pull-vehicles' }).click();
    await page.getByText('pull-vehicles: The run starts within seconds.').waitFor();
    await daemon.printed(/"run finished"[\s\S]*"run finished"/);
    await page.getByRole('button', { name: 'Pause: pull-vehicles' }).click();
    await page.getByRole('button', { name: 'Resume: pull-vehicles' }).click();
    await page.getByRole('button', { name: 'Pause: pull-vehicles' }).waitFor();
    expect(faults).toEqual([]);
    daemon.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    const runs = await place.query('select cause, status from sync_run order by started_at');
    expect(runs).toEqual([
      { cause: 'catch-up', status: 'ok' },
      { cause: 'manual', status: 'ok' },
    ]);
    const actions = await place.query('select action, subject from sync_audit order by id');
    expect(actions.map(({ action }) => action)).toEqual(['run', 'pause', 'resume']);
  });
});
