// Remembers which rows are stored as they were read, so that a load need not send them to the database again: with the default
// lookback each event is read 37 times. The memory of a table has a hash of each row that this engine stored, in a slot that
// the key of the row selects. A later row may take the slot.
//
// The table has a version in `sync_state`. A load that sends rows sets a new, random one, and any other write of the table
// deletes it. A load reads the version inside its transaction, while no other transaction can write the table.
// - Trusted: if it is the version for which the memory was filled, the table has each remembered row with that content, and
//   the load leaves the row out.
// - Dropped: if it is another version or none, the memory is emptied and the same load sends all rows. That is so after a
//   write of another process, a deletion, a rollback, a commit whose answer was lost, or the restore of a backup.
import { hash, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { hasDayFigures } from '../control/event-days.ts';
import { syncState, writeFact } from '../control/learned-facts.ts';
import type { EncodedRows, Engine, LoadCounts, LoadMetadata, Row, Scalar } from '../engine.ts';
import { countRows } from '../engines/row-batches.ts';
import { baseTables } from '../schema/catalog.ts';
import type { Table } from '../schema/table.ts';
import { keyPositions } from './key-set.ts';

/** Encoded rows of which a part can be sent. */
export interface DigestedRows<Rows = unknown> extends EncodedRows {
  readonly digests: Uint32Array;
  /** The rows at these positions. */
  some(positions: readonly number[]): Rows;
}

/** Numbers of a digest: one that selects the slot, and two of a hash. */
const DIGEST = 3;

/**
 * The digest of each row; `texts` are all that a load sends of them, keys included. A changed row passes for unchanged if 64
 * bits of both SHA-1 hashes are the same: with a million changed rows a day, once in 50,000 million years.
 */
export function digestsOf(table: Table, rows: readonly Row[], texts: readonly string[]): Uint32Array {
  const keys = keyPositions(table);
  const digests = new Uint32Array(rows.length * DIGEST);
  for (const [index, row] of rows.entries()) {
    let slot = 0;
    for (const position of keys) slot = Math.imul(slot + keyNumber(row[position] ?? null), GOLDEN);
    const bytes = hash('sha1', texts[index] ?? '', 'binary');
    digests[index * DIGEST] = slot;
    // An empty slot holds 0.
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
 * Keys of the same number share a slot, and the later row takes it. 123 and the text 0123 are one key of a table, so they must
 * have one slot: otherwise a row that changes back would still be known from the slot of the other form.
 */
function keyNumber(value: Scalar): number {
  if (typeof value === 'number' || (typeof value === 'string' && INTEGER.test(value))) return Number(value);
  const text = String(value);
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), GOLDEN);
  return sum;
}

const INTEGER = /^-?\d{1,19}$/;

/** Bits of the number of a slot. A slot has 8 bytes: 16 MB for two million events, a quarter of a megabyte for any other table. */
const slotBits = (table: Table): number => (hasDayFigures(table) ? 21 : 15);

interface Memory {
  /** The state of the table for which it was filled. */
  state: string;
  /** Two numbers of a hash for each slot, 0 if the slot is empty. */
  readonly slots: Uint32Array;
  readonly bits: number;
}

const slotOf = ({ bits }: Memory, digests: Uint32Array, row: number): number =>
  ((digests[row * DIGEST] ?? 0) >>> (32 - bits)) * 2;

function knows(memory: Memory, digests: Uint32Array, row: number): boolean {
  const slot = slotOf(memory, digests, row);
  const [at, { slots }] = [row * DIGEST, memory];
  return slots[slot] === digests[at + 1] && slots[slot + 1] === digests[at + 2];
}

/** Without `keep` the slots become empty. */
function fill(memory: Memory, sent: readonly Uint32Array[], keep: boolean): void {
  for (const digests of sent) {
    for (let row = 0; row < digestCount(digests); row++) {
      const slot = slotOf(memory, digests, row);
      memory.slots[slot] = keep ? (digests[row * DIGEST + 1] ?? 0) : 0;
      memory.slots[slot + 1] = keep ? (digests[row * DIGEST + 2] ?? 0) : 0;
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
  /** As in `StoredVersion`. */
  validity: string;
  /** Digests of the rows that were sent. */
  sent: Uint32Array[];
}

export interface StoredVersion {
  /** The JSON text of the version; null for none. */
  version: string | null;
  /** If it changes, the memory is dropped although the version is the same: somebody else may have written the table. */
  validity: string;
}

const stateOf = ({ version, validity }: StoredVersion): string => `${version} ${validity}`;

/** The name of the version in `sync_state`. */
const versionName = (table: string): string => `stored rows of ${table}`;

const deleteVersions = (sql: Knex, tables: readonly string[]): Promise<number> =>
  sql(syncState.name).whereIn('name', tables.map(versionName)).delete();

/** The next load sends all rows of these tables: a comparison found that some are not stored as they were read. */
export const forgetKnownRows = (engine: Engine, tables: readonly string[]): Promise<unknown> =>
  engine.write(({ sql }) => deleteVersions(sql, tables));

/** One for each engine. `readVersion` reads the version in the transaction of a load that began `at`. */
export function createKnownRows(readVersion: (sql: Knex, name: string, at: string) => Promise<StoredVersion>) {
  const memories = new Map<string, Memory>();

  async function loadsOf(sql: Knex, table: Table, at: string): Promise<TableLoads> {
    const stored = await readVersion(sql, versionName(table.name), at);
    // Two states without a version may be different ones.
    const before = stored.version === null ? randomUUID() : stateOf(stored);
    const bits = slotBits(table);
    const memory = memories.get(table.name) ?? { state: before, bits, slots: new Uint32Array(2 ** bits * 2) };
    memories.set(table.name, memory);
    if (memory.state !== before) {
      memory.slots.fill(0);
      memory.state = before;
    }
    return { memory, before, next: undefined, validity: stored.validity, sent: [] };
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
          const version = randomUUID();
          await writeFact({ sql }, versionName(table.name), version, Date.parse(metadata.at));
          of.next = stateOf({ version: JSON.stringify(version), validity: of.validity });
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
        if (rewritten.size > 0) await deleteVersions(sql, [...rewritten]);
      },
      /** Call once the transaction is committed, never if that is not certain. */
      committed(): void {
        for (const [name, { memory, before, next, sent }] of loads) {
          // A later load of another transaction has emptied the memory: it met this one's version first.
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
