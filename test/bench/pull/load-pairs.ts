// Two ways of storing the same rows from memory: the engine's loader, and the barest statement that could do it, sent by
// the driver alone. The bare side uses nothing of the product but the table, so that every loss of the product shows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import knex from 'knex';
import sqlite3 from 'sqlite3';
import type { Engine, Row } from '../../../src/warehouse/engine.ts';
import { postgres } from '../../../src/warehouse/engines/postgres/engine.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { fillLocalTime } from '../../../src/warehouse/load/local-days.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { recordColumns } from '../../../src/warehouse/schema/table.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { metadataAt } from '../../support/warehouse/load-metadata.ts';
import { wireEvent } from './wire-event.ts';

/** Rows of a slice, about as many as the product commits at once. */
export const SLICE_ROWS = 10_000;
const metadata = metadataAt('bench', '2026-01-01T00:00:00.000Z');
const toRow = rowMapping(event);

/** As in a slice of a pull: from `start` on. */
export const eventRows = (start: number, count: number): Row[] =>
  Array.from({ length: Math.min(SLICE_ROWS, count - start) }, (_, n) => eventRow(start + n));

function eventRow(n: number): Row {
  const mapped = toRow(wireEvent(n));
  if (!('row' in mapped)) throw new Error(mapped.invalid);
  return mapped.row;
}

export interface Pair {
  name: string;
  engine: Engine;
  load(rows: readonly Row[]): () => Promise<void>;
  /** Makes the text of the rows; the returned function sends it, and only that counts as the bare side. */
  bare(rows: readonly Row[]): () => Promise<void>;
  close(): Promise<void>;
}

const load = (engine: Engine) => (rows: readonly Row[]) => {
  const written = [engine.encodeRows(event, rows)];
  return async () => void (await engine.write((tx) => tx.loadEncoded(event, written, metadata)));
};

const COLUMNS = [...recordColumns(event).map(({ name }) => name), 'extra'];
const METADATA_COLUMNS = ['_first_seen_at', '_changed_at', '_run_id'];
const METADATA_VALUES = [metadata.at, metadata.at, metadata.runId];

/** In two schemas of the database. */
export async function postgresPair(url: string): Promise<Pair> {
  const engine = await postgres.open({ url, schema: 'fleet' });
  const other = await postgres.open({ url, schema: 'bare' });
  for (const each of [engine, other]) await bringSchemaUpToDate(each);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.now());
  // The months are there beforehand on both sides: a row of each is loaded and taken away again.
  const months = Array.from({ length: 50 }, (_, fortnight) => eventRow(fortnight * 40_000));
  for (const each of [engine, other]) {
    await each.write((tx) => tx.load(event, months, metadata));
    await each.write(({ sql }) => sql('event').delete());
  }
  await other.close();
  const database = knex({ client: 'pg', connection: url, searchPath: ['bare'], pool: { min: 1, max: 1 } });
  const client = (await database.client.acquireConnection()) as Client;
  const statement = `copy event (${[...COLUMNS, ...METADATA_COLUMNS].join(', ')}) from stdin`;
  return {
    name: 'PostgreSQL, beside a bare COPY into the same table',
    engine,
    load: load(engine),
    bare(rows) {
      const lines = rows.map((row) => [...row, ...METADATA_VALUES].map((value) => value ?? '\\N').join('\t'));
      const text = Buffer.from(`${lines.join('\n')}\n`);
      return () => copy(client, statement, text);
    },
    async close() {
      await database.client.releaseConnection(client);
      await Promise.all([engine.close(), database.destroy()]);
    },
  };
}

/** The driver's own connection. */
interface Client {
  query(config: object): void;
}

interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** A statement by itself is a transaction. */
const copy = (client: Client, statement: string, text: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    client.query({
      submit: (wire: Wire) => wire.query(statement),
      handleCopyInResponse(wire: Wire) {
        wire.sendCopyFromChunk(text);
        wire.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    });
  });

/** As many as the product's statements take. */
const SQLITE_ROWS = 4_000;

export async function sqlitePair(): Promise<Pair> {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-load-'));
  const engine = await sqlite.open({ file: join(dir, 'warehouse.db') });
  const file = join(dir, 'bare.db');
  const other = await sqlite.open({ file });
  for (const each of [engine, other]) await bringSchemaUpToDate(each);
  await fillLocalTime(engine, 'America/Sao_Paulo', Date.now());
  await other.close();
  const database = new sqlite3.Database(file);
  const run = (text: string, values: unknown[] = []): Promise<void> =>
    new Promise((resolve, reject) => {
      database.run(text, values, (error: Error | null) => (error === null ? resolve() : reject(error)));
    });
  // As the product's connection has them.
  const pragmas = ['journal_mode = wal', 'synchronous = full', 'cache_size = -16384', 'wal_autocheckpoint = 8000'];
  for (const pragma of pragmas) await run(`pragma ${pragma}`);
  const values = COLUMNS.map((_, position) => `json_extract(value, '$[${position}]')`);
  const statement = `insert into event (${[...COLUMNS, ...METADATA_COLUMNS].join(', ')})
    select ${values.join(', ')}, ${METADATA_VALUES.map((value) => `'${value}'`).join(', ')} from jsonb_each(?)`;
  return {
    name: 'SQLite, beside the bare insert from jsonb_each into the same table',
    engine,
    load: load(engine),
    bare(rows) {
      const texts = Array.from({ length: Math.ceil(rows.length / SQLITE_ROWS) }, (_, n) =>
        JSON.stringify(rows.slice(n * SQLITE_ROWS, (n + 1) * SQLITE_ROWS)),
      );
      return async () => {
        await run('begin immediate');
        for (const text of texts) await run(statement, [text]);
        await run('commit');
      };
    },
    async close() {
      await engine.close();
      await new Promise((resolve) => database.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
