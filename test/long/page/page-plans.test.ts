// What a person sees and does on the page about single plans.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { storeContents } from '../../../src/warehouse/outbox/content.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { launchBrowser, violations } from '../../support/status/browser.ts';
import { IN_BROWSER, visitPage } from '../../support/status/page-visit.ts';
import { HOSTILE, makeRejection } from '../../support/status/status-day.ts';
import { TOKEN } from '../../support/status/status-place.ts';

describe('plans on the page', IN_BROWSER, () => {
  const visit = visitPage();
  const { offer, open, untilShown } = visit;

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
    await page.goto(`${visit.place.url}/#/overview`);
    await page.getByRole('link', { name: /^Rejected pushes/ }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
  });

  it('distinguishes the unknown pushes that need no person yet from those of the card', async () => {
    const unknown_since = new Date(visit.place.rig.clock.now() - 60_000).toISOString();
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
    const rows = await visit.place.rig.rows("select state from push_outbox where external_code = 'R-2026-03-11-7'");
    expect(rows).toEqual([{ state: 'cancelled' }]);
  });

  it('shows hostile names as text', async () => {
    const page = await open('plans');
    await page.getByRole('table').getByRole('link', { name: HOSTILE[0] }).click();
    for (const text of HOSTILE.slice(1, 3)) await page.getByText(text, { exact: false }).first().waitFor();
    expect(await page.locator('main script, main img').count()).toBe(0);
  });

  it('says that a kind in the address is none, and shows all kinds once that is chosen', async () => {
    const page = await open('plans?kind=bogus');
    await page.getByText('a filter in the address is invalid').waitFor();
    expect(await page.getByText('No entry matches.').count()).toBe(0);
    await page.getByLabel('Kind').selectOption('all');
    await page.getByRole('link', { name: 'R-2026-03-11-2' }).waitFor();
  });

  it('shows a partial plan as such in the list, its story and its day, in both languages', async () => {
    const part = {
      message: 'Accepted in part; 1 rejected',
      reasons: '["point rejected: S7: Address not found"]',
      updated_at: new Date(visit.place.rig.clock.now()).toISOString(),
    };
    await offer('2026-03-16', [
      entryIn('confirmed', { external_code: 'T-1', remote_id: null }),
      entryIn('confirmed', { external_code: 'T-2', ...part }),
    ]);
    const page = await open('overview');
    const reason = page.getByRole('link', { name: '1 plan was taken without some of its stops', exact: true });
    await untilShown(() => reason.count());
    await reason.click();
    await page.getByRole('button', { name: '1 partial', pressed: true }).waitFor();
    const rows = page.getByRole('table').getByRole('row');
    await rows.filter({ hasText: 'T-2' }).waitFor();
    expect(await rows.count()).toBe(2);
    expect(await rows.last().innerText()).toMatch(/partial[\s\S]*1 rejected: point rejected: S7: Address not found/);
    expect(await rows.last().innerText()).not.toContain('confirmed');
    await visit.opened.picture('partial-plans');
    await page.getByRole('link', { name: 'T-2' }).click();
    await page.getByRole('heading', { name: 'T-2 partial' }).waitFor();
    await page.getByText('add the stops there').waitFor();
    await visit.opened.picture('partial-plan');

    await page.goto(`${visit.place.url}/#/today?day=2026-03-16`);
    const said = page.getByText('2 of 2 plans from the ERP are confirmed at the service.').locator('..');
    await said.getByRole('link', { name: '1 plan was taken without some of its stops.' }).waitFor();
    const ofDay = page.getByRole('table', { name: /^Plans of the day/ }).getByRole('row');
    expect(await ofDay.filter({ hasText: 'T-2' }).innerText()).toMatch(/partial[\s\S]*Address not found/);
    await visit.opened.picture('partial-day');
    await said.getByRole('link').click();
    onTestFinished(async () => void (await page.evaluate('localStorage.clear()')));
    await page.getByLabel('Language').selectOption('Português');
    const words = /parcial[\s\S]*Aceito em parte \(partes rejeitadas: 1\): parada rejeitada: S7/;
    await expect.poll(() => rows.filter({ hasText: 'T-2' }).innerText()).toMatch(words);
    await visit.opened.picture('partial-plans-pt');
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
    await visit.opened.picture('differing-plan');
    await page.goto(`${visit.place.url}/#/today?day=2026-03-17`);
    const line = page.getByText('1 of 1 plan from the ERP is confirmed at the service.').locator('..');
    await line.getByRole('link', { name: `${said}.` }).waitFor();
    await visit.opened.picture('differing-day');
  });

  it('shows in the story of a plan both sides of its stops, and what people did', async () => {
    await offer('2026-03-15', [entryIn('ready', { external_code: 'S-1' })]);
    const page = await open('plans/route_plans/S-1');
    const people = page.getByRole('heading', { name: 'Actions of people' });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the plan' }).click();
    const action = people.locator('+ ol').getByRole('listitem');
    await action.waitFor();
    expect(await action.innerText()).toMatch(/^cancel It is cancelled.*\s+\d+ Mar 2026, [\d:]+ · \S+$/);

    await visit.place.rig.run('pull-route-plans', { since: '4d' });
    const code = 'R-2026-03-11-2';
    await page.goto(`${visit.place.url}/#/plans/route_plans/${code}`);
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
    const at = new Date(visit.place.rig.clock.now()).toISOString();
    await visit.place.rig.engine.write((tx) => storeContents(tx, [offered], asIs, at));
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

  it('speaks Portuguese of actions, their results and the errors of runs', async () => {
    await offer('2026-03-15', [
      entryIn('ready', { external_code: 'P-1' }),
      entryIn('ready', { external_code: 'P-2', sent_hash: 'one' }),
    ]);
    const page = await open('overview');
    await page.getByLabel('Language').selectOption('Português');
    onTestFinished(() => page.evaluate('localStorage.clear()').then(() => undefined));
    await page.goto(`${visit.place.url}/#/plans?state=ready&day=2026-03-15`);
    await page.getByRole('button', { name: 'Cancelar todos os 2' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('P-2 pode estar no serviço; nenhuma consulta o mostrou ainda').waitFor();
    await dialog.getByRole('button', { name: 'Cancelar todos' }).click();
    const result = 'Cancelados: 1. Ignorados porque mudaram ou seu estado não permite: 1.';
    await page.getByText(`2 escolhidos · pronto · dom., 15 de mar.: ${result}`).waitFor();
    await visit.place.ask('POST', '/api/outbox/cancel', { body: { kind: 'route_plans', code: 'P-2' } });
    await visit.place.ask('POST', '/api/outbox/assert-absent-many', { body: { states: ['sending'], sure: true } });
    await page.goto(`${visit.place.url}/#/config`);
    const actions = page.getByRole('table', { name: 'Ações feitas por esta página' });
    await actions.getByRole('row', { name: /afirmar que vários não estão no serviço.*enviando.*Marcados/ }).waitFor();
    await actions.getByText('falhou: P-2 pode estar no serviço').waitFor();
    expect(await actions.getByText(result).count()).toBe(1);
    await page.goto(`${visit.place.url}/#/jobs/return-executions`);
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

  it('sends an entry again after a person did not find it at the service', async () => {
    const page = await open('plans/route_plans/R-2026-03-10-9');
    await page.getByText('sent five times without a clear answer').waitFor();
    await page.getByRole('button', { name: 'Not at the service: send it' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('Confirm only if you have checked the service').waitFor();
    await dialog.getByRole('button', { name: 'Not at the service: send it' }).click();
    await page.locator('#main').getByText('It is ready; the next run sends it').waitFor();
    await page.getByText('reported absent').waitFor();
    const rows = await visit.place.rig.rows(
      "select state, attention from push_outbox where external_code = 'R-2026-03-10-9'",
    );
    expect(rows).toEqual([{ state: 'ready', attention: null }]);
  });
});

describe('the page after a rejected plan and an unreadable file', IN_BROWSER, () => {
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
    await page.getByRole('link', { name: /^Needs a person\s*2/ }).waitFor();
    expect(await page.getByLabel('Overall health').innerText()).not.toMatch(/late|on time/);
    expect(await page.title()).toBe('warning · Overview · Roadbook');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/page/favicon-warning.svg');
    const job = page.getByRole('row', { name: /push-route-plans/ });
    expect(await job.innerText()).toMatch(/warning/);
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
