// Maps the records of a load to rows; every record becomes either a row or an invalid record.

import { yieldToEventLoop } from '../../../core/event-loop.ts';
import type { JsonObject } from '../../../core/glossary.ts';
import { checkRecord } from '../../../fleet/record-check.ts';
import type { InvalidRecord } from '../../../warehouse/control/quarantine.ts';
import type { Row, Scalar } from '../../../warehouse/engine.ts';
import { keyText } from '../../../warehouse/load/key-set.ts';
import { type RowMapping, rowMapping } from '../../../warehouse/load/row-mapping.ts';
import type { Privacy } from '../../../warehouse/privacy/privacy.ts';
import { recordColumns, type Table } from '../../../warehouse/schema/table.ts';
import { type CompiledTable, compileTable } from './compile-table.ts';
import type { Load, Mapped } from './types.ts';
import { wireSchema } from './wire-schema.ts';

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

export async function mapRecords(
  { table, endpoint, records, refused = [] }: Load,
  privacy: Privacy,
): Promise<Mapped> {
  const { compiled, generic } = waysOf(table);
  const guard = privacy.filter(table);
  const rows: Row[] = [];
  const invalid: InvalidRecord[] = [];
  const invalidKeys: (Row | undefined)[] = [];
  const addInvalid = (raw: unknown, reason: string, isPart: boolean): void => {
    const record = guard.record(raw);
    const key = readableKey(table, record);
    invalidKeys.push(key);
    invalid.push({ table, key: key === undefined ? null : keyText(key), reason, isPart, record });
  };
  for (const { record, reason } of refused) addInvalid(record, reason, true);
  for (let index = 0; index < records.length; index++) {
    if (index % TURN === TURN - 1) await yieldToEventLoop();
    const raw = records[index];
    const row = compiled(raw);
    if (row !== undefined) {
      rows.push(guard.row(row));
      continue;
    }
    const checked = checkRecord(wireSchema(table, endpoint), raw);
    if (!checked.ok) {
      addInvalid(raw, checked.reason, checked.isPart ?? false);
      continue;
    }
    const mapped = generic(checked.record);
    if ('row' in mapped) rows.push(guard.row(mapped.row));
    else addInvalid(raw, mapped.invalid, false);
  }
  return { table, rows, invalid, invalidKeys };
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
