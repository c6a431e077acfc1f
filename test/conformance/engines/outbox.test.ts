// The outbox below the push engine, on every database engine: which entries are stored, found and deleted.
import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { factsNamed, writeFact } from '../../../src/warehouse/control/learned-facts.ts';
import type { Engine, Transaction } from '../../../src/warehouse/engine.ts';
import { type Attempt, attemptsOf, recordAttempts, storeSteps } from '../../../src/warehouse/outbox/attempts.ts';
import { pushContent } from '../../../src/warehouse/outbox/content.ts';
import {
  ATTENTION,
  keyOf,
  nameOf,
  type OutboxEntry,
  type OutboxState,
  shownState,
} from '../../../src/warehouse/outbox/entry.ts';
import * as lists from '../../../src/warehouse/outbox/lists.ts';
import * as queries from '../../../src/warehouse/outbox/queries.ts';
import { pushReturn, runningPlans, uncodedStops } from '../../../src/warehouse/outbox/returns.ts';
import { storeEntries, storeWithoutPayload, transition } from '../../../src/warehouse/outbox/transitions.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { AT, entryIn, minutesAfter } from '../../support/push/outbox-samples.ts';
import { type EnginePlace, engineCases } from '../../support/warehouse/engines.ts';

const KIND = 'route_plans';
const DAY = 24 * 60;
type Change = Partial<OutboxEntry>;
type Search = Partial<lists.EntrySearch>;

afterAll(stopPostgres);

const codes = (rows: readonly { external_code: string }[]): string[] => rows.map((row) => row.external_code);
const entry = (code: string, state: OutboxState = 'ready', change: Change = {}): OutboxEntry =>
  entryIn(state, { external_code: code, remote_key: code, ...change });
const names = (...rows: OutboxEntry[]): Set<string> => new Set(rows.map(nameOf));
const many = (count: number, state: OutboxState, change: Change = {}): OutboxEntry[] =>
  Array.from({ length: count }, (_, n) => entry(`n${String(n).padStart(4, '0')}`, state, change));

describe.each(engineCases)('on $name', ({ make }) => {
  let place: EnginePlace;
  let engine: Engine;
  beforeAll(async () => {
    place = await make();
    engine = await place.open();
    await bringSchemaUpToDate(engine);
  });
  beforeEach(() =>
    engine.write(async ({ sql }) => {
      for (const table of ['push_outbox', 'push_attempt', 'push_return', 'sync_state']) await sql(table).delete();
    }),
  );
  afterAll(async () => {
    await engine.close();
    await place.remove();
  });

  type Query<Args extends unknown[], T> = (sql: Knex, ...args: Args) => Promise<T>;
  const ask = <Args extends unknown[], T>(query: Query<Args, T>, ...args: Args): Promise<T> =>
    engine.read((sql) => query(sql, ...args));
  const change = <Args extends unknown[], T>(query: Query<Args, T>, ...args: Args): Promise<T> =>
    engine.write(({ sql }) => query(sql, ...args));
  const write = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => engine.write(work);
  const store = (rows: readonly OutboxEntry[]): Promise<Set<string>> => write((tx) => storeEntries(tx, rows));
  /** Stores entries that differ from a usual one of their state, by code. */
  const fill = (table: Record<string, [OutboxState, Change?]>): Promise<Set<string>> =>
    store(Object.entries(table).map(([code, [state, change]]) => entry(code, state, change)));
  const remember = (name: string, fact: unknown, at: string): Promise<void> =>
    write((tx) => writeFact(tx, name, fact, Date.parse(at)));
  const column = (table: string, name: string): Promise<unknown[]> =>
    engine.read((sql) => sql(table).orderBy(name).pluck(name));
  const stored = async (code: string) => (await ask(lists.entriesNamed, code, KIND))[0] as OutboxEntry;

  it('stores entries unchanged, and each use of a code separately', async () => {
    const uses = [1, 2].map((code_use) => entry('A', 'unknown', { code_use, reasons: '["ç"]' }));
    const agent = entry('A', 'ready', { kind: 'agents' });
    expect(await store([...uses, agent])).toEqual(names(...uses, agent));
    expect(await ask(queries.entriesByCode, KIND, ['A', 'B'])).toEqual(new Map([['A', uses]]));
    expect(await ask(lists.entriesNamed, 'A')).toEqual([agent, ...uses]);
    expect(await ask(lists.entriesNamed, 'A', 'agents')).toEqual([agent]);
    expect((await ask(queries.summariesByCode, KIND, ['A'])).get('A')).toMatchObject([
      { code_use: 1, state: 'unknown' },
      { code_use: 2, state: 'unknown' },
    ]);
    expect(await ask(queries.countIn, KIND, 'unknown')).toBe(2);
    expect(await ask(queries.entriesIn, 'agents', 'ready')).toEqual([agent]);
  });

  it('stores an entry only over the revision that it was made from, and returns the written ones', async () => {
    const [same, moved] = [entry('same'), entry('moved')];
    await store([same, moved]);
    const cancelled = transition(moved, 'cancel', AT);
    await store([cancelled]);
    const claimed = transition(same, 'claim', minutesAfter(1));
    expect(await store([claimed, transition(moved, 'claim', AT)])).toEqual(names(same));
    expect(await stored('same')).toEqual(claimed);
    expect(await stored('moved')).toEqual(cancelled);
    expect(await store([entry('same', 'rejected')])).toEqual(names());
  });

  it('stores entries without their payload, which stays as it is', async () => {
    const before = entry('A', 'ready', { payload: '{"data":{},"options":{}}' });
    await store([before]);
    const claimed = transition({ ...before, payload: null }, 'claim', AT);
    expect(await write((tx) => storeWithoutPayload(tx, [claimed]))).toEqual(names(before));
    expect(await stored('A')).toEqual({ ...claimed, payload: before.payload });
  });

  it('finds entries that are unchanged since they were read, in the order of the query', async () => {
    const [a, b] = [entry('A', 'ready', { code_use: 2 }), entry('B')];
    const [first, moved] = [entry('A'), entry('C')];
    await store([a, b, first, moved]);
    await store([transition(moved, 'note', AT)]);
    expect(await ask(queries.entriesByKey, KIND, [b, moved, a, entry('D')])).toEqual([b, a]);
    expect(await ask(queries.entriesByKey, 'agents', [b])).toEqual([]);
  });

  it('stores more entries than one statement takes, and none', async () => {
    const rows = many(1_001, 'ready');
    expect(await store(rows)).toEqual(names(...rows));
    expect(await store(rows.map((each) => transition(each, 'claim', AT)))).toEqual(names(...rows));
    expect(await ask(lists.countEntries, { states: ['sending'] })).toBe(1_001);
    expect(await store([])).toEqual(names());
  });

  describe('the history of an entry', () => {
    const attempt = (code: string, change: Partial<Attempt> = {}): Attempt => ({
      ...{ entry: entry(code), what: 'read-back', outcome: 'absent', message: null, run_id: 'run' },
      started_at: AT,
      ...change,
    });
    const record = (attempts: Attempt[], at = AT) => write((tx) => recordAttempts(tx, attempts, at));
    const history = (code: string, code_use = 1) => ask(attemptsOf, entry(code, 'ready', { code_use }));

    it('is numbered, and counts a read-back with the result of the previous one', async () => {
      const sent = { what: 'create', outcome: 'unclear', error_code: 'timeout', http_status: 504 } as const;
      await record([attempt('A', sent)], minutesAfter(1));
      await record([attempt('A', sent)], minutesAfter(2));
      await record([attempt('A')], minutesAfter(3));
      await record([attempt('A', { started_at: minutesAfter(4), run_id: 'next', message: 'no' })], minutesAfter(4));
      await record([attempt('A', { outcome: 'found' })]);
      await record([attempt('A')]);
      await record([attempt('A', { what: 'action' })]);
      await record([attempt('A', { what: 'action', run_id: null })]);
      const counted = {
        started_at: AT,
        finished_at: minutesAfter(4),
        run_id: 'next',
        message: 'no',
        times: 2,
      };
      expect(await history('A')).toMatchObject([
        { number: 1, ...sent, finished_at: minutesAfter(1), times: 1 },
        { number: 2, ...sent, finished_at: minutesAfter(2), times: 1 },
        { number: 3, what: 'read-back', outcome: 'absent', error_code: null, ...counted },
        { number: 4, outcome: 'found', times: 1 },
        { number: 5, what: 'read-back', outcome: 'absent', times: 1 },
        { number: 6, what: 'action', times: 1 },
        { number: 7, what: 'action', run_id: null },
      ]);
    });

    it('gets the attempts of the entries that were stored, and of no other', async () => {
      const [a, b, c] = [entry('A'), entry('B'), entry('C')];
      await store([a, b, c]);
      await store([transition(b, 'cancel', AT)]);
      const attempt = { what: 'create', outcome: 'accepted', message: null, started_at: AT } as const;
      const steps = [
        { entry: transition(a, 'claim', AT), attempt },
        { entry: transition(b, 'claim', AT), attempt },
        { entry: transition(c, 'claim', AT) },
      ];
      expect(await write((tx) => storeSteps(tx, steps, 'r1', AT))).toEqual([steps[0], steps[2]]);
      expect(await history('A')).toMatchObject([{ number: 1, what: 'create', run_id: 'r1' }]);
      expect([await history('B'), await history('C')]).toEqual([[], []]);
      expect(await stored('C')).toMatchObject({ state: 'sending' });
    });

    it('continues its numbers where several are recorded at once', async () => {
      const second = attempt('A', { entry: entry('A', 'unknown', { code_use: 2 }) });
      await record([attempt('A'), attempt('B', { outcome: 'found' })]);
      await record([attempt('A'), second, attempt('B'), attempt('C')]);
      expect(await history('A')).toMatchObject([{ number: 1, times: 2 }]);
      expect(await history('A', 2)).toMatchObject([{ number: 1, times: 1 }]);
      expect(await history('B')).toMatchObject([{ number: 1 }, { number: 2 }]);
      const rows = many(801, 'ready').map(({ external_code }) => attempt(external_code));
      for (const some of [rows, rows, []]) await record(some);
      expect(await history('n0800')).toMatchObject([{ number: 1, times: 2 }]);
    });
  });

  it('finds the ready entries that are due, earliest start first', async () => {
    const starts = (day: number): Change => ({ period_start: minutesAfter(day * DAY) });
    await fill({
      B: ['ready', starts(2)],
      A: ['ready', starts(2)],
      first: ['ready', starts(1)],
      now: ['ready', { ...starts(3), next_attempt_at: AT }],
      undated: ['ready', { period_start: null }],
      'clock was set back': ['ready', { ...starts(4), next_attempt_at: minutesAfter(121) }],
      soon: ['ready', { next_attempt_at: minutesAfter(1) }],
      latest: ['ready', { next_attempt_at: minutesAfter(120) }],
      empty: ['ready', { payload: null }],
      unknown: ['unknown'],
      agent: ['ready', { kind: 'agents' }],
    });
    const due = await ask(queries.readyEntries, KIND, AT);
    expect(codes(due)).toEqual(['undated', 'first', 'A', 'B', 'now', 'clock was set back']);
    expect(await stored('first')).toMatchObject(due[1] ?? {});
  });

  it('finds the open entries: unknown, watched, and rejected by a status since', async () => {
    const status = { sent_hash: '1f', updated_at: AT };
    const longAgo = { confirmed_at: minutesAfter(-3 * DAY) };
    await fill({
      unknown: ['unknown', { next_attempt_at: minutesAfter(1) }],
      'never seen': ['confirmed', { seen_at: null, ...longAgo }],
      'never seen, not due': ['confirmed', { seen_at: null, next_attempt_at: minutesAfter(1) }],
      'in need of a person': ['confirmed', { attention: 'found_twice', ...longAgo }],
      optimised: ['confirmed', { remote_status: 'W', confirmed_at: minutesAfter(1 - 3 * DAY) }],
      running: ['confirmed', { remote_status: 'R' }],
      'optimised for too long': ['confirmed', { remote_status: 'W', ...longAgo }],
      confirmed: ['confirmed', { remote_status: 'A' }],
      'rejected by a status': ['rejected', status],
      'rejected long ago': ['rejected', { ...status, updated_at: minutesAfter(-1) }],
      'rejected by a rule': ['rejected', { ...status, sent_hash: null }],
      'rejected by a rule after a send': ['rejected', { ...status, sent_hash: '0e' }],
      'rejected, of content that is not known': ['rejected', { ...status, sent_hash: '' }],
      ready: ['ready', status],
      sending: ['sending'],
      cancelled: ['cancelled', status],
      agent: ['unknown', { kind: 'agents' }],
      'agent, never seen': ['confirmed', { kind: 'agents', seen_at: null }],
    });
    expect(codes(await ask(queries.entriesToReadBack, KIND, AT, AT)).toSorted()).toEqual([
      'in need of a person',
      'never seen',
      'optimised',
      'rejected by a rule after a send',
      'rejected by a status',
      'running',
      'unknown',
    ]);
  });

  it('finds the entries that were sent again after an unclear send, for two hours after a listing has shown them', async () => {
    const resent = { attempts: 2, seen_at: minutesAfter(-119) };
    await fill({
      resent: ['confirmed', resent],
      'sent once': ['confirmed', { ...resent, attempts: 1 }],
      'shown long ago': ['confirmed', { ...resent, seen_at: minutesAfter(-120) }],
      'after a clear answer': ['confirmed', resent],
      'after an unclear change': ['confirmed', resent],
      'of no attempt': ['confirmed', resent],
      agent: ['confirmed', { ...resent, kind: 'agents' }],
    });
    const all: OutboxEntry[] = await engine.read((sql) => sql('push_outbox'));
    const clear: Record<string, Partial<Attempt>> = {
      'after a clear answer': { outcome: 'rejected' },
      'after an unclear change': { what: 'change' },
    };
    const sent = { what: 'create', outcome: 'unclear', message: null, run_id: 'run', started_at: AT } as const;
    const attempts = all
      .filter(({ external_code }) => external_code !== 'of no attempt')
      .map((each) => ({ ...sent, ...clear[each.external_code], entry: each }));
    await write((tx) => recordAttempts(tx, attempts, AT));
    expect(codes(await ask(queries.entriesToReadBack, KIND, AT, AT))).toEqual(['resent']);
  });

  it('finds control records: entries that listings of the period have shown', async () => {
    const within = (start: number, end: number, updated: number, remote_id: number | null): Change => ({
      ...{ period_start: minutesAfter(start), period_end: minutesAfter(end), remote_id },
      updated_at: minutesAfter(updated),
    });
    await fill({
      inside: ['confirmed', within(1, 2, 0, 1)],
      'without an id': ['confirmed', within(0, 3, 1, null)],
      'ends later': ['confirmed', within(2, 4, -1, 3)],
      'begins earlier': ['confirmed', within(-1, 2, -2, 4)],
      'never seen': ['confirmed', { ...within(1, 2, 9, 5), seen_at: null }],
      undated: ['confirmed', { ...within(1, 2, 2, 6), period_start: null }],
      unknown: ['unknown', { ...within(1, 2, 9, 7), seen_at: AT }],
      agent: ['confirmed', { ...within(1, 2, 9, 8), kind: 'agents' }],
    });
    const period = { start: AT, end: minutesAfter(3) };
    const longAgo = minutesAfter(-999);
    const keys = async (of: queries.Period | undefined, acceptedBefore = longAgo) =>
      (await ask(queries.controlRecords, KIND, of, acceptedBefore)).map(({ remote_key }) => remote_key);
    expect((await keys(period)).toSorted()).toEqual(['inside', 'without an id']);
    expect(await keys(period, minutesAfter(999))).toContain('never seen');
    const newestFirst = ['undated', 'without an id', 'inside', 'ends later', 'begins earlier'];
    expect(await keys(undefined)).toEqual(newestFirst);
    const agents = [{ remote_id: 8, remote_key: 'agent' }];
    expect(await ask(queries.controlRecords, 'agents', period, longAgo)).toEqual(agents);
  });

  it('finds the owner of an identifier, and the entries that may hold a key', async () => {
    await fill({
      A: ['confirmed', { remote_id: 1, remote_key: 'K' }],
      B: ['ready', { remote_id: 2, remote_key: 'K', code_use: 2 }],
      C: ['unknown', { remote_key: 'K' }],
      D: ['sending', { remote_key: 'L' }],
      E: ['rejected', { remote_key: 'L' }],
      F: ['cancelled', { remote_key: 'L' }],
      agent: ['confirmed', { remote_id: 3, remote_key: 'K', kind: 'agents' }],
    });
    const owners = await ask(queries.ownersOf, KIND, [2, 3, 4]);
    expect(owners).toEqual(new Map([[2, { kind: KIND, external_code: 'B', code_use: 2, remote_id: 2 }]]));
    const holders = async (...keys: string[]) => codes(await ask(queries.holdersOf, KIND, keys)).toSorted();
    expect(await holders('K')).toEqual(['A', 'C']);
    expect(await holders('K', 'L', 'M')).toEqual(['A', 'C', 'D']);
  });

  it('finds the plans in progress, begun and not long over, a page at a time', async () => {
    const running = { period_start: AT, period_end: minutesAfter(60) };
    await fill({
      A: ['confirmed', running],
      B: ['confirmed', running],
      'without an id': ['confirmed', { ...running, remote_id: null }],
      'not begun': ['confirmed', { ...running, period_start: minutesAfter(1) }],
      over: ['confirmed', { ...running, period_end: minutesAfter(30) }],
      unknown: ['unknown', { ...running, remote_id: 8 }],
      agent: ['confirmed', { ...running, kind: 'agents' }],
    });
    const second = entry('A', 'confirmed', { ...running, code_use: 2 });
    await store([second, ...many(100, 'confirmed', running)]);
    const now = { startedBy: AT, endedAfter: minutesAfter(30) };
    const page = (after?: OutboxEntry) => ask(runningPlans, now, after);
    expect(await page()).toHaveLength(100);
    expect(codes(await page()).slice(0, 4)).toEqual(['A', 'A', 'B', 'n0000']);
    expect((await page(entry('A', 'confirmed', running)))[0]).toEqual(second);
    expect(codes(await page(second)).slice(0, 2)).toEqual(['B', 'n0000']);
  });

  it('finds the states of the entries that start within a period', async () => {
    await fill({
      last: ['confirmed', { period_start: minutesAfter(59) }],
      first: ['unknown', { period_start: AT }],
      before: ['ready', { period_start: minutesAfter(-1) }],
      after: ['ready', { period_start: minutesAfter(60) }],
      agent: ['ready', { period_start: AT, kind: 'agents' }],
    });
    const states = await ask(lists.statesStarting, KIND, { start: AT, end: minutesAfter(60) });
    expect(states.sort()).toEqual(['confirmed', 'unknown']);
  });

  it('finds entries that the ERP was not notified of, once their identifier has come or is overdue', async () => {
    const awaited = { told_at: null, remote_id: null };
    const second = entry('cancelled', 'cancelled', { code_use: 2 });
    await fill({
      cancelled: ['cancelled'],
      confirmed: ['confirmed', { told_at: null, confirmed_at: minutesAfter(1) }],
      'id awaited': ['confirmed', { ...awaited, confirmed_at: minutesAfter(1) }],
      'id awaited from now': ['confirmed', { ...awaited, confirmed_at: minutesAfter(3) }],
      'id never came': ['confirmed', { ...awaited, confirmed_at: AT }],
      'in the future': ['confirmed', { ...awaited, confirmed_at: minutesAfter(4) }],
      notified: ['rejected', { told_at: AT }],
      ready: ['ready'],
      rejected: ['rejected'],
      sending: ['sending'],
      unknown: ['unknown'],
      agent: ['rejected', { kind: 'agents' }],
    });
    await store([second]);
    const idAwaited = { start: AT, end: minutesAfter(3) };
    const page = (after?: OutboxEntry) => ask(queries.unacknowledged, KIND, idAwaited, after);
    const all = ['cancelled', 'cancelled', 'confirmed', 'id never came', 'in the future', 'rejected', 'unknown'];
    expect(codes(await page())).toEqual(all);
    const rows: OutboxEntry[] = await engine.read((sql) =>
      sql('push_outbox').where({ kind: KIND }).orderBy(['external_code', 'code_use']),
    );
    const reportable = rows.filter((row) => queries.isReportable(row, idAwaited) && row.told_at === null);
    expect(codes(reportable)).toEqual(all.filter((code) => code !== 'unknown'));
    expect(codes(await page(entry('cancelled')))).toEqual(all.slice(1));
    expect(codes(await page(second))).toEqual(all.slice(2));
    await store(many(200, 'rejected'));
    expect(await page()).toHaveLength(200);
  });

  it('marks entries that are unchanged since the read as acknowledged, and drops clear codes that are not needed', async () => {
    const clear = { told_at: null, erp_code: '529' };
    const moved = entry('moved', 'rejected', clear);
    const asRead = [
      entry('cancelled', 'cancelled', clear),
      entry('never seen', 'confirmed', { ...clear, seen_at: null }),
      entry('rejected', 'rejected', clear),
      entry('seen', 'confirmed', clear),
    ];
    const agent = entry('seen', 'confirmed', { ...clear, kind: 'agents' });
    await store([agent, moved, ...asRead, entry('seen', 'confirmed', { ...clear, code_use: 2 })]);
    await store([transition(moved, 'note', AT)]);
    await change(queries.markAcknowledged, KIND, [moved, ...asRead], minutesAfter(1));
    await change(queries.markAcknowledged, KIND, [], minutesAfter(2));
    const rows = await engine.read((sql) => sql('push_outbox').orderBy(['kind', 'external_code', 'code_use']));
    expect(rows.map(({ external_code, told_at, erp_code }) => [external_code, told_at, erp_code])).toEqual([
      ['seen', null, '529'],
      ['cancelled', minutesAfter(1), null],
      ['moved', null, '529'],
      ['never seen', minutesAfter(1), '529'],
      ['rejected', minutesAfter(1), '529'],
      ['seen', minutesAfter(1), null],
      ['seen', null, '529'],
    ]);
  });

  it('drops the content of entries that were rejected long ago', async () => {
    const content = { erp_code: '529', payload: '{}', updated_at: minutesAfter(-1), told_at: AT };
    await fill({
      old: ['rejected', content],
      'old, with a clear code alone': ['rejected', { ...content, payload: null }],
      'old, without a clear code': ['rejected', { ...content, erp_code: null }],
      recent: ['rejected', { ...content, updated_at: AT }],
      'the ERP is not notified': ['rejected', { ...content, told_at: null }],
      ready: ['ready', content],
      agent: ['rejected', { ...content, kind: 'agents' }],
    });
    expect(await change(queries.dropOldPayloads, KIND, AT)).toBe(4);
    expect(await change(queries.dropOldPayloads, KIND, AT)).toBe(1);
    const kept = (column: string) =>
      engine.read((sql) => sql('push_outbox').whereNotNull(column).orderBy('external_code'));
    expect(codes(await kept('payload'))).toEqual(['agent', 'ready', 'recent']);
    expect(codes(await kept('erp_code'))).toEqual(['agent', 'ready', 'recent', 'the ERP is not notified']);
  });

  it('stores a message with characters that no database keeps: a NUL, half a character', async () => {
    await fill({ odd: ['rejected', { message: 'a\0b\ud800c', remote_key: 'k\0' }] });
    expect(await stored('odd')).toMatchObject({ message: 'a\ufffdb\ufffdc', remote_key: 'k\ufffd' });
  });

  it('deletes old entries with their histories and returns, unless the ERP still offers them', async () => {
    const old = { updated_at: minutesAfter(-1), told_at: minutesAfter(-1), period_end: minutesAfter(-1) };
    await fill({
      confirmed: ['confirmed', old],
      'not over': ['confirmed', { ...old, period_end: AT }],
      rejected: ['rejected', old],
      cancelled: ['cancelled', old],
      'still offered': ['confirmed', { ...old, told_at: AT }],
      recent: ['confirmed', { ...old, updated_at: AT }],
      'not notified': ['rejected', { ...old, told_at: null }],
      unknown: ['unknown', old],
      ready: ['ready', old],
    });
    await store([entry('confirmed', 'confirmed', { ...old, code_use: 2, told_at: AT })]);
    const all: OutboxEntry[] = await engine.read((sql) => sql('push_outbox'));
    const action = {
      what: 'action',
      outcome: 'retried',
      message: null,
      run_id: null,
      started_at: AT,
    } as const;
    await write((tx) =>
      recordAttempts(
        tx,
        all.map((each) => ({ ...action, entry: each })),
        AT,
      ),
    );
    const stop = {
      point_external_code: 'S',
      status: 'E',
      executed_at: null,
      outcome_hash: 'h',
      run_id: 'run',
    };
    const stops = all.map((each) => ({
      plan_external_code: each.external_code,
      code_use: each.code_use,
      ...stop,
      told_at: AT,
    }));
    await write((tx) => tx.store(pushReturn, stops));
    await write((tx) =>
      tx.store(
        pushContent,
        all.map((each) => ({ ...keyOf(each), stops: '[]' })),
      ),
    );
    await store([entry('rejected', 'ready', { kind: 'agents' })]);
    expect(await change(queries.deleteAged, 'agents', AT)).toBe(0);
    expect(await change(queries.deleteAged, KIND, AT)).toBe(3);
    const left = ['confirmed', 'not notified', 'not over', 'ready', 'recent', 'still offered', 'unknown'];
    const leftWithAgent = [...left, 'rejected'].toSorted();
    expect(await column('push_outbox', 'external_code')).toEqual(leftWithAgent);
    expect(await column('push_attempt', 'external_code')).toEqual(left);
    expect(await column('push_content', 'external_code')).toEqual(left);
    expect(await column('push_return', 'plan_external_code')).toEqual(left);
    await store(many(401, 'cancelled', { ...old, kind: 'agents' }));
    await write((tx) => tx.store(pushReturn, [{ plan_external_code: 'n0001', code_use: 1, ...stop, told_at: AT }]));
    expect(await change(queries.deleteAged, 'agents', AT)).toBe(401);
    expect(await column('push_outbox', 'external_code')).toEqual(leftWithAgent);
    expect(await column('push_return', 'plan_external_code')).toContain('n0001');
  });

  const search = async (what: Search) => codes(await ask(lists.searchEntries, { limit: 20, ...what }));

  it('lists the entries that need a person first, then the latest changes, by pages', async () => {
    await fill({
      ready: ['ready', { updated_at: minutesAfter(9) }],
      confirmed: ['confirmed', { updated_at: minutesAfter(8) }],
      rejected: ['rejected', { updated_at: minutesAfter(1) }],
      sending: ['sending'],
      'unknown B': ['unknown', { updated_at: minutesAfter(1) }],
      'unknown A': ['unknown', { updated_at: minutesAfter(1) }],
      'unknown C': ['unknown', { updated_at: minutesAfter(2) }],
      'unknown for long': ['unknown', { unknown_since: minutesAfter(-60), updated_at: AT }],
      'to notify': ['rejected', { told_at: null, updated_at: AT }],
      twice: ['confirmed', { attention: 'found_twice' }],
      differs: ['confirmed', { content_hash: 'new', sent_hash: 'old', updated_at: AT }],
      part: ['confirmed', { reasons: '["a stop"]', updated_at: minutesAfter(-1) }],
    });
    const unknown = ['unknown for long', 'unknown C', 'unknown A', 'unknown B'];
    const all = ['twice', ...unknown, 'sending', 'rejected', 'to notify', 'differs', 'part', 'ready', 'confirmed'];
    expect(await search({})).toEqual(all);
    expect(await search({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(await search({ limit: 2, offset: 2 })).toEqual(all.slice(2, 4));
    expect(await search({ states: ['ready', 'rejected'] })).toEqual(['rejected', 'to notify', 'ready']);
    expect(await search({ kind: 'agents' })).toEqual([]);
    expect(await search({ kind: KIND, code: 'ED' })).toEqual(['rejected', 'confirmed']);
    expect(await ask(lists.countEntries, {})).toBe(12);
    expect(await ask(lists.countEntries, { states: ['unknown'], kind: KIND, code: 'n a' })).toBe(1);
    expect(await ask(lists.countEntries, { kind: 'agents' })).toBe(0);
  });

  it.each(['100%', 'A_B', '50!', 'Ção'])('finds %s literally', async (code) => {
    await store(['1000', 'AxB', '50', 'c', `x${code}x`].map((each) => entry(each)));
    expect(await search({ code })).toEqual([`x${code}x`]);
  });

  it('lists the entries that start in a period, and those of some keys', async () => {
    const day = (start: string) => ({ period_start: start, period_end: minutesAfter(DAY, start) });
    const [a, b, c] = [AT, minutesAfter(60), minutesAfter(120)].map((start, n) => entry(`P${n}`, 'ready', day(start)));
    const agent = entry('P1', 'ready', { kind: 'agents', period_start: null, period_end: null });
    const rows = [a, b, c, agent] as OutboxEntry[];
    await store(rows);
    const starting = { start: minutesAfter(60), end: minutesAfter(120) };
    expect(await ask(lists.matchingKeys, { starting })).toEqual([{ kind: KIND, external_code: 'P1', code_use: 1 }]);
    expect(codes(await ask(lists.matchingKeys, { keys: [agent, a as OutboxEntry] })).sort()).toEqual(['P0', 'P1']);
    expect(await ask(lists.countEntries, { keys: [{ ...agent, code_use: 2 }] })).toBe(0);
  });

  it('finds the plans that are neither confirmed, nor cancelled, nor over, by code', async () => {
    const at = minutesAfter(DAY);
    const open = { period_end: minutesAfter(DAY + 1) };
    await fill({
      d: ['ready', open],
      c: ['sending', open],
      b: ['unknown', open],
      a: ['rejected', open],
      confirmed: ['confirmed', open],
      cancelled: ['cancelled', open],
      over: ['ready', { period_end: at }],
      agent: ['ready', { ...open, kind: 'agents' }],
    });
    const found = await ask(lists.unconfirmedPlans, at);
    expect(found.map(({ external_code, state }) => `${external_code} ${state}`)).toEqual([
      'a rejected',
      'b unknown',
      'c sending',
      'd ready',
    ]);
    const start = { period_start: '2025-03-13T11:00:00.000Z', created_at: AT };
    expect(found[0]).toEqual({ external_code: 'a', state: 'rejected', ...start });
  });

  it('measures after how long a listing shows a plan that was sent once', async () => {
    const shown = (sent_at: string, minutes: number) => ({ sent_at, seen_at: minutesAfter(minutes, sent_at) });
    await fill({
      edge: ['confirmed', shown(AT, 2)],
      slowest: ['confirmed', shown(minutesAfter(5), 3)],
      earlier: ['confirmed', shown(minutesAfter(-1), 60)],
      again: ['confirmed', { ...shown(AT, 60), attempts: 2 }],
      agent: ['confirmed', { ...shown(AT, 60), kind: 'agents' }],
      unseen: ['confirmed', { sent_at: AT, seen_at: null }],
    });
    expect(await lists.slowestListing(engine, AT)).toEqual({ plans: 2, delayMs: 180_000 });
    expect(await lists.slowestListing(engine, minutesAfter(6))).toEqual({ plans: 0, delayMs: 0 });
    await store(many(1_000, 'confirmed', shown(minutesAfter(6), 1)));
    expect(await lists.slowestListing(engine, AT)).toEqual({ plans: 1_000, delayMs: 60_000 });
  });

  it('finds the period of the newest plan that a listing showed', async () => {
    expect(await ask(queries.shownPeriod, KIND)).toBeUndefined();
    const of = (hours: number) => ({
      period_start: minutesAfter(hours * 60),
      period_end: minutesAfter(hours * 60 + 30),
    });
    await fill({
      older: ['confirmed', { ...of(1), updated_at: minutesAfter(1) }],
      newest: ['confirmed', { ...of(2), updated_at: minutesAfter(2) }],
      unseen: ['confirmed', { ...of(3), updated_at: minutesAfter(3), seen_at: null }],
      undated: ['confirmed', { period_start: null, period_end: null, updated_at: minutesAfter(3) }],
      ready: ['ready', { ...of(4), updated_at: minutesAfter(4), seen_at: AT }],
      agent: ['confirmed', { ...of(5), updated_at: minutesAfter(5), kind: 'agents' }],
    });
    expect(await ask(queries.shownPeriod, KIND)).toEqual({ start: minutesAfter(120), end: minutesAfter(150) });
  });

  it('counts and lists what could not be read in the last day, newest first, until that is dropped', async () => {
    const at = minutesAfter(DAY);
    const fact = (kind: string, name: string, minutes: number) =>
      remember(lists.unreadFact(kind, name), { file: name, at: minutesAfter(minutes) }, minutesAfter(minutes));
    await fact(KIND, 'old.csv', -1);
    await fact(KIND, 'edge.csv', 0);
    await fact('agents', 'new.csv', 5);
    expect(await ask(lists.unreadFacts<{ file: string }>, at, 5)).toMatchObject([
      { file: 'new.csv' },
      { file: 'edge.csv' },
    ]);
    expect(await ask(lists.unreadFacts, at, 1)).toHaveLength(1);
    const { unreadable } = await ask(lists.openIssues, [KIND], at);
    expect(unreadable.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual([
      { kind: 'agents', n: 1, newest: minutesAfter(5) },
      { kind: KIND, n: 1, newest: AT },
    ]);
    await change(lists.dropOldUnread, KIND, minutesAfter(6));
    expect(await ask(lists.unreadFacts<{ file: string }>, at, 5)).toMatchObject([{ file: 'new.csv' }]);
    await change(lists.dropOldUnread, 'agents', minutesAfter(5));
    expect(await ask(lists.unreadFacts, at, 5)).toHaveLength(1);
  });

  it('needs no person for an entry that waits for the other items of its file, or for its identifier', async () => {
    const late = minutesAfter(-11);
    await fill({
      waiting: ['rejected', { updated_at: late }],
      unnamed: ['confirmed', { updated_at: late, told_at: null, remote_id: null, kind: 'agents' }],
    });
    const kinds = async () => (await ask(lists.entriesNeedingAttention, AT)).map(({ kind }) => kind);
    expect(await kinds()).toEqual([KIND]);
    await remember(lists.takenFileFact(KIND, 'a.csv'), { name: 'a.csv' }, AT);
    expect(await kinds()).toEqual([]);
    expect(await ask(factsNamed, lists.takenFileFact(KIND))).toEqual([{ name: 'a.csv' }]);
  });

  it('counts the entries that need a person, for every reason', async () => {
    const [late, edge] = [minutesAfter(-11), minutesAfter(-10)];
    const reused = { attention: 'code_reused', told_at: AT } as const;
    await store(ATTENTION.map((attention) => entry(attention, 'confirmed', { attention })));
    await fill({
      'another day, which is over': ['rejected', { ...reused, period_end: AT }],
      'no day': ['rejected', { ...reused, period_end: null }],
      'over, with another reason': ['confirmed', { attention: 'found_twice', period_end: AT }],
      'unknown for long': ['unknown', { unknown_since: late }],
      'unknown for ten minutes': ['unknown', { unknown_since: edge }],
      'unknown, with a reason': ['unknown', { unknown_since: late, attention: 'inconclusive' }],
      'not notified': ['cancelled', { updated_at: late }],
      'not notified for ten minutes': ['rejected', { updated_at: edge }],
      'not notified, with a reason': ['rejected', { updated_at: late, attention: 'read_error' }],
      'unknown, not notified': ['unknown', { updated_at: late }],
      notified: ['rejected', { updated_at: late, told_at: AT }],
      ready: ['ready', { updated_at: late, unknown_since: late }],
      'agent A': ['confirmed', { updated_at: late, told_at: null, kind: 'agents' }],
      'agent B': ['unknown', { unknown_since: late, kind: 'agents' }],
    });
    const counts = async (filter?: lists.EntryFilter) => {
      const found = await ask(lists.entriesNeedingAttention, AT, filter);
      return found.map(({ reason, kind, n }) => `${reason} ${kind} ${n}`);
    };
    const twice = ['code_reused', 'found_twice', 'inconclusive', 'read_error'];
    const noted = ATTENTION.map((attention) => `${attention} ${KIND} ${twice.includes(attention) ? 2 : 1}`);
    const plans = [...noted, `not_acknowledged ${KIND} 1`, `unknown ${KIND} 1`].toSorted();
    expect(await counts({ kind: KIND })).toEqual(plans);
    expect(await counts({ states: ['unknown'], code: 'for long' })).toEqual([`unknown ${KIND} 1`]);
    expect(await counts()).toEqual([...plans, 'not_acknowledged agents 1', 'unknown agents 1'].toSorted());
    expect(await counts({ kind: 'itineraries' })).toEqual([]);
  });

  it('counts what was rejected, is partial or differs from the ERP until its period is over and at least for a day, without a period until its state changes', async () => {
    const at = minutesAfter(2 * DAY);
    const [old, fresh] = [minutesAfter(-1), minutesAfter(DAY)];
    const [over, open] = [{ period_end: at }, { period_end: minutesAfter(2 * DAY + 1) }];
    const reasons = '["stop 3: no place"]';
    const changed = { content_hash: 'new', sent_hash: 'old' };
    await fill({
      oldOpen: ['rejected', { ...open, updated_at: old }],
      oldOver: ['rejected', { ...over, updated_at: old }],
      oldUndated: ['rejected', { period_end: null, updated_at: old }],
      freshOpen: ['rejected', { ...open, updated_at: fresh }],
      freshOver: ['rejected', { ...over, updated_at: fresh }],
      freshUndated: ['rejected', { period_end: null, updated_at: fresh }],
      reused: ['rejected', { ...open, updated_at: fresh, attention: 'code_reused' }],
      cancelled: ['cancelled', { ...open, updated_at: fresh }],
      agent: ['rejected', { kind: 'agents', period_end: null, updated_at: fresh }],
      oldAgent: ['rejected', { kind: 'agents', period_end: null, updated_at: old }],
      retriedAgent: ['ready', { kind: 'agents', period_end: null, updated_at: old }],
      cancelledAgent: ['cancelled', { kind: 'agents', period_end: null, updated_at: old }],
      partOpen: ['confirmed', { ...open, updated_at: old, reasons }],
      partOver: ['confirmed', { ...over, updated_at: old, reasons }],
      partFresh: ['confirmed', { ...over, updated_at: fresh, reasons }],
      changedOpen: ['confirmed', { ...open, updated_at: old, ...changed }],
      changedOver: ['confirmed', { ...over, updated_at: old, ...changed }],
      changedFresh: ['confirmed', { ...over, updated_at: fresh, ...changed }],
      changedPart: ['confirmed', { ...open, updated_at: fresh, ...changed, reasons }],
      changedTwice: ['confirmed', { ...open, updated_at: fresh, ...changed, attention: 'found_twice' }],
      foundChanged: ['confirmed', { ...open, updated_at: fresh, sent_hash: '' }],
      changedAgent: ['confirmed', { kind: 'agents', period_end: null, updated_at: fresh, ...changed }],
      changedOldAgent: ['confirmed', { kind: 'agents', period_end: null, updated_at: old, ...changed }],
      waitingChange: ['confirmed', { kind: 'agents', updated_at: fresh, ...changed, payload: '{}' }],
      whole: ['confirmed', { ...open, updated_at: fresh }],
    });
    expect(await ask(lists.openIssues, [KIND, 'agents'], at)).toEqual({
      unreadable: [],
      rejected: [
        { kind: 'agents', n: 2, newest: fresh },
        { kind: KIND, n: 5, newest: fresh },
      ],
      partial: [{ kind: KIND, n: 3, newest: fresh }],
      differs: [
        { kind: 'agents', n: 1, newest: fresh },
        { kind: KIND, n: 3, newest: fresh },
      ],
    });
    const counted = { code_use: 1, point_external_code: '', executed_at: null, outcome_hash: '', run_id: 'r' };
    await write((tx) =>
      tx.store(pushReturn, [
        { ...counted, plan_external_code: 'A', status: '2', told_at: fresh },
        { ...counted, plan_external_code: 'B', status: '10', told_at: fresh },
        { ...counted, plan_external_code: 'C', status: '5', told_at: old },
        { ...counted, plan_external_code: 'A', point_external_code: 'A-1', status: 'E', told_at: fresh },
      ]),
    );
    expect(await ask(uncodedStops, fresh)).toEqual({ n: 12, newest: fresh });
    expect(await ask(uncodedStops, at)).toEqual({ n: 0, newest: null });
  });

  it('finds confirmed plans that the service no longer returns, until they are over', async () => {
    const [over, open] = [{ period_end: AT }, { period_end: minutesAfter(1) }];
    await fill({
      gone: ['confirmed', { ...open, remote_id: 1 }],
      over: ['confirmed', { ...over, remote_id: 1 }],
      cancelled: ['cancelled', { ...open, remote_id: 1 }],
      agent: ['confirmed', { ...open, remote_id: 1, kind: 'agents' }],
      shown: ['confirmed', { ...open, remote_id: 2 }],
      unread: ['confirmed', { ...open, remote_id: 3 }],
    });
    const loaded = { status: 'E', date_time_start: AT, _first_seen_at: AT, _changed_at: AT, _run_id: 'r' };
    const pulled = [1, 2].map((id) => ({ id, ...loaded, _missing_since: id === 1 ? AT : null }));
    await write(({ sql }) => sql('route_plan').insert(pulled));
    expect(await ask(lists.gonePlans, AT)).toEqual([{ external_code: 'gone', code_use: 1, gone_since: AT }]);
  });

  it('counts the entries of each state, and returns the oldest unknown one', async () => {
    expect(await lists.oldestUnknown(engine)).toBeNull();
    await fill({
      A: ['ready'],
      B: ['ready', { kind: 'agents' }],
      C: ['unknown', { unknown_since: minutesAfter(-4) }],
      D: ['unknown', { unknown_since: minutesAfter(-5) }],
      E: ['confirmed', { unknown_since: minutesAfter(-6) }],
      F: ['confirmed', { reasons: '["a stop"]' }],
      G: ['confirmed', { reasons: '["a stop"]', attention: 'found_twice' }],
      H: ['confirmed', { content_hash: 'new', sent_hash: 'old' }],
      I: ['confirmed', { content_hash: 'new', sent_hash: 'old', attention: 'found_twice' }],
      J: ['confirmed', { content_hash: 'new', sent_hash: 'old', reasons: '["a stop"]' }],
      K: ['confirmed', { content_hash: 'new', sent_hash: 'old', payload: '{}' }],
    });
    const none = { ready: 0, sending: 0, unknown: 0, confirmed: 0, rejected: 0, cancelled: 0 };
    expect(await lists.outboxCounts(engine)).toEqual({ ...none, ready: 2, unknown: 2, confirmed: 7 });
    expect(await lists.shownCounts(engine)).toEqual({
      ...none,
      ...{ ready: 2, unknown: 2, confirmed: 4, partial: 2, differs: 1 },
    });
    const entries: OutboxEntry[] = await engine.read((sql) => sql('push_outbox'));
    const byState = Map.groupBy(entries, shownState);
    expect(await lists.shownCounts(engine)).toMatchObject(
      Object.fromEntries([...byState].map(([state, { length }]) => [state, length])),
    );
    expect(await search({ states: ['partial', 'unknown'] })).toEqual(['D', 'C', 'F', 'J']);
    expect(await search({ states: ['differs'] })).toEqual(['H']);
    expect(await lists.oldestUnknown(engine)).toBe(minutesAfter(-5));
  });
});
