// Reads items from rows or JSON records. A wrong header ends the read with its issues. A record that cannot be read is a
// read error, and the read goes on with the next.
import { isJsonObject, type Json } from '../../core/json.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { identityOf, itemOf, type ParsedItem, withoutOtherCodes } from '../items/item.ts';
import type { FoundHeader, SourceContext, TablePlace } from '../source.ts';
import { isEmptyCell } from './cell-values.ts';
import { type Cells, columnMatcher, type FlatColumnsInUse, list } from './flat-columns.ts';
import {
  createPlanFold,
  type FlatRow,
  type Folded,
  isSkipped,
  nestedFields,
  placeOf,
  type RowFold,
  readRow,
} from './flat-rows.ts';
import { type Mapping, prepareMapping, type ReadyMapping } from './mapping.ts';
import type { FeedFormats, ValueFormats } from './written-values.ts';

export interface ReaderContext extends Pick<SourceContext, 'kind' | 'zone' | 'reuseCodes' | 'onHeader'> {
  mapping: ReadyMapping;
  /** How dates and numbers are written; default: only in unambiguous forms. */
  formats?: ValueFormats | undefined;
}

/** How the rows of a feed are read. */
export const readerOf = (
  { mapping, dates, decimal }: FeedFormats & { mapping: Mapping },
  { kind, zone, reuseCodes, onHeader }: SourceContext,
): ReaderContext => ({
  kind,
  zone,
  reuseCodes,
  mapping: prepareMapping(kind, mapping),
  formats: { dates, decimal },
  onHeader,
});

export interface TableRow {
  row: number;
  cells: Cells;
}

export interface Table {
  header: readonly string[];
  rows: AsyncIterable<TableRow> | Iterable<TableRow>;
  place?: TablePlace;
}

/** Far more than the fields of any kind. An unknown column costs a search for a similar name. */
const MOST_COLUMNS = 1_000;
const TOO_MANY_COLUMNS = `has more than ${MOST_COLUMNS} columns; remove those that are not needed`;

/** Different headers of records that are remembered and reported: all of them would fill the memory. */
const MOST_HEADERS = 100;

/** Reads a table with one header: CSV, XLSX, SQL. `name` is the name of the file or query. */
export async function* readTable(table: Table, name: string, context: ReaderContext): AsyncIterable<ParsedItem> {
  const { header, place } = table;
  if (header.length > MOST_COLUMNS) {
    yield { readError: { origin: name, reason: TOO_MANY_COLUMNS } };
    return;
  }
  const { pick, ...columns } = columnMatcher(context.kind, context.mapping, { isTable: true })(header);
  const found: FoundHeader = { name, header, place, rows: 0, ...columns };
  context.onHeader?.(found);
  for (const reason of columns.issues) yield { readError: { origin: name, reason } };
  if (columns.issues.length > 0) return;
  const reader = flatReader(name, context);
  const columnOf = columnNames(columns);
  for await (const { row, cells } of table.rows) {
    found.rows += 1;
    yield* reader.push({ origin: `${name} row ${row}`, row, cells: pick(cells), columnOf }, cells);
  }
  yield* reader.end();
}

/** Reads JSON records: flat rows if there is a mapping or a dotted name, otherwise canonical items. */
export function* readRecords(records: readonly Json[], name: string, context: ReaderContext): Iterable<ParsedItem> {
  const names = namesIn(records);
  if (names.size > MOST_COLUMNS) {
    yield { readError: { origin: name, reason: TOO_MANY_COLUMNS } };
    return;
  }
  const isFlat = !context.mapping.isEmpty || [...names].some((each) => each.includes('.'));
  const reader = flatReader(name, context);
  const match = columnMatcher(context.kind, context.mapping, { isTable: false });
  const known = new Map<string, FlatColumnsInUse & Required<Pick<FlatRow, 'columnOf'>> & { found: FoundHeader }>();
  for (const [i, record] of records.entries()) {
    const origin = `${name} record ${i + 1}`;
    if (!isJsonObject(record)) {
      yield* reader.push({ origin, row: i + 1, cells: {}, rowIssues: ['is not an object'] }, {});
    } else if (!isFlat) {
      yield inRow(itemOf(record, origin, context), i + 1);
    } else {
      const header = Object.keys(record);
      const key = JSON.stringify(header);
      let columns = known.get(key);
      if (columns === undefined) {
        const { pick, ...used } = match(header);
        const found: FoundHeader = { name, header, rows: 0, ...used };
        columns = { ...used, pick, found, columnOf: columnNames(used) };
        if (known.size < MOST_HEADERS) {
          context.onHeader?.(found);
          known.set(key, columns);
        }
      }
      const { issues, pick, reads, columnOf, found } = columns;
      found.rows += 1;
      const cells = pick(record);
      const rowIssues = issues.length === 0 && isLost(record, cells) ? [nothingRead(reads)] : issues;
      yield* reader.push({ origin, row: i + 1, cells, rowIssues, columnOf }, record);
    }
  }
  yield* reader.end();
}

/** Nothing of the record is read, although it has content. A row of a table may be a total or a note; a record is an item. */
const isLost = (record: Json, cells: Cells): boolean => Object.keys(cells).length === 0 && hasContent(record);

const nothingRead = (reads: FlatColumnsInUse['reads']): string =>
  `has content, but no value in a column that is read (${list(reads.flatMap(({ columns }) => columns))}); correct the mapping`;

/** Deeper values count as content: a search without end could overflow the stack. */
const MOST_LEVELS = 20;

const hasContent = (value: Json | undefined, level = 0): boolean =>
  typeof value === 'object' && value !== null && level < MOST_LEVELS
    ? Object.values(value).some((inner) => hasContent(inner, level + 1))
    : !isEmptyCell(value);

/** The different names of the records; not all of them if they are too many. */
function namesIn(records: readonly Json[]): Set<string> {
  const names = new Set<string>();
  for (const record of records) {
    if (isJsonObject(record)) for (const name of Object.keys(record)) names.add(name);
    if (names.size > MOST_COLUMNS) break;
  }
  return names;
}

/** The ERP's name of the column with a path. */
export function columnNames({ reads }: Pick<FoundHeader, 'reads'>): (path: string) => string {
  const names = new Map(reads.map(({ path, columns }) => [path, columns.join(' + ')]));
  return (path) => names.get(path) ?? path;
}

/** `cells` are those of the ERP. Rows without a value in a column that is read are skipped, unless all rows are such rows. */
function flatReader(name: string, context: ReaderContext) {
  const fold = context.kind === 'route_plans' ? planReader(context) : itemReader(context);
  let hasRows = false;
  let hasOthers = false;
  return {
    push(row: FlatRow, cells: Cells): ParsedItem[] {
      if (!isSkipped(row)) hasRows = true;
      else hasOthers ||= !Object.values(cells).every(isEmptyCell);
      return fold.push(row);
    },
    end(): ParsedItem[] {
      const reason = 'has content, but no row has a value in a column that is read; correct the mapping';
      return hasRows || !hasOthers ? fold.end() : [{ readError: { origin: name, reason } }];
    },
  };
}

const formatsOf = ({ formats, mapping }: ReaderContext): ValueFormats => ({ ...formats, byPath: mapping.formats });

function planReader(context: ReaderContext): RowFold<ParsedItem> {
  const { mapping, zone, reuseCodes } = context;
  const fold = createPlanFold(mapping.fill, { zone, reuseCodes, formats: formatsOf(context) });
  const toParsedItem = (folded: Folded): ParsedItem =>
    'readError' in folded
      ? folded
      : withRows(itemOf({ ...folded.plan, options: folded.options }, folded.origin, context), folded.rows);
  return {
    push: (row) => fold.push(row).map(toParsedItem),
    end: () => fold.end().map(toParsedItem),
  };
}

const withRows = (parsed: ParsedItem, rows: readonly number[]): ParsedItem =>
  'item' in parsed ? { item: { ...parsed.item, rows } } : inRow(parsed, rows[0]);

/** A read error with its row or record, if it has no place yet. */
const inRow = (parsed: ParsedItem, row: number | undefined): ParsedItem =>
  'item' in parsed || row === undefined ? parsed : { readError: { place: { row }, ...parsed.readError } };

/** Except for plans, one row is one item. */
function itemReader(context: ReaderContext): RowFold<ParsedItem> {
  const { types } = FLAT_COLUMNS[context.kind];
  const formats = formatsOf(context);
  return {
    push(row) {
      if (isSkipped(row)) return [];
      const { origin } = row;
      const { values, issues } = readRow(row, types, formats);
      // An issue without a path may be a misspelt name, so that a code that is absent may be in the row.
      const isUnread = (name: string): boolean =>
        issues.some(({ path }) => path === name || (path === undefined && !(name in values)));
      const fields = withoutOtherCodes(context.kind, { ...context.mapping.fill, ...values }, isUnread);
      const parsed = itemOf(nestedFields(fields), origin, context);
      if (issues.length === 0) return [withRows(parsed, [row.row ?? 0])];
      const known = 'item' in parsed ? identityOf(parsed.item) : {};
      return issues.map(({ path, reason }) => ({
        readError: { origin, reason, ...known, place: placeOf(row, path, types) },
      }));
    },
    end: () => [],
  };
}
