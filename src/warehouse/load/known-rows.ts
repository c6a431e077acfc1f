// Rows that are known to be stored as they were read are not sent to the database again: with the default lookback each
// event is read 37 times. An engine remembers a hash of each row that it stored, in a place given by the row's key.
//
// A memory holds for one state of the table, and that state has a mark in `sync_state`. Every transaction that writes rows
// of the table changes the mark: a load sets one that was never used before, any other write deletes it. A load compares
// the mark inside its transaction, while no other transaction can write the table. Whatever happened since this engine's
// last load (a write of another process, a deletion, a rollback, a commit whose answer was lost, a restored backup): the
// mark is another one, the memory is emptied, and the same transaction sends all rows. No reading is repeated because of it.
// Slices that are read at the same time need no order either. A row is skipped only if the table has it with the same
// content at the moment of the load, so it would have been compared and left as it is.
import { hash, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { syncState, writeFact } from '../control/learned-facts.ts';
import type { EncodedRows, Engine, LoadCounts, LoadMetadata, Row, Scalar } from '../engine.ts';
import { countRows } from '../engines/row-batches.ts';
import { baseTables } from '../schema/catalog.ts';
import type { Table } from '../schema/table.ts';
import { hasDayFigures } from './event-days.ts';
import { keyPositions } from './key-set.ts';

/** Encoded rows of which a part can be sent. */
export interface DigestedRows<Rows = unknown> extends EncodedRows {
  readonly digests: Uint32Array;
  /** The rows at these positions. */
  some(positions: readonly number[]): Rows;
}

/** Numbers of a digest: the place of the key, and two of a hash. */
const DIGEST = 3;

/**
 * The digest of each row; `texts` are all that a load sends of them, keys included. A changed row passes for unchanged if 64
 * bits of both SHA-1 hashes are the same: with a million changed rows a day, once in 50,000 million years.
 */
export function digestsOf(table: Table, rows: readonly Row[], texts: readonly string[]): Uint32Array {
  const keys = keyPositions(table);
  const digests = new Uint32Array(rows.length * DIGEST);
  for (const [index, row] of rows.entries()) {
    let place = 0;
    for (const position of keys) place = Math.imul(place + keyNumber(row[position] ?? null), GOLDEN);
    const bytes = hash('sha1', texts[index] ?? '', 'binary');
    digests[index * DIGEST] = place;
    // An empty place holds 0.
    digests[index * DIGEST + 1] = wordAt(bytes, 0) || 1;
    digests[index * DIGEST + 2] = wordAt(bytes, 4);
  }
  return digests;
}

export const digestCount = (digests: Uint32Array): number => digests.length / DIGEST;

export const someDigests = (digests: Uint32Array, positions: readonly number[]): Uint32Array =>
  Uint32Array.from(positions.flatMap((at) => [...digests.subarray(at * DIGEST, (at + 1) * DIGEST)]));

const wordAt = (bytes: string, at: number): number =>
  (bytes.charCodeAt(at) << 24) |
  (bytes.charCodeAt(at + 1) << 16) |
  (bytes.charCodeAt(at + 2) << 8) |
  bytes.charCodeAt(at + 3);

/** Numbers that follow each other seldom share the high bits of their products. */
const GOLDEN = 0x9e3779b1;

/**
 * Keys of the same number share a place, and the later row takes it. 123 and the text 0123 are one key of a table, so they must
 * have one place: otherwise a row that changes back would still be known from the place of the other form.
 */
function keyNumber(value: Scalar): number {
  if (typeof value === 'number' || (typeof value === 'string' && INTEGER.test(value))) return Number(value);
  const text = String(value);
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), GOLDEN);
  return sum;
}

const INTEGER = /^-?\d{1,19}$/;

/** Places of a memory, of 8 bytes each: 16 MB for two million events, a quarter of a megabyte for any other table. */
const placeBits = (table: Table): number => (hasDayFigures(table) ? 21 : 15);

interface Memory {
  /** The state of the table for which it holds. */
  state: string;
  /** Two hashes for each place, 0 if the place is empty. */
  readonly places: Uint32Array;
  readonly bits: number;
}

const slotOf = ({ bits }: Memory, digests: Uint32Array, row: number): number =>
  ((digests[row * DIGEST] ?? 0) >>> (32 - bits)) * 2;

function knows(memory: Memory, digests: Uint32Array, row: number): boolean {
  const slot = slotOf(memory, digests, row);
  const [at, { places }] = [row * DIGEST, memory];
  return places[slot] === digests[at + 1] && places[slot + 1] === digests[at + 2];
}

/** Without `keep` the places become empty. */
function fill(memory: Memory, sent: readonly Uint32Array[], keep: boolean): void {
  for (const digests of sent) {
    for (let row = 0; row < digestCount(digests); row++) {
      const slot = slotOf(memory, digests, row);
      memory.places[slot] = keep ? (digests[row * DIGEST + 1] ?? 0) : 0;
      memory.places[slot + 1] = keep ? (digests[row * DIGEST + 2] ?? 0) : 0;
    }
  }
}

function unknownOf<Rows extends DigestedRows<Rows>>(memory: Memory, encoded: Rows): Rows[] {
  const positions: number[] = [];
  for (let row = 0; row < encoded.count; row++) if (!knows(memory, encoded.digests, row)) positions.push(row);
  if (positions.length === 0) return [];
  return [positions.length === encoded.count ? encoded : encoded.some(positions)];
}

/** The loads of one table in a transaction. */
interface TableLoads {
  memory: Memory;
  /** The state that the table had before. */
  before: string;
  /** The state that the table will have. */
  next: string | undefined;
  /** What the engine knows of the table's state besides the mark. */
  beside: string;
  /** Digests of the rows that were sent. */
  sent: Uint32Array[];
}

export interface StoredMark {
  /** The JSON text of the mark; null for none. */
  mark: string | null;
  /** Whatever else changes if somebody else writes the database. */
  beside: string;
}

const stateOf = ({ mark, beside }: StoredMark): string => `${mark} ${beside}`;

/** The name of the mark in `sync_state`. */
const markOf = (table: string): string => `stored rows of ${table}`;

const deleteMarks = (sql: Knex, tables: readonly string[]): Promise<number> =>
  sql(syncState.name).whereIn('name', tables.map(markOf)).delete();

/** The next load sends all rows of these tables: a comparison found that some are not stored as they were read. */
export const forgetKnownRows = (engine: Engine, tables: readonly string[]): Promise<unknown> =>
  engine.write(({ sql }) => deleteMarks(sql, tables));

/** One for each engine. `readMark` reads it in the transaction of a load that began `at`. */
export function createKnownRows(readMark: (sql: Knex, name: string, at: string) => Promise<StoredMark>) {
  const memories = new Map<string, Memory>();

  async function loadsOf(sql: Knex, table: Table, at: string): Promise<TableLoads> {
    const stored = await readMark(sql, markOf(table.name), at);
    // Two states without a mark may be different ones.
    const before = stored.mark === null ? randomUUID() : stateOf(stored);
    const bits = placeBits(table);
    const memory = memories.get(table.name) ?? { state: before, bits, places: new Uint32Array(2 ** bits * 2) };
    memories.set(table.name, memory);
    if (memory.state !== before) {
      memory.places.fill(0);
      memory.state = before;
    }
    return { memory, before, next: undefined, beside: stored.beside, sent: [] };
  }

  /** For one transaction. */
  function begin() {
    const loads = new Map<string, TableLoads>();
    const rewritten = new Set<string>();
    return {
      /** Sends the rows that are not known to be stored. They are known once the transaction is committed. */
      async load<Rows extends DigestedRows<Rows>>(
        sql: Knex,
        { table, rows, metadata }: { table: Table; rows: readonly Rows[]; metadata: LoadMetadata },
        send: (rows: readonly Rows[]) => Promise<LoadCounts>,
      ): Promise<LoadCounts> {
        // Somebody else may have changed rows, or a comparison looks for such rows: all are sent.
        if (metadata.isRepair === true) rewritten.add(table.name);
        if (rewritten.has(table.name)) return send(rows);
        const of = loads.get(table.name) ?? (await loadsOf(sql, table, metadata.at));
        loads.set(table.name, of);
        const unknown = rows.flatMap((each) => unknownOf(of.memory, each));
        const known = countRows(rows) - countRows(unknown);
        if (unknown.length === 0) return { inserted: 0, updated: 0, unchanged: known };
        if (of.next === undefined) {
          const mark = randomUUID();
          await writeFact({ sql }, markOf(table.name), mark, Date.parse(metadata.at));
          of.next = stateOf({ mark: JSON.stringify(mark), beside: of.beside });
        }
        // Now already: a later load of this transaction may bring the rows as they were before.
        const digests = unknown.map((each) => each.digests);
        fill(of.memory, digests, false);
        const counts = await send(unknown);
        of.sent.push(...digests);
        return { ...counts, unchanged: counts.unchanged + known };
      },
      /** Rows of the table are changed by something other than a load. */
      noteRewrite: (table: Table): void => void rewritten.add(table.name),
      /** Every statement that does not come from the loader is noted, so that no writer of these tables can forget it. */
      noteStatement(text: string): void {
        for (const [, name = ''] of text.matchAll(WRITTEN)) if (baseNames.has(name)) rewritten.add(name);
      },
      /** Call at the end of the transaction. */
      async finish(sql: Knex): Promise<void> {
        if (rewritten.size > 0) await deleteMarks(sql, [...rewritten]);
      },
      /** Call once the transaction is committed, never if that is not certain. */
      committed(): void {
        for (const [name, { memory, before, next, sent }] of loads) {
          // A later load of another transaction has emptied the memory: it met this one's mark first.
          if (next === undefined || rewritten.has(name) || memory.state !== before) continue;
          fill(memory, sent, true);
          memory.state = next;
        }
      },
    };
  }

  return { begin };
}

export type KnownRowsTurn = ReturnType<ReturnType<typeof createKnownRows>['begin']>;

const baseNames: ReadonlySet<string> = new Set(baseTables.map(({ name }) => name));

/** The table that a statement writes. Only the loader names partitions of a table. */
const WRITTEN =
  /\b(?:into|update|delete\s+from|table(?:\s+if\s+exists)?|truncate(?:\s+table)?)\s+(?:only\s+)?(?:["`]?\w+["`]?\.)?["`]?(\w+)/gi;
