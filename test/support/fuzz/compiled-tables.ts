// Records through both ways to a row: the compiled function of a table, and the wire schema with the generic mapping. A
// row of the first has to equal that of the second, value by value; a record that the first leaves alone is the second's.
import fc from 'fast-check';
import { loadJobs } from '../../../src/app/app.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { parseLossless } from '../../../src/core/text/lossless-json.ts';
import { checkRecord } from '../../../src/fleet/record-check.ts';
import { compileTable } from '../../../src/sync/pull/records/compile-table.ts';
import type { Load } from '../../../src/sync/pull/records/types.ts';
import { wireSchema } from '../../../src/sync/pull/records/wire-schema.ts';
import type { Row } from '../../../src/warehouse/engine.ts';
import { rowMapping } from '../../../src/warehouse/load/row-mapping.ts';
import { type ColumnType, recordColumns, type Table } from '../../../src/warehouse/schema/table.ts';
import { FITTING, type Fields, jsonText, odd, unknownField } from './fuzzed-records.ts';

type Form = Pick<Load, 'table' | 'endpoint'>;

/** Every table that records of the service go to, with the call that brings them. */
export async function recordForms(): Promise<Form[]> {
  const jobs = await loadJobs();
  const forms = jobs
    .flatMap(({ into = [] }) => into)
    .map(([endpoint, table]): Form => ({ table, endpoint: endpoint ?? undefined }))
    .filter(({ table }) => recordColumns(table).some(({ added }) => !added));
  return [...new Map(forms.map((form) => [form.table.name, form])).values()];
}

/** As the service usually writes it: the compiled way is for these. */
const USUAL: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  integer: fc.oneof(fc.nat(5), fc.maxSafeInteger()),
  real: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
  text: fc.oneof(fc.constantFrom('', 'same', 'x'.repeat(500)), fc.string({ unit: 'grapheme', maxLength: 12 })),
  boolean: fc.boolean(),
  instant: fc
    .tuple(
      fc.date({ min: new Date('0010-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }),
      fc.constantFrom('.123Z', 'Z', '.5Z', '-03:00', '+05:30'),
    )
    .map(([at, end]) => at.toISOString().slice(0, 19) + end),
  date: fc
    .date({ min: new Date('0010-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    .map((at) => at.toISOString().slice(0, 10)),
  json: fc.jsonValue({ maxDepth: 2 }),
};

/** Texts that nearly are an instant or a day. */
const nearlyDates = fc.constantFrom(
  '2026-02-29T10:00:00Z',
  '2024-02-29T10:00:00.000Z',
  '2026-04-31T10:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-10T24:00:00Z',
  '2026-01-10T23:60:00Z',
  '2026-01-10T23:59:60Z',
  '2026-01-10T23:59:5aZ',
  '2026-01-10T23:59:59.00aZ',
  '2026-01-10t23:59:59Z',
  '2026/01/10T23:59:59Z',
  '2026-01-10T23:59:59.123456Z',
  '0000-06-01T00:00:00Z',
  '0000-06-01',
  '0001-01-01T00:30:00+01:00',
  '9999-12-31T23:30:00-01:00',
  '2026-01-10',
  '2026-01-10T10:00',
);

const usual = (type: ColumnType): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 10, arbitrary: USUAL[type] }, { weight: 1, arbitrary: fc.constantFrom(undefined, null) });

/** Anything that may stand in place of a usual value. */
const unusual = fc.oneof(
  ...Object.values(FITTING),
  odd,
  fc.constantFrom<unknown>([], {}, null, undefined, 'x'.repeat(501)),
);

type Path = readonly string[];

/** Changes one place of a record. */
type Change = readonly [path: Path, value: unknown];

/**
 * A record of the table whose fields are usual but for a few: another value, at the field or at the object that holds it, or
 * unknown fields beside it.
 */
export function recordsOf(table: Table): fc.Arbitrary<unknown> {
  const columns = recordColumns(table);
  const paths = columns.flatMap(({ from, alias = [] }) => [from, alias]);
  const places = paths.flatMap((path) => path.map((_, depth) => path.slice(0, depth + 1)));
  const place = fc.constantFrom(...places);
  const dates = columns.flatMap(({ type, from }) => (type === 'instant' || type === 'date' ? [from] : []));
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.tuple(place, unusual),
    ...(dates.length === 0 ? [] : [fc.tuple(fc.constantFrom(...dates), nearlyDates)]),
    fc.tuple(place, unknownField).map(([path, [name, value]]): Change => [[...path.slice(0, -1), name], value]),
  );
  return fc
    .record({
      values: fc.tuple(...columns.map(({ type }) => usual(type))),
      repeats: fc.array(fc.boolean(), { minLength: columns.length, maxLength: columns.length }),
      changes: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(change, { maxLength: 3 })),
      isReversed: fc.boolean(),
    })
    .map(({ values, repeats, changes, isReversed }) => {
      const record: Fields = {};
      for (const [at, { from, alias }] of columns.entries()) {
        set(record, from, structuredClone(values[at]));
        if (alias !== undefined && repeats[at] === true) set(record, alias, values[at]);
      }
      // A copy, since a later change may reach into the value, and drafts share theirs.
      for (const [path, value] of changes) set(record, path, structuredClone(value));
      const entries = Object.entries(record);
      return Object.fromEntries(isReversed ? entries.reverse() : entries);
    });
}

/** By definition, since an assignment to __proto__ makes no field. */
function set(record: Fields, path: Path, value: unknown): void {
  let at = record;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(at, name)) at[name] = {};
    const inner = at[name];
    if (typeof inner !== 'object' || inner === null) return;
    at = inner as Fields;
  }
  const name = path.at(-1) as string;
  Object.defineProperty(at, name, { value, enumerable: true, writable: true, configurable: true });
}

export interface Compared {
  records: number;
  /** Of them, those that the compiled function took. */
  compiled: number;
}

/** Throws, with the smallest record it can find, where the two ways differ. */
export function compareWays({ table, endpoint }: Form, records: number, seed: number): Compared {
  const compiled = compileTable(table);
  const generic = rowMapping(table);
  const slow = (raw: unknown): Row | undefined => {
    const checked = checkRecord(wireSchema(table, endpoint), raw);
    if (!checked.ok) return undefined;
    const mapped = generic(checked.record as JsonObject);
    return 'row' in mapped ? mapped.row : undefined;
  };
  const counts = { records: 0, compiled: 0 };
  const same = fc.property(recordsOf(table), (draft) => {
    const text = jsonText(draft);
    const row = compiled(parseLossless(text));
    counts.records++;
    if (row === undefined) return;
    counts.compiled++;
    const expected = slow(parseLossless(text));
    // As text, because -0 is stored as 0.
    if (JSON.stringify(row) !== JSON.stringify(expected))
      throw new Error(`${table.name}: ${JSON.stringify(row)} instead of ${JSON.stringify(expected)}`);
  });
  fc.assert(same, { numRuns: records, seed });
  return counts;
}
