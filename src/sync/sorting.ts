// Sorts the records of a load into rows and misfits. Every record ends in exactly one of the two; a key that
// comes twice is loaded once, the last one, and the others are counted.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../core/glossary.ts';
import { checkRecord } from '../fleet/record-check.ts';
import type { Row, Scalar } from '../warehouse/engine.ts';
import type { Misfit } from '../warehouse/quarantine.ts';
import { type RowMapping, rowMapping } from '../warehouse/row-mapping.ts';
import { recordColumns, type Table } from '../warehouse/table.ts';
import type { Load } from './pull-job.ts';

export interface Sorted {
  table: Table;
  rows: Row[];
  misfits: Misfit[];
  /** Keys that the records held, those of misfits included. */
  seen(): Row[];
  /** The keys of the rows as the quarantine writes them. */
  keyTexts(): string[];
  /** False where a misfit has no readable key, so that absence cannot be told from misfortune. */
  allSeen: boolean;
  /** Records that a later one with the same key replaced. */
  superseded: number;
}

/** Records between two turns of the event loop. */
const TURN = 2_000;

const mappings = new WeakMap<Table, RowMapping>();

function mappingOf(table: Table): RowMapping {
  const known = mappings.get(table);
  if (known !== undefined) return known;
  const made = rowMapping(table);
  mappings.set(table, made);
  return made;
}

export async function sortRecords({ table, record: schema, records }: Load): Promise<Sorted> {
  const toRow = mappingOf(table);
  const keyOfRow = keyReader(table);
  const rows = new Map<Scalar, Row>();
  const misfits: Misfit[] = [];
  const lostKeys: (Row | undefined)[] = [];
  for (let index = 0; index < records.length; index++) {
    if (index % TURN === TURN - 1) await nextTurn();
    const raw = records[index];
    const checked = checkRecord(schema, raw);
    const mapped = checked.ok ? toRow(checked.record) : { misfit: checked.reason };
    if ('row' in mapped) {
      const key = keyOfRow(mapped.row);
      rows.set(key.length === 1 ? (key[0] ?? null) : key.join(' '), mapped.row);
    } else {
      const key = readableKey(table, raw);
      lostKeys.push(key);
      misfits.push({ table: table.name, key: key?.join(' ') ?? null, reason: mapped.misfit, record: raw });
    }
  }
  const loaded = [...rows.values()];
  return {
    table,
    rows: loaded,
    misfits,
    seen: () => [...loaded.map(keyOfRow), ...lostKeys.filter((key) => key !== undefined)],
    keyTexts: () => loaded.map((row) => keyOfRow(row).join(' ')),
    allSeen: !lostKeys.includes(undefined),
    superseded: records.length - misfits.length - loaded.length,
  };
}

function keyReader(table: Table): (row: Row) => Row {
  const columns = recordColumns(table);
  const positions = table.key.map((name) => columns.findIndex((column) => column.name === name));
  return (row) => positions.map((position) => row[position] ?? null);
}

/** The key of a record that did not fit, where it can be read all the same. */
function readableKey(table: Table, record: unknown): Scalar[] | undefined {
  const columns = recordColumns(table);
  const key = table.key.map((name) => {
    const { from = [] } = columns.find((column) => column.name === name) ?? {};
    return from.reduce<unknown>((value, step) => (value as JsonObject | null | undefined)?.[step], record);
  });
  const isReadable = key.every((value) => typeof value === 'string' || typeof value === 'number');
  return isReadable ? (key as Scalar[]) : undefined;
}
