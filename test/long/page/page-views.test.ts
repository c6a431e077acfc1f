// Every view of the page in a real Chromium over a working day on the sandbox: what it shows in both languages, sizes and
// colour schemes, whether everyone can read it, and how much it receives. With TEST_PICTURES=1 a screenshot of each view is
// saved in test-output/page.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Browser, chromiumPath, launchBrowser, type OpenPage, violations } from '../../support/status/browser.ts';
import { makeWorkingDay } from '../../support/status/status-day.ts';
import { type StatusPlace, TOKEN } from '../../support/status/status-place.ts';

/** The rules of axe's `cat.color` that are enabled by default. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** What each view shows, in English and in Portuguese. */
const VIEWS: Record<string, { hash: string; en: RegExp; pt: RegExp }> = {
  overview: {
    hash: 'overview',
    en: /failing[\s\S]*1 job is failing[\s\S]*pull-vehicles[\s\S]*Pulls every vehicle[\s\S]*depot-2[\s\S]*silent/,
    pt: /falhando[\s\S]*1 tarefa está falhando[\s\S]*pull-vehicles[\s\S]*Busca todos os veículos[\s\S]*depot-2[\s\S]*sem sinal/,
  },
  job: {
    hash: 'jobs/pull-events',
    en: /Last runs[\s\S]*daily_lookback[\s\S]*run finished/,
    pt: /Últimas execuções[\s\S]*daily_lookback[\s\S]*run finished/,
  },
  runs: {
    hash: 'runs',
    en: /The last 24 hours[\s\S]*pull-events[\s\S]*10 Mar/,
    pt: /As últimas 24 horas[\s\S]*pull-events[\s\S]*10 de mar/,
  },
  run: {
    hash: 'runs/f00d',
    en: /The folder of the ERP cannot be written[\s\S]*Counts/,
    pt: /O ERP não responde[\s\S]*The folder of the ERP cannot be written[\s\S]*Contagens/,
  },
  plans: {
    hash: 'plans',
    en: /3 entries need a person[\s\S]*1 push was rejected[\s\S]*2 plans for tomorrow are not confirmed[\s\S]*found twice[\s\S]*retries exhausted[\s\S]*R-2026-03-11-7/,
    pt: /3 itens precisam de uma pessoa[\s\S]*1 envio foi rejeitado[\s\S]*2 planos de amanhã não estão confirmados[\s\S]*encontrado duas vezes[\s\S]*R-2026-03-11-7/,
  },
  plan: {
    hash: 'plans/route_plans/R-2026-03-11-7',
    en: /no clear answer[\s\S]*Read back[\s\S]*Not shown by the service yet/,
    pt: /sem resposta clara[\s\S]*Consultado[\s\S]*O serviço ainda não o mostra/,
  },
  today: {
    hash: 'today',
    en: /Plans and stops as the service had them[\s\S]*Provisional: a plan of this day is still open[\s\S]*0 of 1 plan from the ERP is confirmed at the service\. It is not known whether [\w-]+ arrived\.[\s\S]*Late now\s+\d+\s+plus \d+ done late[\s\S]*Plans of the day[\s\S]*received after its start: 10 Mar[\s\S]*\d of \d[\s\S]*Deliveries by status[\s\S]*Late stops: \d+ open, \d+ done[\s\S]*Missing proof of delivery[\s\S]*Speeding/,
    pt: /Planos e paradas como estavam no serviço[\s\S]*Planos do dia[\s\S]*\d de \d[\s\S]*Entregas por estado[\s\S]*Paradas atrasadas[\s\S]*Entregas sem comprovante[\s\S]*Excesso de velocidade/,
  },
  data: {
    hash: 'data',
    en: /days and times in America\/Sao_Paulo[\s\S]*Yesterday, Mon 09 Mar, is not final[\s\S]*checklist \(with answers\): hole[\s\S]*route_plan \(.*\): provisional · read completely · late corrections are read for 3 d after it · expected final Fri 13 Mar, 00:00 · last read [\s\S]*these tables may lack records or differ from the service:\s+event: drift: 10% of final rows\s+vehicle: 1 record is in quarantine[\s\S]*The last 30 days[\s\S]*provisional[\s\S]*Latest final day[\s\S]*never verified\s+next check in [\s\S]*drift: 10%[\s\S]*route_point_execution[\s\S]*fresh[\s\S]*1 invalid record/,
    pt: /Ontem, .*, não está fechado[\s\S]*checklist \(com respostas\): lacuna[\s\S]*a estas tabelas podem faltar registros, ou elas podem diferir do serviço:\s+event: divergência: 10% das linhas fechadas\s+vehicle: 1 registro está em quarentena[\s\S]*Os últimos 30 dias[\s\S]*provisório[\s\S]*nunca verificada[\s\S]*divergência: 10%[\s\S]*route_point_execution[\s\S]*em dia[\s\S]*1 registro inválido[\s\S]*Veículos da conta/,
  },
  config: {
    hash: 'config',
    en: /The next seven days[\s\S]*requests_per_minute/,
    pt: /Os próximos sete dias[\s\S]*requests_per_minute/,
  },
};

/** Words of the English texts that no Portuguese text has. */
const wordsOf = (catalogue: object): string[] => JSON.stringify(Object.values(catalogue)).match(/[a-zà-ÿ]{3,}/gi) ?? [];
const ENGLISH_ONLY = await (async () => {
  const folder = `${import.meta.dirname}/../../../src/status/page/texts`;
  const [{ en }, { pt }] = await Promise.all([import(`${folder}/en.js`), import(`${folder}/pt.js`)]);
  const portuguese = new Set(wordsOf(pt).map((word) => word.toLowerCase()));
  return [...new Set(wordsOf(en).map((word) => word.toLowerCase()))].filter((word) => !portuguese.has(word));
})();

/** Tables with buttons that are wider than their frame, so that the last button is outside it. */
const CLIPPED = `[...document.querySelectorAll('.table-frame')]
  .filter((frame) => frame.scrollWidth > frame.clientWidth && frame.querySelector('td.actions') !== null)
  .map((frame) => frame.querySelector('caption').textContent)`;

/** Texts that leave the button that they are in. */
const OUTSIDE = `[...document.querySelectorAll('button > *')]
  .filter((part) => part.getBoundingClientRect().right > part.parentElement.getBoundingClientRect().right)
  .map((part) => part.textContent)`;

/** Texts of the page, leaving out names, codes and texts that are marked as written elsewhere. */
const OWN_TEXTS = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [document.title];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.closest('script, noscript, code, pre, [dir=auto], [lang=en], [translate=no], a[href^="#/jobs/"]') === null)
      texts.push(walker.currentNode.data);
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]'))
    if (element.closest('[lang=en]') === null)
      for (const name of ['aria-label', 'placeholder']) texts.push(element.getAttribute(name) ?? '');
  return texts;
})()`;

describe.skipIf(chromiumPath === undefined)('a view of the page', () => {
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
    ['desktop', 1_280, 'light', 'en'],
    ['desktop', 1_280, 'dark', 'pt'],
    ['phone', 360, 'light', 'pt'],
    ['phone', 360, 'dark', 'en'],
  ] as const)('on a %s (%i px, %s, %s)', (size, width, colorScheme, language) => {
    let same: OpenPage;
    beforeAll(async () => {
      const locale = language === 'pt' ? 'pt-BR' : 'en-US';
      same = await browser.open({ now: place.rig.clock.now(), width, height: 800, colorScheme, locale });
      await same.page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
    });
    afterAll(() => same.page.close());

    it.each(Object.entries(VIEWS))('shows %s with real data', async (name, view) => {
      const { page } = same;
      await page.goto(`${place.url}/#/${view.hash}`);
      await page.getByText(language === 'pt' ? 'ao vivo' : 'live', { exact: true }).waitFor();
      await expect.poll(() => page.locator('main').innerText()).toMatch(view[language]);
      await same.picture(`${name}-${size}-${colorScheme}-${language}`);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      expect(await page.evaluate(OUTSIDE)).toEqual([]);
      if (size === 'desktop') expect(await page.evaluate(CLIPPED)).toEqual([]);
      if (language === 'pt') {
        const texts = ((await page.evaluate(OWN_TEXTS)) as string[]).join(' ').toLowerCase();
        const words = new Set(texts.replaceAll(/\w+[-_.][\w-]+/g, '').split(/[^a-zà-ÿ]+/));
        expect(ENGLISH_ONLY.filter((word) => words.has(word))).toEqual([]);
      }
      // Colours are the same in both sizes, and everything else is the same in both colour schemes.
      if (colorScheme === 'light') expect(await violations(page)).toEqual([]);
      else if (size === 'desktop') expect(await violations(page, COLOUR_RULES)).toEqual([]);
      expect(same.faults).toEqual([]);
      expect([...same.hosts]).toEqual([new URL(place.url).host]);
    });
  });

  /** Counts what a page receives from now on, in bytes as transferred. */
  async function countReceived(page: Page) {
    const network = await page.context().newCDPSession(page);
    const received = { requests: 0, events: 0, bytes: 0 };
    const streams = new Set<string>();
    network.on('Network.requestWillBeSent', () => {
      received.requests += 1;
    });
    network.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.mimeType === 'text/event-stream') streams.add(requestId);
    });
    // The live stream never ends.
    network.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
      if (!streams.has(requestId)) return;
      received.events += 1;
      received.bytes += encodedDataLength;
    });
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!streams.has(requestId)) received.bytes += encodedDataLength;
    });
    await network.send('Network.enable');
    return received;
  }

  it.each(['en-US', 'pt-BR'])('is loaded with few requests and bytes (%s)', async (locale) => {
    const { page } = await browser.open({ now: place.rig.clock.now(), width: 1_281, locale });
    onTestFinished(() => page.close());
    await page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
    const received = await countReceived(page);
    await page.goto(`${place.url}/#/today`);
    await page.getByRole('group', { name: /^(?:Map of|Mapa d)/ }).waitFor();
    await page.locator('.chart canvas').first().waitFor();
    expect(received.requests).toBeLessThanOrEqual(15);
    expect(received.bytes).toBeLessThan(120_000);
    expect(received.bytes).toBeGreaterThan(40_000);
  });

  it('receives little in two minutes without a reader, in any view', async () => {
    const tabs: { name: string; page: Page; received: Awaited<ReturnType<typeof countReceived>> }[] = [];
    for (const [index, [name, { hash }]] of Object.entries(VIEWS).entries()) {
      // Each width has a context of its own: a browser opens six connections to a host, and each live stream takes one.
      const { page } = await browser.open({ now: place.rig.clock.now(), width: 1_300 + index });
      onTestFinished(() => page.close());
      await page.addInitScript(`sessionStorage.setItem('roadbook-token', '${TOKEN}')`);
      await page.goto(`${place.url}/#/${hash}`);
      await page.getByText('live', { exact: true }).waitFor();
      await expect.poll(() => page.getByText('Loading…').count()).toBe(0);
      tabs.push({ name, page, received: await countReceived(page) });
    }
    // As the sample daemon does: a push every minute, and plans are read once.
    for (let second = 0; second < 120; second += 4) {
      if (second % 60 === 8) await place.rig.run('push-route-plans');
      if (second === 32) await place.rig.run('pull-route-plans', { since: '4d' });
      const heard = tabs.map(({ received }) => received.events);
      await place.rig.clock.advance(4_000);
      await expect.poll(() => tabs.every(({ received }, n) => received.events > (heard[n] ?? 0))).toBe(true);
      for (const { page } of tabs) await page.clock.runFor(4_000);
    }
    for (const { name, received } of tabs) expect.soft(received.bytes, name).toBeLessThan(60_000);
    const readers = tabs.filter(({ received }) => received.requests > 0).map(({ name }) => name);
    expect(readers).toEqual(expect.arrayContaining(['runs', 'plans', 'today', 'data']));
  });
});
