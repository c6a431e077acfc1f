// What a person does on the page with many plans at once.
import { describe, expect, it } from 'vitest';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { IN_BROWSER, visitPage } from '../../support/status/page-visit.ts';
import { HOSTILE } from '../../support/status/status-day.ts';

describe('many plans on the page', IN_BROWSER, () => {
  const visit = visitPage();
  const { offer, open } = visit;

  it('pages through ten thousand entries with hostile names quickly', async () => {
    await visit.place.rig.engine.write(({ sql }) =>
      sql.raw(
        `insert into push_outbox (kind, external_code, state, content_hash, remote_key, attempts, unclear_sends,
           created_at, updated_at, revision, message)
         select 'itineraries', 'I-' || value || ' ' || ?, 'ready', 'h', 'k', 0, 0, :at, :at, 1, ?
         from json_each(?)`.replaceAll(':at', `'${new Date(visit.place.rig.clock.now()).toISOString()}'`),
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
    await visit.opened.picture('plans-many');
    const update = page.waitForResponse(/\/api\/outbox/);
    await visit.place.rig.run('pull-vehicles');
    await visit.place.rig.clock.advance(2_000);
    await (await update).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    await dialog.getByRole('button', { name: 'Cancel them' }).click({ timeout: 2_000 });
    await page.getByText('111 cancelled, 0 skipped').waitFor();
    expect(await visit.place.rig.rows(`select count(*) as n from push_outbox where state = 'ready'`)).toEqual([
      { n: 9_889 },
    ]);
    await page.getByText('No entry matches.').waitFor();
    expect(await page.getByRole('button', { name: /all \d/ }).count()).toBe(0);

    await page.goto(`${visit.place.url}/#/plans?state=ready`);
    await page.getByRole('button', { name: 'Cancel all 9,889' }).click();
    const cut = page.getByRole('alertdialog', { name: 'Cancel 500 entries?' });
    await cut.getByText('Only these 500 entries are acted on; 9,389 more match.').waitFor();
    await cut.getByRole('button', { name: 'Keep them' }).click();
  });

  it('acts on the entries that it showed, and on none that match or change afterwards', async () => {
    const rejected = (code: string, change = {}) => entryIn('rejected', { external_code: code, ...change });
    const changed = {
      content_hash: 'two',
      revision: 2,
      updated_at: new Date(visit.place.rig.clock.now()).toISOString(),
    };
    await offer('2026-03-19', [rejected('L-1'), rejected('L-2'), rejected('L-3')]);
    const page = await open('plans?state=rejected&day=2026-03-19');
    await page.getByRole('button', { name: 'Cancel all 3' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Cancel 3 entries?' });
    await dialog.waitFor();
    await offer('2026-03-19', [rejected('L-3', changed), rejected('L-4')]);
    await visit.place.ask('POST', '/api/outbox/retry', { body: { kind: 'route_plans', code: 'L-2' } });
    await dialog.getByRole('button', { name: 'Cancel them' }).click();
    await page.getByText('1 cancelled, 2 skipped because they changed').waitFor();
    const states = "select external_code as code, state from push_outbox where external_code like 'L-_' order by 1";
    expect(await visit.place.rig.rows(states)).toEqual([
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
      visit.place.rig.rows(
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

    await page.goto(`${visit.place.url}/#/plans?state=unknown&day=2026-03-18`);
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
});
