// Maps the records of a load to rows; every record becomes either a row or an invalid record.

import { yieldToEventLoop } from '../../../core/event-loop.ts';
import type { JsonObject } from '../../../core/json.ts';
import { checkRecord } from '../../../fleet/record-check.ts';
import { integer } from '../../../fleet/wire.ts';
import type { InvalidRecord } from '../../../warehouse/control/quarantine.ts';
import type { Row, Scalar } from '../../../warehouse/engine.ts';
import { keyText } from '../../../warehouse/load/key-set.ts';
import { type RowMapping, rowMapping } from '../../../warehouse/load/row-mapping.ts';
import type { Privacy } from '../../../warehouse/privacy/privacy.ts';
import { recordColumns, type Table } from '../../../warehouse/schema/table.ts';
import { type CompiledTable, compileTable } from './compile-table.ts';
import type { Load, Mapped } from './types.ts';
import { wireSchema } from './wire-schema.ts';

/** Records that are mapped before the event loop gets a turn. */
const RECORDS_PER_TURN = 2_000;

/** The two mappings of each table: the fast compiled one for most records, the generic one for every other form. */
const mappings = new WeakMap<Table, { compiled: CompiledTable; generic: RowMapping }>();

function mappingsOf(table: Table) {
  const made = mappings.get(table) ?? { compiled: compileTable(table), generic: rowMapping(table) };
  mappings.set(table, made);
  return made;
}

export async function mapRecords({ table, endpoint, records, rejected = [] }: Load, privacy: Privacy): Promise<Mapped> {
  const { compiled, generic } = mappingsOf(table);
  const filter = privacy.filter(table);
  const rows: Row[] = [];
  const invalid: InvalidRecord[] = [];
  const invalidKeys: (Row | undefined)[] = [];
  const addInvalid = (raw: unknown, reason: string, isPart: boolean): void => {
    const record = filter.record(raw);
    const key = readableKey(table, record);
    invalidKeys.push(key);
    invalid.push({ table, key: key === undefined ? null : keyText(key), reason, isPart, record });
  };
  for (const { record, reason } of rejected) addInvalid(record, reason, true);
  for (let index = 0; index < records.length; index++) {
    if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await yieldToEventLoop();
    const raw = records[index];
    const row = compiled(raw);
    if (row !== undefined) {
      rows.push(filter.row(row));
      continue;
    }
    const checked = checkRecord(wireSchema(table, endpoint), raw);
    if (!checked.ok) {
      addInvalid(raw, checked.reason, checked.isPart ?? false);
      continue;
    }
    const mapped = generic(checked.record);
    if ('row' in mapped) rows.push(filter.row(mapped.row));
    else addInvalid(raw, mapped.invalid, false);
  }
  return { rows, invalid, invalidKeys };
}

/** The key of an invalid record as its row would have it; undefined if it cannot be read. */
function readableKey(table: Table, record: unknown): Scalar[] | undefined {
  const columns = recordColumns(table);
  const key = table.key.map((name) => {
    const column = columns.find((each) => each.name === name);
    const value = column?.from.reduce<unknown>(
      (inner, step) => (inner as JsonObject | null | undefined)?.[step],
      record,
    );
    return column?.type === 'integer' ? integer.safeParse(value).data : value;
  });
  const isReadable = key.every((value) => typeof value === 'string' || typeof value === 'number');
  return isReadable ? (key as Scalar[]) : undefined;
}
