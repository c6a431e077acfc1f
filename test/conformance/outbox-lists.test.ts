// What the outbox finds, over every engine: for people, for the search of the service, and for telling the ERP.
import type { Knex } from 'knex';
import { describe, expect, it } from 'vitest';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import {
  addEntry,
  entriesByCode,
  entriesNamed,
  runningPlans,
  searchEntries,
  statesOfPeriod,
} from '../../src/warehouse/outbox-lookup.ts';
import {
  confirmedWithin,
  foreignIds,
  markChecked,
  type Sought,
  shownPeriod,
  soughtEntries,
  soughtPeriods,
} from '../../src/warehouse/outbox-search.ts';
import { dropToldCodes, markTold, untoldEntries } from '../../src/warehouse/outbox-telling.ts';
import { engineCases } from '../support/engines.ts';
import { hour, KIND, useOutbox } from '../support/outbox-place.ts';

const codesOf = (entries: readonly { external_code: string }[]): string[] =>
  entries.map(({ external_code }) => external_code);
const DAYS = 24;

describe.each(engineCases)('lists on $name', (engineCase) => {
  const outbox = useOutbox(engineCase);
  const { put, row } = outbox;
  const read = <T>(work: (sql: Knex) => Promise<T>): Promise<T> => outbox.engine.read(work);
  const write = <T>(work: (sql: Knex) => Promise<T>): Promise<T> =>
    outbox.engine.write(({ sql }) => work(sql));
  const putMany = (count: number, change: Partial<OutboxEntry>): Promise<unknown> =>
    write(async (sql) => {
      const made = {
        kind: KIND,
        content_hash: 'h',
        remote_key: 'k',
        attempts: 0,
        unclear_sends: 0,
        revision: 1,
        state: 'ready',
      };
      const dated = { ...made, created_at: hour(0), updated_at: hour(0), ...change };
      for (let n = 0; n < count; n += 50) {
        const codes = Array.from({ length: Math.min(50, count - n) }, (_, i) =>
          String(n + i).padStart(4, '0'),
        );
        await sql('push_outbox').insert(codes.map((external_code) => ({ ...dated, external_code })));
      }
    });

  describe('for people', () => {
    it('new entries begin with nothing behind them', async () => {
      const made = {
        kind: KIND,
        external_code: 'A',
        state: 'ready',
        content_hash: 'h',
        remote_key: 'k',
      } as const;
      await write((sql) => addEntry(sql, { ...made, message: 'new' }, hour(1)));
      const begun = { attempts: 0, unclear_sends: 0, revision: 1, created_at: hour(1), updated_at: hour(1) };
      expect(await row('A')).toMatchObject({ ...made, ...begun, message: 'new' });
    });

    it('entries are found by their codes, of one kind or of any', async () => {
      await put('A');
      await put('B');
      await put('C');
      await write((sql) =>
        addEntry(
          sql,
          { kind: 'agents', external_code: 'A', state: 'ready', content_hash: '', remote_key: '' },
          hour(0),
        ),
      );
      const found = await read((sql) => entriesByCode(sql, KIND, ['A', 'B', 'none']));
      expect([...found].map(([code, entry]) => [code, entry.external_code, entry.kind])).toEqual([
        ['A', 'A', KIND],
        ['B', 'B', KIND],
      ]);
      const named = (code: string, kind?: string) => read((sql) => entriesNamed(sql, code, kind));
      expect((await named('A')).map(({ kind }) => kind).toSorted()).toEqual(['agents', KIND]);
      expect((await named('A', 'agents')).map(({ kind }) => kind)).toEqual(['agents']);
      expect(await named('a')).toEqual([]);
    });

    it('a search shows what needs somebody first, then what changed last, by pages', async () => {
      await put('ready', { updated_at: hour(9) });
      await put('confirmed', { state: 'confirmed', updated_at: hour(8) });
      await put('rejected', { state: 'rejected', updated_at: hour(1) });
      await put('sending', { state: 'sending', updated_at: hour(1) });
      await put('unknown B', { state: 'unknown', updated_at: hour(1) });
      await put('unknown A', { state: 'unknown', updated_at: hour(1) });
      await put('unknown C', { state: 'unknown', updated_at: hour(2) });
      const all = ['unknown C', 'unknown A', 'unknown B', 'sending', 'rejected', 'ready', 'confirmed'];
      const search = async (what: object) =>
        codesOf(await read((sql) => searchEntries(sql, { limit: 10, ...what })));
      expect(await search({})).toEqual(all);
      expect(await search({ limit: 2 })).toEqual(all.slice(0, 2));
      expect(await search({ limit: 2, offset: 2 })).toEqual(all.slice(2, 4));
      expect(await search({ states: ['ready', 'rejected'] })).toEqual(['rejected', 'ready']);
      expect(await search({ kind: 'agents' })).toEqual([]);
      expect(await search({ kind: KIND, code: 'ED' })).toEqual(['rejected', 'confirmed']);
    });

    it.each(['100%', 'A_B', '50!', 'Ção'])('a search for %s takes it by the letter', async (code) => {
      for (const each of [`x${code}x`, '1000', 'AxB', '50', 'c']) await put(each);
      expect(codesOf(await read((sql) => searchEntries(sql, { code, limit: 9 })))).toEqual([`x${code}x`]);
    });

    it('the states of a period are those of what starts in it', async () => {
      await put('before', { period_start: hour(0) });
      await put('first', { period_start: hour(1) });
      await put('last', { period_start: hour(1.9), state: 'confirmed' });
      await put('last too', { period_start: hour(1.9), state: 'confirmed' });
      await put('after', { period_start: hour(2) });
      await put('agent', { period_start: hour(1), kind: 'agents' });
      const states = await read((sql) => statesOfPeriod(sql, KIND, { start: hour(1), end: hour(2) }));
      expect(states.toSorted((a, b) => a.n - b.n)).toEqual([
        { state: 'ready', n: 1 },
        { state: 'confirmed', n: 2 },
      ]);
    });

    it('running plans are confirmed ones that have begun and did not end long ago, a page at a time', async () => {
      const running = {
        state: 'confirmed',
        remote_id: 7,
        period_start: hour(2),
        period_end: hour(6),
      } as const;
      await put('A', running);
      await put('B', running);
      await put('ahead', { ...running, period_start: hour(4.1) });
      await put('over', { ...running, period_end: hour(5) });
      await put('ready', { ...running, state: 'ready' });
      await put('no identifier', { ...running, remote_id: null });
      await put('agent', { ...running, kind: 'agents' });
      await put('just begun', { ...running, period_start: hour(4) });
      const page = async (after: string) =>
        codesOf(await read((sql) => runningPlans(sql, { startedBy: hour(4), endedAfter: hour(5) }, after)));
      expect(await page('')).toEqual(['A', 'B', 'just begun']);
      expect(await page('A')).toEqual(['B', 'just begun']);
      await putMany(101, running);
      expect(await page('')).toHaveLength(100);
    });
  });

  describe('for the search of the service', () => {
    const at = hour(5 * DAYS);
    const sought = (ready: Sought['ready']): Sought => ({ kind: KIND, at, runId: 'r1', ready });
    const seek = async (ready: Sought['ready'], after = '', period?: { start: string; end: string }) =>
      codesOf(await read((sql) => soughtEntries(sql, sought(ready), { isSent: false, period, after })));

    it('those that were sent are sought apart from the others', async () => {
      await put('sent', { state: 'unknown', sent_hash: 'sent' });
      await put('not sent', { state: 'unknown' });
      const page = { isSent: true, period: undefined, after: '' };
      expect(codesOf(await read((sql) => soughtEntries(sql, sought('none'), page)))).toEqual(['sent']);
      expect(await seek('none')).toEqual(['not sent']);
    });

    it('those whose outcome is open are sought, and of the ready ones as many as are asked for', async () => {
      await put('unknown', { state: 'unknown' });
      await put('refused', { state: 'rejected', is_watched: true });
      await put('refused, settled', { state: 'rejected', is_watched: false });
      await put('watched', { state: 'confirmed', is_watched: true, confirmed_at: hour(2 * DAYS + 1) });
      await put('watched too long', { state: 'confirmed', is_watched: true, confirmed_at: hour(2 * DAYS) });
      await put('confirmed', { state: 'confirmed', confirmed_at: at });
      await put('cancelled', { state: 'cancelled', is_watched: true });
      await put('sending', { state: 'sending' });
      await put('agent', { state: 'unknown', kind: 'agents' });
      await put('ready');
      await put('ready, waiting', { next_attempt_at: hour(5 * DAYS + 1) });
      await put('ready, empty', { payload: null });
      await put('ready, checked', { checked_run_id: 'r1' });
      await put('ready, checked by another', { checked_run_id: 'r0' });
      await put('ready, doubtful', { is_doubtful: true });
      await put('ready, unclear', { unclear_sends: 1 });
      const open = ['refused', 'unknown', 'watched'];
      const doubts = ['ready, doubtful', 'ready, unclear'];
      expect(await seek('none')).toEqual(open);
      expect(await seek('in-doubt')).toEqual([...open, ...doubts].toSorted());
      expect(await seek('all')).toEqual(
        [...open, ...doubts, 'ready', 'ready, checked by another'].toSorted(),
      );
      expect(await seek('none', 'refused')).toEqual(['unknown', 'watched']);
    });

    it('they are sought by the periods they have, a page at a time', async () => {
      await put('A', { state: 'unknown', period_start: hour(1), period_end: hour(3) });
      await put('B', { state: 'unknown', period_start: hour(1), period_end: hour(3) });
      await put('C', { state: 'unknown', period_start: hour(2), period_end: hour(4) });
      expect(
        (await read((sql) => soughtPeriods(sql, sought('none')))).toSorted((a, b) =>
          a.start < b.start ? -1 : 1,
        ),
      ).toEqual([
        { start: hour(1), end: hour(3) },
        { start: hour(2), end: hour(4) },
      ]);
      expect(await seek('none', '', { start: hour(1), end: hour(3) })).toEqual(['A', 'B']);
      expect(await seek('none', '', { start: hour(2), end: hour(4) })).toEqual(['C']);
      await putMany(201, { state: 'unknown' });
      expect(await seek('none')).toHaveLength(200);
    });

    it('an identifier that an entry has already is told with its code', async () => {
      await put('A', { remote_id: 7 });
      await put('B', { remote_id: 8 });
      await put('agent', { remote_id: 9, kind: 'agents' });
      expect(await read((sql) => foreignIds(sql, KIND, [7, 9, 10]))).toEqual(new Map([[7, 'A']]));
    });

    it('only what is still as it was searched for is marked as checked', async () => {
      const entries = [
        await put('old', { updated_at: hour(1) }),
        await put('edge', { updated_at: hour(2) }),
        await put('changed since', { updated_at: hour(3) }),
        await put('from a clock set back', { updated_at: hour(5) }),
        await put('sent meanwhile', { state: 'sending' }),
      ];
      await put('another');
      const mark = { readAt: hour(2), now: hour(4) };
      await write((sql) => markChecked(sql, entries, 'r1', mark));
      await write((sql) => markChecked(sql, [], 'r2', mark));
      const marked = await read((sql) =>
        sql('push_outbox').where('checked_run_id', 'r1').orderBy('external_code'),
      );
      expect(codesOf(marked)).toEqual(['edge', 'from a clock set back', 'old']);
      expect(marked.map(({ revision }) => revision)).toEqual([2, 2, 2]);
      expect(await read((sql) => sql('push_outbox').where('revision', 1).pluck('checked_run_id'))).toEqual([
        null,
        null,
        null,
      ]);
    });

    it('what was confirmed before an instant is known, of a period where one is given, the newest first', async () => {
      const confirmed = { state: 'confirmed', period_start: hour(2), period_end: hour(4) } as const;
      await put('A', { ...confirmed, remote_id: 1, confirmed_at: hour(5) });
      await put('B', { ...confirmed, confirmed_at: hour(6) });
      await put('late', { ...confirmed, confirmed_at: hour(7) });
      await put('ready', { ...confirmed, state: 'ready', confirmed_at: hour(5) });
      await put('agent', { ...confirmed, kind: 'agents', confirmed_at: hour(5) });
      const within = (start: number, end: number) =>
        read((sql) => confirmedWithin(sql, KIND, hour(6), { start: hour(start), end: hour(end) }));
      const both = [
        { remote_id: null, remote_key: 'B' },
        { remote_id: 1, remote_key: 'A' },
      ];
      expect(await read((sql) => confirmedWithin(sql, KIND, hour(6), undefined))).toEqual(both);
      expect(await within(2, 4)).toEqual(both);
      expect(await within(2.1, 4)).toEqual([]);
      expect(await within(2, 3.9)).toEqual([]);
    });

    it('the period of the newest one that a search has shown is known', async () => {
      const shown = {
        state: 'confirmed',
        seen_at: hour(9),
        period_start: hour(2),
        period_end: hour(4),
      } as const;
      const ask = () => read((sql) => shownPeriod(sql, KIND));
      await put('never shown', { ...shown, seen_at: null, confirmed_at: hour(9) });
      await put('no period', { ...shown, period_start: null, confirmed_at: hour(9) });
      await put('ready', { ...shown, state: 'ready', confirmed_at: hour(9) });
      await put('agent', { ...shown, kind: 'agents', confirmed_at: hour(9) });
      expect(await ask()).toBeUndefined();
      await put('older', { ...shown, confirmed_at: hour(5) });
      await put('newer', { ...shown, period_end: hour(6), confirmed_at: hour(6) });
      expect(await ask()).toEqual({ start: hour(2), end: hour(6) });
    });
  });

  describe('for telling the ERP', () => {
    const untold = async (after = '') =>
      codesOf(await read((sql) => untoldEntries(sql, KIND, hour(5), after)));

    it('states that say something and were not told are told, one without its identifier only when it has waited', async () => {
      await put('confirmed', { state: 'confirmed', remote_id: 7, confirmed_at: hour(9) });
      await put('confirmed long ago', { state: 'confirmed', confirmed_at: hour(5) });
      await put('confirmed just now', { state: 'confirmed', confirmed_at: hour(6) });
      for (const state of ['rejected', 'cancelled', 'unknown', 'ready', 'sending'] as const)
        await put(state, { state });
      await put('told', { state: 'rejected', told_at: hour(1) });
      await put('agent', { state: 'rejected', kind: 'agents' });
      const all = ['cancelled', 'confirmed', 'confirmed long ago', 'rejected', 'unknown'];
      expect(await untold()).toEqual(all);
      expect(await untold('confirmed')).toEqual(all.slice(2));
      await putMany(201, { state: 'rejected' });
      expect(await untold()).toHaveLength(200);
    });

    it('what moved while it was told is told again', async () => {
      const entries = [await put('A', { state: 'rejected' }), await put('B', { state: 'rejected' })];
      await put('C', { state: 'rejected' });
      await write((sql) =>
        sql('push_outbox')
          .where({ external_code: 'B' })
          .update({ revision: 2, told_at: hour(1) }),
      );
      await write((sql) => markTold(sql, entries, hour(2)));
      expect(await row('A')).toMatchObject({ told_at: hour(2), revision: 1 });
      expect(await row('B')).toMatchObject({ told_at: null });
      expect(await row('C')).toMatchObject({ told_at: null });
    });

    it('a code in clear is kept as long as something may have to be told under it', async () => {
      const told = { erp_code: 'clear', told_at: hour(1) };
      const confirmed = { ...told, state: 'confirmed', confirmed_at: hour(4 * DAYS) } as const;
      await put('cancelled', { ...told, state: 'cancelled' });
      await put('refused long ago', { ...told, state: 'rejected', updated_at: hour(1) });
      await put('confirmed, not watched', { ...confirmed, is_watched: false });
      await put('confirmed, never watched', confirmed);
      await put('watched long enough', { ...confirmed, is_watched: true, confirmed_at: hour(2 * DAYS) });
      const dropped = codesOf(await read((sql) => sql('push_outbox').orderBy('external_code')));
      await put('refused', { ...told, state: 'rejected', updated_at: hour(2) });
      await put('watched', { ...confirmed, is_watched: true });
      await put('unknown', { ...told, state: 'unknown' });
      await put('ready', told);
      await put('not told', { ...told, state: 'cancelled', told_at: null });
      await put('agent', { ...told, state: 'cancelled', kind: 'agents' });
      await write((sql) => dropToldCodes(sql, KIND, { at: hour(5 * DAYS), refusedBefore: hour(2) }));
      const left = await read((sql) => sql('push_outbox').whereNull('erp_code').orderBy('external_code'));
      expect(codesOf(left)).toEqual(dropped);
    });
  });
});
