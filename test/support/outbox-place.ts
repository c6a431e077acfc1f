// An outbox with entries of a test's own choice, on any engine.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { noCounts } from '../../src/core/glossary.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';
import type { EngineCase, EnginePlace } from './engines.ts';

export const KIND = 'route_plans';

/** Instants of one day, by the hour. */
export const hour = (hours: number): string =>
  new Date(Date.UTC(2026, 0, 10) + hours * 3_600_000).toISOString();

export interface OutboxPlace {
  readonly engine: Engine;
  /** Adds a ready entry with whatever is different about it, and gives it as it is stored. */
  put(code: string, change?: Partial<OutboxEntry>): Promise<OutboxEntry>;
  row(code: string): Promise<OutboxEntry>;
  /** The story of an entry, in order. */
  attempts(code: string): Promise<Record<string, unknown>[]>;
  /** An open run. */
  run(runId: string, status?: string): Promise<void>;
}

/** One database for all tests of the block; each finds it empty. */
export function useOutbox({ make }: EngineCase): OutboxPlace {
  let place: EnginePlace;
  let engine: Engine;
  beforeAll(async () => {
    place = await make();
    engine = await place.open();
    await bringSchemaUpToDate(engine);
  });
  beforeEach(() =>
    engine.write(async ({ sql }) => {
      for (const table of ['push_outbox', 'push_attempt', 'sync_run']) await sql(table).delete();
    }),
  );
  afterAll(async () => {
    await engine.close();
    await place.remove();
  });
  const row = (code: string): Promise<OutboxEntry> =>
    engine.read((sql) => sql('push_outbox').where({ external_code: code }).first());
  return {
    get engine() {
      return engine;
    },
    row,
    async put(code, change = {}) {
      await engine.write(({ sql }) =>
        sql('push_outbox').insert({
          kind: KIND,
          external_code: code,
          state: 'ready',
          content_hash: `hash ${code}`,
          remote_key: code,
          payload: '{}',
          attempts: 0,
          unclear_sends: 0,
          created_at: hour(0),
          updated_at: hour(0),
          revision: 1,
          ...change,
        }),
      );
      return row(code);
    },
    attempts: (code) =>
      engine.read((sql) => sql('push_attempt').where({ external_code: code }).orderBy('number')),
    run: (runId, status = 'running') =>
      engine.write(async ({ sql }) => {
        const made = {
          run_id: runId,
          job: 'push',
          cause: 'manual',
          status,
          started_at: hour(0),
          host: 'h',
          pid: 1,
        };
        await sql('sync_run').insert({ ...noCounts(), ...made });
      }),
  };
}
