// Prepares the rows of a slice for the transaction. Each load is serialised in the engine's form as soon as it is mapped,
// so that its rows leave memory. One pass over the rows collects all that the transaction needs: duplicate keys, referenced
// ids, rows inside each full-refresh range. The transaction then only runs SQL. If a key occurs more than once in the loads
// of a table, only its last row is loaded, and the others are counted.

import { chunks } from '../../../core/chunks.ts';
import { yieldToEventLoop } from '../../../core/event-loop.ts';
import type { InvalidRecord } from '../../../warehouse/control/quarantine.ts';
import type { Engine, Row, WrittenRows } from '../../../warehouse/engine.ts';
import { createKeySet, type KeySet, keyPositions, keyText } from '../../../warehouse/load/key-set.ts';
import { insideOf } from '../../../warehouse/load/vanished.ts';
import type { Privacy } from '../../../warehouse/privacy/privacy.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import { mapRecords } from './map-records.ts';
import type { FullRefreshRange, Load, Prepared, PrepareOptions } from './types.ts';

/** All records of a slice for one table, each key once. */
export interface Batch {
  table: Table;
  written: readonly WrittenRows[];
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
  /** Rows that a full-refresh range holds. */
  inside(refresh: FullRefreshRange): number;
}

export interface BatchDependencies {
  engine: Pick<Engine, 'writeDown'>;
  privacy: Privacy;
  /** Collects the references in a row of the table; undefined if the table has none. */
  references(table: Table): ((row: Row) => void) | undefined;
}

export interface Batches {
  prepare(load: Load, how?: PrepareOptions): Promise<Prepared>;
  /** One batch for each table, in the order of the parts. */
  finish(parts: readonly Prepared[]): Batch[];
}

/** Rows that are serialised before the event loop gets a turn. */
const ROWS_PER_TURN = 2_000;

/** The batches of one reading of a slice. */
export function createBatches({ engine, privacy, references }: BatchDependencies): Batches {
  const keySets = new Map<Table, KeySet>();
  const withDuplicates = new Set<Table>();
  const keysOf = (table: Table): KeySet => {
    const known = keySets.get(table) ?? createKeySet(table);
    keySets.set(table, known);
    return known;
  };

  /** The single pass over mapped rows. */
  function scan(table: Table, rows: readonly Row[], ranges: readonly Range[], each?: (row: Row) => void) {
    const keys = keysOf(table);
    const note = references(table);
    for (const row of rows) {
      if (!keys.add(row)) withDuplicates.add(table);
      note?.(row);
      each?.(row);
      for (const range of ranges) if (range.holds(row)) range.rows++;
    }
  }

  async function prepare(load: Load, { fullRefresh = [], each }: PrepareOptions = {}): Promise<Prepared> {
    const { table, rows, invalid, invalidKeys } = await mapRecords(load, privacy);
    const ranges = rangesOf(table, fullRefresh);
    const written: WrittenRows[] = [];
    for (const part of chunks(rows, ROWS_PER_TURN)) {
      if (written.length > 0) await yieldToEventLoop();
      scan(table, part, ranges, each);
      written.push(engine.writeDown(table, part));
    }
    return { table, written, invalid, invalidKeys, inside: insideEach(ranges) };
  }

  function batchOf(table: Table, parts: readonly Prepared[]): Batch {
    const written = parts.flatMap((part) => part.written);
    const invalidKeys = parts.flatMap((part) => part.invalidKeys);
    const keys = keysOf(table);
    const rowsInside = (refresh: FullRefreshRange): number => {
      const holds = insideOf(table, refresh.range);
      return written.flatMap((each) => each.rows()).filter(holds).length;
    };
    return {
      table,
      written,
      rows: written.reduce((sum, { count }) => sum + count, 0),
      invalid: parts.flatMap(({ invalid }) => invalid),
      superseded: 0,
      seen: () => [...keys.keys(), ...invalidKeys.filter((key) => key !== undefined)],
      keyTexts: () => keys.keys().map(keyText),
      allSeen: !invalidKeys.includes(undefined),
      inside: (refresh) =>
        parts.every(({ inside }) => inside.has(refresh))
          ? parts.reduce((sum, { inside }) => sum + (inside.get(refresh) ?? 0), 0)
          : rowsInside(refresh),
    };
  }

  /** Rare: reads the serialised rows again, and serialises the last row of each key. */
  function deduplicated(table: Table, parts: readonly Prepared[]): Batch {
    const all = parts.flatMap(({ written }) => written.flatMap((each) => each.rows()));
    const rows = lastOfEachKey(all, keyPositions(table));
    const ranges = rangesOf(table, [...new Set(parts.flatMap(({ inside }) => [...inside.keys()]))]);
    keySets.delete(table);
    scan(table, rows, ranges);
    const merged: Prepared = {
      table,
      written: [engine.writeDown(table, rows)],
      invalid: parts.flatMap(({ invalid }) => invalid),
      invalidKeys: parts.flatMap(({ invalidKeys }) => invalidKeys),
      inside: insideEach(ranges),
    };
    return { ...batchOf(table, [merged]), superseded: all.length - rows.length };
  }

  return {
    prepare,
    finish: (parts) =>
      [...Map.groupBy(parts, ({ table }) => table)].map(([table, group]) =>
        withDuplicates.has(table) ? deduplicated(table, group) : batchOf(table, group),
      ),
  };
}

interface Range {
  refresh: FullRefreshRange;
  holds: (row: Row) => boolean;
  rows: number;
}

const rangesOf = (table: Table, refreshes: readonly FullRefreshRange[]): Range[] =>
  refreshes
    .filter((refresh) => refresh.table === table)
    .map((refresh) => ({ refresh, holds: insideOf(table, refresh.range), rows: 0 }));

const insideEach = (ranges: readonly Range[]): ReadonlyMap<FullRefreshRange, number> =>
  new Map(ranges.map(({ refresh, rows }) => [refresh, rows]));

const lastOfEachKey = (rows: readonly Row[], positions: readonly number[]): Row[] => [
  ...new Map(rows.map((row) => [JSON.stringify(positions.map((at) => row[at])), row])).values(),
];
