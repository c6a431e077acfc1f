// Selects the checklists whose answers must be read: those that are new, changed or back after they were missing, whose
// answers are not stored, or that are younger than `settle`. No other checklist is read again.
import { isDeepStrictEqual } from 'node:util';
import { chunks } from '../../../../core/chunks.ts';
import { isoInstant } from '../../../../core/time/clock.ts';
import type { Row, Scalar } from '../../../../warehouse/engine.ts';
import { recordColumns } from '../../../../warehouse/schema/table.ts';
import { checklist } from '../../../../warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../../warehouse/tables/checklist-answer.ts';
import { canBeAsked, type RecordId } from '../../records/record-id.ts';
import type { Load } from '../../records/types.ts';
import type { Source, WarehouseReader } from '../../types.ts';

export interface OpenChecklist {
  id: RecordId;
  signature: Scalar;
}

type Stored = Record<string, unknown>;

const COLUMNS = [...recordColumns(checklist).map(({ name }) => name), 'extra'];
/** Far below the number of values that any engine can bind in a statement. */
const IDS_PER_QUERY = 500;

export async function openChecklists(
  summaries: Load,
  { warehouse, readAt, map }: Source,
  settleMs: number,
): Promise<OpenChecklist[]> {
  const { rows } = await map(summaries);
  const settledBefore = isoInstant(Date.parse(readAt) - settleMs);
  const open: OpenChecklist[] = [];
  for (const part of chunks(rows, IDS_PER_QUERY)) {
    const ids = part.map((row) => cell(row, 'id') as RecordId);
    const loaded = await loadedBefore(ids, warehouse);
    for (const row of part) {
      const id = cell(row, 'id');
      const stored = loaded.get(String(id));
      const isDone = stored !== undefined && isSame(row, stored) && latestDate(row) < settledBefore;
      if (!isDone && canBeAsked(id)) open.push({ id, signature: cell(row, 'signature') });
    }
  }
  return open;
}

/** The stored checklists that are not missing and whose answers are stored, by identifier. */
async function loadedBefore(ids: RecordId[], warehouse: WarehouseReader): Promise<Map<string, Stored>> {
  return warehouse.read(async (sql) => {
    const rows: Stored[] = await sql(checklist.name).whereIn('id', ids).whereNull('_missing_since');
    const answered: Stored[] = await sql(checklistAnswer.name).whereIn('checklist_id', ids).distinct('checklist_id');
    const withAnswers = new Set(answered.map(({ checklist_id }) => String(checklist_id)));
    const complete = rows.filter(({ id, count_items }) => withAnswers.has(String(id)) || !Number(count_items));
    return new Map(complete.map((row) => [String(row.id), row]));
  });
}

const cell = (row: Row, name: string): Scalar => row[COLUMNS.indexOf(name)] ?? null;

/** When the checklist was filled in or when it arrived, whichever is later. Instants of one format sort as text. */
const latestDate = (row: Row): string =>
  ['date_executed', 'date_created']
    .map((name) => String(cell(row, name) ?? ''))
    .sort()
    .at(-1) ?? '';

const isSame = (row: Row, stored: Stored): boolean =>
  COLUMNS.every((name, position) =>
    name === 'extra'
      ? isDeepStrictEqual(parsed(row[position]), parsed(stored[name]))
      : plain(row[position]) === plain(stored[name]),
  );

/** An integer may be text in a row. */
const plain = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** A text that is not JSON, which no run has stored, differs from all JSON. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
