// The distinct keys of rows of one table. Nested by column, because a text or a list per key would take more memory.
import type { Row, Scalar } from '../engine.ts';
import { recordColumns, type Table } from '../schema/table.ts';

/** The values of the last key column, or the next level by value of an earlier key column. */
type Level = Set<Scalar> | Map<Scalar, Level>;

export type KeySet = ReturnType<typeof createKeySet>;

export function createKeySet(table: Table) {
  const positions = keyPositions(table);
  const depth = positions.length - 1;
  const root = levelAt(0, depth);
  return {
    /** Returns false if the set already has the key of the row. */
    add(row: Row): boolean {
      let level = root;
      for (let at = 0; at < depth; at++) {
        const value = row[positions[at] as number] ?? null;
        let next: Level | undefined = (level as Map<Scalar, Level>).get(value);
        if (next === undefined) {
          next = levelAt(at + 1, depth);
          (level as Map<Scalar, Level>).set(value, next);
        }
        level = next;
      }
      const values = level as Set<Scalar>;
      const { size } = values;
      values.add(row[positions[depth] as number] ?? null);
      return values.size > size;
    },
    /** The columns of each key are in the table's key order. */
    keys: (): Row[] => keysBelow(root),
  };
}

const levelAt = (at: number, depth: number): Level => (at === depth ? new Set() : new Map());

const keysBelow = (level: Level): Scalar[][] =>
  level instanceof Set
    ? [...level].map((value) => [value])
    : [...level].flatMap(([value, next]) => keysBelow(next).map((rest) => [value, ...rest]));

export function keyPositions(table: Table): number[] {
  const columns = recordColumns(table);
  return table.key.map((name) => columns.findIndex((column) => column.name === name));
}

/** A key as the quarantine stores it. */
export const keyText = (key: Row): string => key.join(' ');
