// What the page shows of a day and of the data that were read.
import { describe, expect, it, onTestFinished } from 'vitest';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { violations } from '../../support/status/browser.ts';
import { IN_BROWSER, visitPage } from '../../support/status/page-visit.ts';

describe('a day and the data on the page', IN_BROWSER, () => {
  const visit = visitPage();
  const { offer, open } = visit;

  it('links a plan of the day to the run that pushed it', async () => {
    const page = await open('today?day=2026-03-11');
    const row = page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row', { name: /R-2026-03-11-2/ });
    await row.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: 'push-route-plans' }).waitFor();
    const [run] = await visit.place.rig.rows(
      "select run_id from push_attempt where external_code = 'R-2026-03-11-2' order by number desc limit 1",
    );
    expect(page.url()).toMatch(new RegExp(`#/runs/${run?.run_id}$`));
  });

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

  it('says in one line which plans are gone from the service or need a person, on their rows and in the story', async () => {
    const { engine } = visit.place.rig;
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
    await page.goto(`${visit.place.url}/#/plans`);
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

  it('shows the card of a stop that is chosen on the map', async () => {
    const page = await open('today');
    const stop = page.getByRole('group', { name: /^Map of \d+ points/ }).getByRole('button', { name: /^2\. .*late/ });
    await stop.focus();
    await page.keyboard.press('Enter');
    await page.getByText(/executed \d\d:\d\d, as number \d/).waitFor();
    await page.getByText(/^List of the \d+ points/).click();
    await visit.opened.picture('today-points');
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
    await visit.opened.picture('round-trip');
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

  it('masks people in the quarantine', async () => {
    const page = await open('data');
    await page.getByText('year: expected a number').click();
    const record = await page.getByLabel('Masked record').innerText();
    expect(record).toContain('"plate": "ABC1D23"');
    expect(record).not.toMatch(/Somebody|not declared/);
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
    await page.goto(`${visit.place.url}/#/plans?state=ready,sending`);
    const pressed = page.getByRole('group', { name: 'State' }).getByRole('button', { pressed: true });
    await expect
      .poll(() => pressed.allInnerTexts())
      .toEqual([expect.stringMatching(/sending$/), expect.stringMatching(/ready$/)]);
    await page.getByRole('button', { name: /all$/ }).click();
    await expect.poll(() => pressed.allInnerTexts()).toEqual([expect.stringMatching(/all$/)]);
  });
});
