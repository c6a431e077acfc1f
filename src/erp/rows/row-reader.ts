// Reads items from rows or JSON records. A wrong header ends the read with its issues. A record that cannot be read is a
// read error, and the read goes on with the next.
import { isJsonObject, type Json } from '../../core/glossary.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { type ItemContext, itemOf, type Reading } from '../items/item.ts';
import { readCells } from './cell-values.ts';
import { type Cells, columnsInUse, type FlatColumnsInUse } from './flat-columns.ts';
import { createPlanFold, type FlatRow, type Folded, nestedFields, type RowFold } from './flat-rows.ts';
import type { ReadyMapping } from './mapping.ts';

export interface ReaderContext extends ItemContext {
  reuseCodes: boolean;
  mapping: ReadyMapping;
}

export interface TableRow {
  /** For messages, such as `row 7`. */
  place: string;
  cells: Cells;
}

export interface Table {
  header: readonly string[];
  rows: AsyncIterable<TableRow> | Iterable<TableRow>;
}

/** Reads a table with one header: CSV, XLSX, SQL. `name` is the name of the file or query. */
export async function* readTable(table: Table, name: string, context: ReaderContext): AsyncIterable<Reading> {
  const columns = columnsInUse(context.kind, context.mapping, table.header, { isTable: true });
  for (const reason of columns.issues) yield { readError: { origin: name, reason } };
  if (columns.issues.length > 0) return;
  const reader = flatReader(context);
  for await (const { place, cells } of table.rows) {
    yield* reader.push({ origin: `${name} ${place}`, cells: columns.pick(cells) });
  }
  yield* reader.end();
}

/** Reads JSON records: flat rows if there is a mapping or a dotted name, otherwise canonical items. */
export function* readRecords(records: readonly Json[], name: string, context: ReaderContext): Iterable<Reading> {
  const isFlat = !context.mapping.isEmpty || records.some(hasDottedName);
  const reader = flatReader(context);
  const known = new Map<string, FlatColumnsInUse>();
  for (const [i, record] of records.entries()) {
    const origin = `${name} record ${i + 1}`;
    if (!isJsonObject(record)) {
      yield { readError: { origin, reason: 'is not an object' } };
    } else if (!isFlat) {
      yield itemOf(record, origin, context);
    } else {
      const header = Object.keys(record);
      const key = JSON.stringify(header);
      const columns = known.get(key) ?? columnsInUse(context.kind, context.mapping, header, { isTable: false });
      known.set(key, columns);
      for (const reason of columns.issues) yield { readError: { origin, reason } };
      if (columns.issues.length === 0) yield* reader.push({ origin, cells: columns.pick(record) });
    }
  }
  yield* reader.end();
}

const hasDottedName = (record: Json): boolean =>
  isJsonObject(record) && Object.keys(record).some((name) => name.includes('.'));

function flatReader(context: ReaderContext): RowFold<Reading> {
  const { kind, mapping } = context;
  if (kind !== 'route_plans') return { push: (row) => recordOf(row, context), end: () => [] };
  const fold = createPlanFold(mapping.fill, context);
  const toReading = (folded: Folded): Reading =>
    'readError' in folded ? folded : itemOf({ ...folded.plan, options: folded.options }, folded.origin, context);
  return {
    push: (row) => fold.push(row).map(toReading),
    end: () => fold.end().map(toReading),
  };
}

/** Except for plans, one row is one item. */
function recordOf({ origin, cells }: FlatRow, context: ReaderContext): Reading[] {
  const { values, reasons } = readCells(FLAT_COLUMNS[context.kind].types, cells);
  if (Object.keys(cells).length === 0) return [];
  if (reasons.length > 0) return reasons.map((reason) => ({ readError: { origin, reason } }));
  return [itemOf(nestedFields({ ...context.mapping.fill, ...values }), origin, context)];
}
