// From rows or JSON records to items. A header that does not fit is one fault and ends the reading; a record
// that does not fit is a fault and the others go on.
import { isJsonObject, type Json, type JsonObject } from '../../core/glossary.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { type ItemContext, itemOf, type Reading } from '../items/item.ts';
import { readCell } from './cell-values.ts';
import { type Cells, columnsInUse, type FlatColumnsInUse } from './flat-columns.ts';
import { createPlanFold, type FlatRow, type Folded, nestedFields } from './flat-rows.ts';
import type { ReadyMapping } from './mapping.ts';

export interface ReaderContext extends ItemContext {
  reuseCodes: boolean;
  mapping: ReadyMapping;
}

export interface TableRow {
  /** `row 7`, for messages. */
  place: string;
  cells: Cells;
}

export interface Table {
  header: readonly string[];
  rows: AsyncIterable<TableRow> | Iterable<TableRow>;
}

/** A table with one header: CSV, XLSX, SQL. `name` is that of the file or query. */
export async function* readTable(table: Table, name: string, context: ReaderContext): AsyncIterable<Reading> {
  const columns = columnsInUse(context.kind, context.mapping, table.header, { isTable: true });
  for (const reason of columns.faults) yield { fault: { origin: name, reason } };
  if (columns.faults.length > 0) return;
  const reader = flatReader(context);
  for await (const { place, cells } of table.rows) {
    yield* reader.push({ origin: `${name} ${place}`, cells: columns.pick(cells) });
  }
  yield* reader.end();
}

/** JSON records: canonical items, or flat rows where a mapping or the dotted names say so. */
export function* readRecords(
  records: readonly Json[],
  name: string,
  context: ReaderContext,
): Iterable<Reading> {
  const isFlat = !context.mapping.isEmpty || records.some(hasDottedName);
  const reader = flatReader(context);
  const known = new Map<string, FlatColumnsInUse>();
  for (const [i, record] of records.entries()) {
    const origin = `${name} record ${i + 1}`;
    if (!isJsonObject(record)) yield { fault: { origin, reason: 'is not an object' } };
    else if (!isFlat) yield itemOf(record, origin, context);
    else yield* readFlatRecord(record, origin, context, { reader, known });
  }
  yield* reader.end();
}

interface FlatReading {
  reader: FlatReader;
  known: Map<string, FlatColumnsInUse>;
}

function* readFlatRecord(
  record: JsonObject,
  origin: string,
  context: ReaderContext,
  flat: FlatReading,
): Iterable<Reading> {
  const header = Object.keys(record);
  const key = JSON.stringify(header);
  const columns =
    flat.known.get(key) ?? columnsInUse(context.kind, context.mapping, header, { isTable: false });
  flat.known.set(key, columns);
  if (columns.faults.length === 0) yield* flat.reader.push({ origin, cells: columns.pick(record) });
  else for (const reason of columns.faults) yield { fault: { origin, reason } };
}

const hasDottedName = (record: Json): boolean =>
  isJsonObject(record) && Object.keys(record).some((name) => name.includes('.'));

interface FlatReader {
  push(row: FlatRow): Iterable<Reading>;
  end(): Iterable<Reading>;
}

function flatReader(context: ReaderContext): FlatReader {
  const { kind, mapping } = context;
  if (kind !== 'route_plans') return { push: (row) => recordOf(row, context), end: () => [] };
  const fold = createPlanFold(mapping.fill, context);
  const toReading = (folded: Folded): Reading =>
    'fault' in folded ? folded : itemOf({ ...folded.plan, options: folded.options }, folded.origin, context);
  return {
    push: (row) => fold.push(row).map(toReading),
    end: () => fold.end().map(toReading),
  };
}

/** One row is one item for every kind but plans. */
function recordOf({ origin, cells }: FlatRow, context: ReaderContext): Reading[] {
  const { types } = FLAT_COLUMNS[context.kind];
  const values: JsonObject = {};
  const reasons: string[] = [];
  for (const [path, cell] of Object.entries(cells)) {
    const read = readCell(types[path] ?? 'text', cell);
    if ('value' in read) values[path] = read.value;
    else reasons.push(`${path} ${read.fault}`);
  }
  if (Object.keys(cells).length === 0) return [];
  if (reasons.length > 0) return reasons.map((reason) => ({ fault: { origin, reason } }));
  return [itemOf(nestedFields({ ...context.mapping.fill, ...values }), origin, context)];
}
