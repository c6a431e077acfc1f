// Sorts the records of a load into rows and misfits; every record ends in exactly one of the two. Over all loads
// of a table, a key that comes twice is loaded once, the last one, and the others are counted.
import type { JsonObject } from '../../core/glossary.ts';
import { ownTurn } from '../../core/own-turn.ts';
import { checkRecord } from '../../fleet/record-check.ts';
import type { Row, Scalar } from '../../warehouse/engine.ts';
import type { Privacy } from '../../warehouse/privacy.ts';
import type { Misfit } from '../../warehouse/quarantine.ts';
import { type RowMapping, rowMapping } from '../../warehouse/row-mapping.ts';
import { recordColumns, type Table } from '../../warehouse/table.ts';
import type { Load } from './pull-job.ts';
import { type CompiledTable, compileTable } from './records/compile-table.ts';
import { wireSchema } from './records/wire-schema.ts';

export interface Sorted {
  table: Table;
  rows: Row[];
  misfits: Misfit[];
  /** Keys that the records held, those of misfits included. */
  seen(): Row[];
  /** False where a misfit has no readable key, so that absence cannot be told from misfortune. */
  allSeen: boolean;
}

/** All records of a slice for one table, each key once. */
export interface Distinct extends Sorted {
  /** The keys of the rows as the quarantine writes them. */
  keyTexts(): string[];
  /** Records that a later one with the same key replaced. */
  superseded: number;
}

/** Records between two turns of the event loop. */
const TURN = 2_000;

/** How records of a table become rows: the compiled way for most of them, the generic one for every other form. */
interface Ways {
  compiled: CompiledTable;
  generic: RowMapping;
}

const ways = new WeakMap<Table, Ways>();

function waysOf(table: Table): Ways {
  const known = ways.get(table);
  if (known !== undefined) return known;
  const made = { compiled: compileTable(table), generic: rowMapping(table) };
  ways.set(table, made);
  return made;
}

export async function sortRecords(
  { table, endpoint, records, refused = [] }: Load,
  privacy: Privacy,
): Promise<Sorted> {
  const { compiled, generic } = waysOf(table);
  const guard = privacy.guard(table);
  const keyOfRow = keyReader(table);
  const rows: Row[] = [];
  const misfits: Misfit[] = [];
  const lostKeys: (Row | undefined)[] = [];
  const misplaced = (raw: unknown, reason: string, isPart: boolean): void => {
    const record = guard.record(raw);
    const key = readableKey(table, record);
    lostKeys.push(key);
    misfits.push({ table: table.name, key: key?.join(' ') ?? null, reason, isPart, record });
  };
  for (const { record, reason } of refused) misplaced(record, reason, true);
  for (let index = 0; index < records.length; index++) {
    if (index % TURN === TURN - 1) await ownTurn();
    const raw = records[index];
    const row = compiled(raw);
    if (row !== undefined) {
      rows.push(guard.row(row));
      continue;
    }
    const checked = checkRecord(wireSchema(table, endpoint), raw);
    if (!checked.ok) {
      misplaced(raw, checked.reason, checked.isPart ?? false);
      continue;
    }
    const mapped = generic(checked.record);
    if ('row' in mapped) rows.push(guard.row(mapped.row));
    else misplaced(raw, mapped.misfit, false);
  }
  return {
    table,
    rows,
    misfits,
    seen: () => [...rows.map(keyOfRow), ...lostKeys.filter((key) => key !== undefined)],
    allSeen: !lostKeys.includes(undefined),
  };
}

/** Parts of one table as one part; a key that several of them hold is the last one's. */
export const byTable = (parts: readonly Sorted[]): Distinct[] =>
  [...Map.groupBy(parts, ({ table }) => table)].map(([table, group]) => merged(table, group));

function merged(table: Table, group: readonly Sorted[]): Distinct {
  const met = group.flatMap((part) => part.rows);
  const rows = distinct(met, keyPositions(table));
  const keyOfRow = keyReader(table);
  return {
    table,
    rows,
    misfits: group.flatMap(({ misfits }) => misfits),
    seen: () => group.flatMap(({ seen }) => seen()),
    keyTexts: () => rows.map((row) => keyOfRow(row).join(' ')),
    allSeen: group.every(({ allSeen }) => allSeen),
    superseded: met.length - rows.length,
  };
}

/** The last row of each key. Grouped column by column, because a text for each key would cost more. */
function distinct(rows: readonly Row[], [position = 0, ...others]: readonly number[]): Row[] {
  if (others.length > 0) {
    const groups = Map.groupBy(rows, (row) => row[position]);
    return [...groups.values()].flatMap((group) => distinct(group, others));
  }
  const last = new Map<Scalar | undefined, Row>();
  for (const row of rows) last.set(row[position], row);
  return last.size === rows.length ? (rows as Row[]) : [...last.values()];
}

function keyPositions(table: Table): number[] {
  const columns = recordColumns(table);
  return table.key.map((name) => columns.findIndex((column) => column.name === name));
}

function keyReader(table: Table): (row: Row) => Row {
  const positions = keyPositions(table);
  return (row) => positions.map((position) => row[position] ?? null);
}

const INTEGER = /^-?\d{1,18}$/;

/** The key of a record that did not fit, where it can be read all the same and a row may have it. */
function readableKey(table: Table, record: unknown): Scalar[] | undefined {
  const columns = recordColumns(table);
  const key = table.key.map((name) => {
    const column = columns.find((each) => each.name === name);
    const value = column?.from.reduce<unknown>(
      (inner, step) => (inner as JsonObject | null | undefined)?.[step],
      record,
    );
    return column?.type === 'integer' && !INTEGER.test(String(value)) ? undefined : value;
  });
  const isReadable = key.every((value) => typeof value === 'string' || typeof value === 'number');
  return isReadable ? (key as Scalar[]) : undefined;
}
