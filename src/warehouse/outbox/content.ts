// The last valid content that the ERP offered of each plan, for comparison with what the service has. Unlike the content to
// send, it is kept after the confirmation, so personal values are stored as the policies of the warehouse say.
import type { Knex } from 'knex';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Transaction } from '../engine.ts';
import { controlTable, instant, integer, json, type RowOf, text } from '../schema/table.ts';
import { type EntryKey, keyOf } from './entry.ts';
import type { Period } from './queries.ts';

export const pushContent = controlTable({
  name: 'push_content',
  meaning: 'What the ERP last offered of each pushed plan, for comparison with what the service has.',
  key: ['kind', 'external_code', 'code_use'],
  columns: {
    kind: text('Kind of the entry.'),
    external_code: text('Code of the entry.'),
    code_use: integer('Which use of the code this is, from 1.'),
    stops: json('The stops in their order; personal values as route_point stores them.', {
      personal: true,
      required: true,
    }),
    plates: text('Licence plates that the ERP named, as route_plan stores them; null if it named none.'),
    starts_at: instant('Start of the plan.'),
    ends_at: instant('End of the plan.'),
    offered_at: instant('When the ERP offered this content.'),
    origin: text('Where the content came from, such as a file and its record.'),
  },
});

const COMPARED = ['name', 'order', 'latitude', 'longitude'];

export interface OfferedContent {
  entry: EntryKey;
  data: JsonObject | undefined;
  period?: Period | undefined;
  origin: string | null;
}

/** What the privacy policies make of personal values. */
interface StoredForm {
  stop(point: JsonObject): JsonObject;
  plate(plate: string): string | null;
}

/** Stores the content of the plans among the offers. No entry may occur twice. */
export async function storeContents(
  { store }: Pick<Transaction, 'store'>,
  offered: readonly OfferedContent[],
  asStored: StoredForm,
  at: string,
): Promise<void> {
  const rows = offered.flatMap(({ entry, data, period, origin }) => {
    const points = data?.route_points;
    if (data === undefined || !Array.isArray(points)) return [];
    const stops = points.filter(isJsonObject).map((point) => comparedFields(asStored.stop(point)));
    return {
      ...keyOf(entry),
      stops: JSON.stringify(stops),
      plates: platesOf(data, asStored),
      starts_at: period?.start ?? null,
      ends_at: period?.end ?? null,
      offered_at: at,
      origin,
    };
  });
  if (rows.length > 0) await store(pushContent, rows);
}

/** The licence plates that a plan names, as route_plan stores them; null if it names none. */
export function platesOf(data: JsonObject, { plate }: Pick<StoredForm, 'plate'>): string | null {
  const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
  const entities = listOf(data.entity).filter(isJsonObject);
  const plates = [data.vehicle_plate, ...listOf(data.vehicle_plates), ...entities.map((each) => each.vehicle_plate)]
    .filter((named) => typeof named === 'string' && named !== '')
    .flatMap((named) => plate(named as string) ?? []);
  return plates.length === 0 ? null : [...new Set(plates)].join(', ');
}

/** The other fields may hold anything. */
const comparedFields = (point: JsonObject): JsonObject =>
  Object.fromEntries(COMPARED.map((field) => [field, point[field] ?? null]));

export async function contentOf(sql: Knex, entry: EntryKey) {
  const row: RowOf<typeof pushContent> | undefined = await sql(pushContent.name).where(keyOf(entry)).first();
  if (row === undefined) return null;
  const { plates, starts_at, ends_at, offered_at, origin } = row;
  return { stops: JSON.parse(row.stops) as JsonObject[], plates, starts_at, ends_at, offered_at, origin };
}
