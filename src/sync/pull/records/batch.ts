// Prepares the rows of a slice for the transaction. Each load is serialised in the engine's form as soon as it is mapped,
// so that its rows leave memory, and one pass over the rows collects all that the transaction needs besides. If a key occurs
// more than once in the loads of a table, only its last row is loaded, and the others are counted.

import { chunks } from '../../../core/chunks.ts';
import { yieldToEventLoop } from '../../../core/event-loop.ts';
import type { InvalidRecord } from '../../../warehouse/control/quarantine.ts';
import type { EncodedRows, Engine, Row } from '../../../warehouse/engine.ts';
import { countRows } from '../../../warehouse/engines/row-batches.ts';
import { createKeySet, type KeySet, keyPositions, keyText } from '../../../warehouse/load/key-set.ts';
import { insideOf } from '../../../warehouse/load/vanished.ts';
import type { Privacy } from '../../../warehouse/privacy/privacy.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import { mapRecords } from './map-records.ts';
import type { FullRefreshRange, Load, Prepared, PrepareOptions } from './types.ts';

/** All records of a slice for one table, each key once. */
export interface Batch {
  table: Table;
  encoded: readonly EncodedRows[];
  rows: number;
  invalid: readonly InvalidRecord[];
  /** Records that a later one with the same key replaced. */
  superseded: number;
  /** Keys of all records, invalid ones included. */
  seen(): Row[];
  /** The keys of the rows in the form that the quarantine stores. */
  keyTexts(): string[];
  /** False if the key of an invalid record cannot be read. Then no row may be marked as missing. */
  allSeen: boolean;
  /** Rows that a full-refresh range holds; 0 if they were not counted. */
  inside(refresh: FullRefreshRange): number;
}

interface BatchDependencies {
  engine: Pick<Engine, 'encodeRows'>;
  privacy: Privacy;
  /** Collects the references in a row of the table; undefined if the table has none. */
  references(table: Table): ((row: Row) => void) | undefined;
}

export type Batches = ReturnType<typeof createBatches>;

/** Rows that are serialised before the event loop gets a turn. */
const ROWS_PER_TURN = 2_000;

/** The batches of one reading of a slice. */
export function createBatches({ engine, privacy, references }: BatchDependencies) {
  const keySets = new Map<Table, KeySet>();
  const withDuplicates = new Set<Table>();
  const keysOf = (table: Table): KeySet => {
    const known = keySets.get(table) ?? createKeySet(table);
    keySets.set(table, known);
    return known;
  };

  async function prepare(load: Load, { fullRefresh = [], each }: PrepareOptions = {}): Promise<Prepared> {
    const { table } = load;
    const { rows, invalid, invalidKeys } = await mapRecords(load, privacy);
    const keys = keysOf(table);
    const note = references(table);
    const ranges = fullRefresh
      .filter((refresh) => refresh.table === table)
      .map((refresh) => ({ refresh, holds: insideOf(table, refresh.range), rows: 0 }));
    const encoded: EncodedRows[] = [];
    for (const part of chunks(rows, ROWS_PER_TURN)) {
      if (encoded.length > 0) await yieldToEventLoop();
      for (const row of part) {
        if (!keys.add(row)) withDuplicates.add(table);
        note?.(row);
        each?.(row);
        for (const range of ranges) if (range.holds(row)) range.rows++;
      }
      encoded.push(engine.encodeRows(table, part));
    }
    const inside = new Map(ranges.map((range) => [range.refresh, range.rows]));
    return { table, encoded, invalid, invalidKeys, inside };
  }

  function batchOf(table: Table, parts: readonly Prepared[]): Batch {
    const read = parts.flatMap((part) => part.encoded);
    const hasDuplicates = withDuplicates.has(table);
    const encoded = hasDuplicates ? [engine.encodeRows(table, lastOfEachKey(table, read))] : read;
    const rows = countRows(encoded);
    const invalidKeys = parts.flatMap((part) => part.invalidKeys);
    return {
      table,
      encoded,
      rows,
      invalid: parts.flatMap(({ invalid }) => invalid),
      superseded: countRows(read) - rows,
      seen: () => [...keysOf(table).keys(), ...invalidKeys.filter((key) => key !== undefined)],
      keyTexts: () => keysOf(table).keys().map(keyText),
      allSeen: !invalidKeys.includes(undefined),
      inside: (refresh) =>
        hasDuplicates || !parts.every(({ inside }) => inside.has(refresh))
          ? 0
          : parts.reduce((sum, { inside }) => sum + (inside.get(refresh) ?? 0), 0),
    };
  }

  return {
    prepare,
    /** One batch for each table, in the order of the parts. */
    finish: (parts: readonly Prepared[]): Batch[] =>
      [...Map.groupBy(parts, ({ table }) => table)].map(([table, group]) => batchOf(table, group)),
  };
}

/** Rare: reads the serialised rows again. */
function lastOfEachKey(table: Table, encoded: readonly EncodedRows[]): Row[] {
  const positions = keyPositions(table);
  const keyOf = (row: Row): string => JSON.stringify(positions.map((at) => row[at]));
  return [...new Map(encoded.flatMap((each) => each.rows()).map((row) => [keyOf(row), row])).values()];
}
