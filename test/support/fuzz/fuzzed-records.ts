// Records as no service should send them: every column of a table with a value that fits, fits in another form, or
// does not fit at all, and fields nobody knows. Each record carries a number of its own, so that it can be found again
// in a row or in the quarantine.
import fc from 'fast-check';
import { isJsonObject } from '../../../src/core/json.ts';
import { type ColumnType, recordColumns, type Table } from '../../../src/warehouse/schema/table.ts';

export type Fields = Record<string, unknown>;

/** The field that carries the number; no column holds it. */
export const SERIAL = 'fuzz_serial';

/** Texts that are dangerous somewhere: SQL, formulas, HTML, paths, prototypes, characters that UTF-8 or a database cannot hold. */
export const NASTY_TEXTS = [
  "'; drop table vehicle; --",
  '" or ""="',
  "\\'; select pg_sleep(9); --",
  '$1 ? :name ?? $$ {{x}}',
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(A1)',
  '\t=1+1',
  '\r=1+1',
  '=HYPERLINK("http://x","y")',
  "=cmd|' /C calc'!A0",
  '<script>alert(1)</script>',
  '../../../etc/passwd',
  '/etc/passwd',
  'C:\\con\\nul',
  'line\nbreak\r\nand\ttab',
  '"quoted, with ""commas"";and\';\'',
  '\u202Eright to left\u200B\uFEFF',
  'ção Ωλ 漢字 🚚👩‍👧',
  '\u0001\u001f\u007f',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  '0x10',
  '\\u0000',
  '\\',
  '%s%n%00',
  ' ',
] as const;

/** Texts that no warehouse can store. */
export const UNSTORABLE = ['nul \0 inside', '\ud800', 'a\udfffb'];

/** Stands in JSON without quotes: numbers that JSON.stringify would not write. */
export const raw = (digits: string): string => `@@${digits}@@`;
export const jsonText = (value: unknown): string => JSON.stringify(value).replace(/"@@([^@"]*)@@"/g, '$1');

const LONG_INTEGERS = ['9007199254740993', '-9007199254740993', '9223372036854775807'];
const RAW_NUMBERS = [
  ...LONG_INTEGERS,
  '9223372036854775808',
  '123456789012345678901234567890',
  '1e400',
  '-1e400',
  '1e-400',
  '1E5',
  '-0',
  '0.1',
].map(raw);

const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 3, arbitrary: fc.constantFrom(...NASTY_TEXTS) },
);
export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>('', null, true, [], {}, 1.5, 'x'.repeat(600), ...RAW_NUMBERS, ...UNSTORABLE),
  anyText,
);

const dates = fc.date({
  min: new Date('1999-01-01'),
  max: new Date('2100-01-01'),
  noInvalidDate: true,
});
const instants = fc
  .tuple(dates, fc.constantFrom('Z', '456Z', '+00:00', '-03:00', '+0530', ' Z'))
  .map(([at, zone]) => at.toISOString().replace('Z', zone));

export const FITTING: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  integer: fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.integer().map(String),
    fc.constantFrom(...LONG_INTEGERS.map(raw)),
  ),
  real: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.integer().map((n) => `${n}.25`),
  ),
  text: fc.oneof(anyText, fc.integer()),
  boolean: fc.constantFrom(true, false, 1, 0, '1', '0', 'true', 'false', ''),
  instant: instants,
  date: dates.map((at) => at.toISOString().slice(0, 10)),
  json: fc.jsonValue({ maxDepth: 2 }),
};

const fieldOf = (type: ColumnType): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 100, arbitrary: FITTING[type] },
    { weight: 25, arbitrary: fc.constant(undefined) },
    { weight: 10, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: odd },
  );

/** A field that no declaration knows, prototypes among them. */
export const unknownField = fc.tuple(
  fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'extra', '_run_id', 'rowid', 'a"b', 'a.b'),
  ),
  fc.oneof(odd, fc.jsonValue({ maxDepth: 3 })),
);
const unknownFields = fc.array(unknownField, { maxLength: 2 });

/** Forms of an id: most fit; the others keep the record out of the table. */
const idForms = fc.oneof(
  { weight: 30, arbitrary: fc.constant((id: number): unknown => id) },
  { weight: 3, arbitrary: fc.constant((id: number): unknown => String(id)) },
  { weight: 1, arbitrary: fc.constant((id: number): unknown => -id) },
  { weight: 1, arbitrary: fc.constant((id: number): unknown => raw(`9${String(id).padStart(17, '0')}`)) },
  { weight: 1, arbitrary: odd.map((value) => () => (mayBeId(value) ? 'no id' : value)) },
);

/** Two records must not have one id by chance. */
const mayBeId = (value: unknown): boolean =>
  typeof value === 'number' || /^(?:@@|\s*[+-]?\d)/.test(typeof value === 'string' ? value : '');

export interface DraftRecord {
  fields: readonly (readonly [path: readonly string[], value: unknown])[];
  unknown: readonly (readonly [string, unknown])[];
  idForm: (id: number) => unknown;
}

/** The fields of a record of the table, except its number; columns that a job adds are left out. */
export function draftOf(table: Table): fc.Arbitrary<DraftRecord | { other: unknown }> {
  const columns = recordColumns(table).filter(({ name, added }) => !added && name !== 'id');
  const draft = fc.record({
    fields: fc
      .tuple(...columns.map(({ type }) => fieldOf(type)))
      .map((values) => columns.map(({ from }, at) => [from, values[at]] as const)),
    unknown: unknownFields,
    idForm: idForms,
  });
  return fc.oneof(
    { weight: 60, arbitrary: draft },
    // No record at all.
    { weight: 1, arbitrary: fc.constantFrom(null, 7, 'text', true, []).map((other) => ({ other })) },
  );
}

/** The record with its number; `own` are fields that have to be as they are. */
export function recordOf(draft: DraftRecord | { other: unknown }, serial: number, own: Fields = {}): unknown {
  if ('other' in draft) return draft.other;
  const record: Fields = { id: draft.idForm(serial) };
  for (const [path, value] of draft.fields) place(record, path, value);
  // In every second record also inside the objects that are declared.
  const inside = serial % 2 === 0 ? draft.unknown : [];
  const entries = Object.entries(record).map(([name, value]) => [
    name,
    isJsonObject(value) ? added(value, inside) : value,
  ]);
  return { ...added(Object.fromEntries(entries), draft.unknown), ...own, [SERIAL]: serial };
}

/** By entries, since an assignment to __proto__ makes no field. */
const added = (record: Fields, unknown: DraftRecord['unknown']): Fields =>
  Object.fromEntries([...Object.entries(record), ...unknown.filter(([name]) => !Object.hasOwn(record, name))]);

function place(record: Fields, path: readonly string[], value: unknown): void {
  if (value === undefined) return;
  let at = record;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Fields;
  }
  at[path.at(-1) as string] = value;
}
