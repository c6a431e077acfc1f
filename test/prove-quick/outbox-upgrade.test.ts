// An outbox of the earlier schema is migrated to fewer columns: no open entry is lost, and an entry that may be at the
// service is never sent without a read-back. The upgrade may be killed at any of its statements.
import type { Knex } from 'knex';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { dropViews } from '../../src/warehouse/control/schema-views.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
import { needsProof, type OutboxEntry, pushOutbox } from '../../src/warehouse/outbox/entry.ts';
import { readyEntries } from '../../src/warehouse/outbox/queries.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema/converge.ts';
import { smallOutbox } from '../../src/warehouse/schema/migrations/small-outbox.ts';
import { migrations } from '../../src/warehouse/schema/migrations.ts';
import {
  boolean,
  type ColumnDraft,
  controlTable,
  instant,
  integer,
  json,
  text,
} from '../../src/warehouse/schema/table.ts';
import { stopPostgres } from '../support/databases/postgres.ts';
import { killedUpgrades } from '../support/kills/upgrade-kills.ts';
import { type EnginePlace, engineCases } from '../support/warehouse/engines.ts';

type Row = Record<string, unknown>;
type Draft = (meaning: string) => ColumnDraft;

afterAll(stopPostgres);

const columns = (draft: Draft, ...names: string[]): Record<string, ColumnDraft> =>
  Object.fromEntries(names.map((name) => [name, draft('As it was.')]));
const required: Draft = (meaning) => integer(meaning, { required: true });

/** As both tables were declared before. */
const earlierOutbox = controlTable({
  name: 'push_outbox',
  meaning: 'As it was.',
  key: ['kind', 'external_code'],
  columns: {
    ...columns(text, 'kind', 'external_code', 'state', 'content_hash', 'sent_hash', 'noted_hash', 'remote_key'),
    ...columns(text, 'message', 'erp_code', 'origin', 'batch', 'remote_status', 'checked_run_id', 'owner_run_id'),
    ...columns(json, 'reasons', 'payload'),
    ...columns(boolean, 'is_async', 'is_watched', 'changed_after_push', 'is_doubtful'),
    ...columns(integer, 'remote_id', 'uncoded_stops'),
    ...columns(required, 'attempts', 'unclear_sends', 'revision'),
    ...columns(instant, 'period_start', 'period_end', 'next_attempt_at', 'unknown_since', 'absent_since'),
    ...columns(instant, 'absent_since_there', 'created_at', 'updated_at', 'sent_at', 'confirmed_at'),
    ...columns(instant, 'seen_at', 'told_at'),
  },
});
const earlierAttempt = controlTable({
  name: 'push_attempt',
  meaning: 'As it was.',
  key: ['kind', 'external_code', 'number'],
  columns: {
    ...columns(text, 'kind', 'external_code', 'what', 'run_id', 'outcome', 'error_code', 'message'),
    ...columns(required, 'number', 'times'),
    ...columns(instant, 'started_at', 'finished_at'),
    ...columns(integer, 'http_status'),
  },
});
const EARLIER_INDEXES = ['kind, state, period_start, external_code', 'kind, remote_id', 'state, unknown_since'];
const EARLIER_VIEW = [
  ...['kind', 'code', 'state', 'is_confirmed', 'needs_attention', 'message', 'remote_id', 'remote_status'],
  ...['created', 'sent', 'confirmed', 'told'].flatMap((name) => [`${name}_at`, `${name}_local`]),
  ...['seconds_to_confirm', 'attempts', 'unclear_sends', 'last_error_code', 'origin'],
];

const at = (hour: number): string => new Date(Date.UTC(2026, 0, 10, hour)).toISOString();
const SENT = { sent_hash: 'content', sent_at: at(2), attempts: 1 };
const LOST = {
  ...SENT,
  unclear_sends: 1,
  unknown_since: at(3),
  absent_since: at(4),
  absent_since_there: at(5),
};
/** Accepted without an identifier; the ERP has changed it since. */
const UNNAMED = { ...LOST, sent_hash: 'older', confirmed_at: at(3), is_doubtful: true };
const CONFIRMED = { ...SENT, payload: null, remote_id: 7, confirmed_at: at(3), told_at: at(4) };
const SEEN = { ...CONFIRMED, seen_at: at(4), is_watched: false };

/** By code: state and columns before, and the columns that change. */
const ENTRIES: Record<string, [before: Row, then: Row]> = {
  ready: [{ state: 'ready' }, {}],
  'ready, turned away': [{ state: 'ready', ...SENT, is_doubtful: true }, {}],
  'ready, lost before': [{ state: 'ready', ...SENT, unclear_sends: 1 }, {}],
  'ready to change': [{ state: 'ready', ...SENT, sent_hash: 'older', remote_id: 7 }, {}],
  sending: [{ state: 'sending', ...SENT, owner_run_id: 'gone' }, {}],
  'sending, invalid since': [
    { state: 'sending', ...SENT, noted_hash: 'noted' },
    { content_hash: 'noted', payload: null, attention: 'invalid_change' },
  ],
  unknown: [{ state: 'unknown', ...LOST }, { absent_since: null }],
  'unknown change': [{ state: 'unknown', ...LOST, remote_id: 7 }, { absent_since: null }],
  'unknown, invalid since': [
    { state: 'unknown', ...LOST, noted_hash: 'noted' },
    { absent_since: null, content_hash: 'noted', payload: null, attention: 'invalid_change' },
  ],
  unnamed: [
    { state: 'unknown', ...UNNAMED },
    { state: 'confirmed', unknown_since: null, absent_since: null, unclear_sends: 0 },
  ],
  'unnamed, invalid since': [
    { state: 'unknown', ...UNNAMED, noted_hash: 'noted' },
    {
      ...{ state: 'confirmed', unknown_since: null, absent_since: null, unclear_sends: 0 },
      ...{ content_hash: 'noted', payload: null, attention: 'invalid_change' },
    },
  ],
  confirmed: [{ state: 'confirmed', ...SEEN }, {}],
  'confirmed, not sent': [{ state: 'confirmed', ...SEEN, sent_hash: null }, { sent_hash: 'content' }],
  'confirmed, changed since': [
    { state: 'confirmed', ...SEEN, sent_hash: 'older', changed_after_push: true, uncoded_stops: 2 },
    {},
  ],
  'confirmed, invalid since': [
    { state: 'confirmed', ...SEEN, noted_hash: 'noted' },
    { content_hash: 'noted', attention: 'invalid_change' },
  ],
  'never seen': [{ state: 'confirmed', ...CONFIRMED, is_watched: true }, {}],
  'never seen, without an id': [{ state: 'confirmed', ...CONFIRMED, remote_id: null, is_watched: false }, {}],
  'seen by an earlier version': [{ state: 'confirmed', ...CONFIRMED }, { seen_at: at(3) }],
  rejected: [{ state: 'rejected', reasons: '["no"]', is_watched: false }, {}],
  'rejected by a status': [{ state: 'rejected', ...SENT, is_watched: true, is_doubtful: true }, {}],
  cancelled: [{ state: 'cancelled', payload: null }, {}],
  'cancelled while unknown': [{ state: 'cancelled', ...SENT, unclear_sends: 1, payload: null }, {}],
};

const BLANK: Row = Object.fromEntries(earlierOutbox.columns.map(({ name }) => [name, null]));
const COMMON: Row = {
  ...{ kind: 'points_of_interest', content_hash: 'content', remote_key: 'key', payload: '{"data":{}}' },
  ...{
    message: 'so it was',
    origin: 'file, row 1',
    batch: 'file',
    attempts: 0,
    unclear_sends: 0,
    revision: 4,
  },
  ...{ created_at: at(1), updated_at: at(2), period_start: at(20), period_end: at(30) },
};
const earlier = Object.entries(ENTRIES).map(([external_code, [before]]) => ({
  ...BLANK,
  ...COMMON,
  ...before,
  external_code,
}));
const kept = (row: Row): Row =>
  Object.fromEntries(pushOutbox.columns.flatMap(({ name }) => (name in row ? [[name, row[name]]] : [])));
const upgraded = earlier.map(
  (row): Row => ({
    ...kept(row),
    code_use: 1,
    attention: null,
    attention_since: null,
    ...ENTRIES[row.external_code]?.[1],
  }),
);

/** By outcome before: event and outcome after; an open attempt is gone. */
const ATTEMPTS: [before: [what: string, outcome: string | null], then: [what: string, outcome: string] | null][] = [
  [
    ['create', 'unclear'],
    ['create', 'unclear'],
  ],
  [
    ['read-back', 'blind'],
    ['read-back', 'inconclusive'],
  ],
  [
    ['read-back', 'absent'],
    ['read-back', 'absent'],
  ],
  [
    ['order', 'vouched'],
    ['action', 'asserted-absent'],
  ],
  [
    ['create', 'refused'],
    ['create', 'rejected'],
  ],
  [
    ['order', 'revived'],
    ['action', 'retried'],
  ],
  [
    ['change', 'accepted'],
    ['change', 'accepted'],
  ],
  [['create', null], null],
];
const attempt = ([what, outcome]: [string, string | null], i: number): Row => ({
  ...{ kind: 'points_of_interest', external_code: 'sending', number: i + 1, what, outcome, run_id: 'run' },
  ...{ started_at: at(i), finished_at: outcome === null ? null : at(i), error_code: null, http_status: 500 },
  ...{ message: null, times: 2 },
});

/** A database as the previous version left it. */
async function fillEarlier(engine: Engine, sql: Knex): Promise<void> {
  await dropViews(engine, sql);
  for (const table of [earlierOutbox, earlierAttempt]) {
    await sql.raw(`drop table "${table.name}"`);
    for (const statement of engine.createStatements(table)) await sql.raw(statement);
  }
  for (const [i, names] of EARLIER_INDEXES.entries())
    await sql.raw(`create index "idx_push_outbox_earlier_${i}" on push_outbox (${names})`);
  await sql('schema_version').where({ name: smallOutbox.name }).delete();
  for (const row of earlier) await sql('push_outbox').insert(row);
  await sql('push_attempt').insert(ATTEMPTS.map(([before], i) => attempt(before, i)));
}

const contents = (engine: Engine) =>
  engine.read(async (sql) => ({
    outbox: (await sql('push_outbox')) as OutboxEntry[],
    attempts: (await sql('push_attempt').orderBy('number')) as Row[],
  }));

describe.each(engineCases)('an outbox of the earlier schema on $name', ({ make }) => {
  async function earlierPlace(): Promise<EnginePlace> {
    const place = await make();
    onTestFinished(() => place.remove());
    const engine = await place.open();
    await bringSchemaUpToDate(engine);
    await engine.write(({ sql }) => fillEarlier(engine, sql));
    await engine.close();
    return place;
  }

  async function expectUpgraded(engine: Engine): Promise<void> {
    const { outbox, attempts } = await contents(engine);
    expect(new Map(outbox.map((entry) => [entry.external_code, entry]))).toEqual(
      new Map(upgraded.map((entry) => [entry.external_code, { ...entry, failed_sends: 0 }])),
    );
    expect(attempts).toEqual(
      ATTEMPTS.flatMap(([, then], i) => (then === null ? [] : [{ ...attempt(then, i), code_use: 1 }])),
    );
  }

  it('keeps every entry and its history', async () => {
    const engine = await (await earlierPlace()).open();
    onTestFinished(() => engine.close());
    await bringSchemaUpToDate(engine);
    await expectUpgraded(engine);
    expect(await engine.read((sql) => engine.columnsOf(sql, 'push_outbox'))).toEqual(
      pushOutbox.columns.map(({ name }) => name),
    );
    expect(await engine.read((sql) => engine.columnsOf(sql, 'bi_push'))).toEqual(expect.arrayContaining(EARLIER_VIEW));
    const before = await contents(engine);
    await bringSchemaUpToDate(engine);
    expect(await contents(engine)).toEqual(before);
    // Another use of a code has a row beside the first.
    await engine.write(async ({ sql }) => {
      await sql('push_outbox').insert({ ...before.outbox[0], code_use: 2 });
      await sql('push_attempt').insert({ ...before.attempts[0], code_use: 2 });
    });
  });

  it('sends nothing that may be at the service without a read-back', async () => {
    const engine = await (await earlierPlace()).open();
    onTestFinished(() => engine.close());
    await bringSchemaUpToDate(engine);
    const ready = await engine.read((sql) => readyEntries(sql, 'points_of_interest', at(9)));
    const codes = ready.map(({ external_code }) => external_code).toSorted();
    expect(codes).toEqual(['ready', 'ready to change', 'ready, lost before', 'ready, turned away']);
    const { outbox } = await contents(engine);
    const doubtful = outbox.filter((entry) => needsProof(entry)).map(({ external_code }) => external_code);
    expect(doubtful).toEqual(
      expect.arrayContaining(['ready, lost before', 'ready, turned away', 'unknown', 'unknown change']),
    );
    expect(doubtful).not.toContain('ready');
  });

  it('is upgraded after a kill at any statement', async () => {
    const place = await earlierPlace();
    const left = await killedUpgrades({
      place,
      steps: migrations,
      at: (statement) => /push_(?:outbox|attempt)|schema_version/.test(statement),
      unchanged: async (engine) => {
        const { outbox, attempts } = await contents(engine);
        expect([outbox.length, attempts.length]).toEqual([earlier.length, ATTEMPTS.length]);
        expect(await engine.read((sql) => engine.columnsOf(sql, 'push_outbox'))).toContain('noted_hash');
      },
    });
    expect(left.length).toBeGreaterThan(place.settings.engine === 'sqlite' ? 15 : 0);
    for (const open of left) {
      const engine = await open();
      await bringSchemaUpToDate(engine);
      await expectUpgraded(engine);
      await engine.close();
    }
  });
});
