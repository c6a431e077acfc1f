// The stops of each plan as the ERP last offered them without a fault, for comparison with what the service has. Unlike the
// content to send, they are kept after the confirmation, so personal values are stored as the policies of the warehouse say.
import type { Knex } from 'knex';
import { isJsonObject, type JsonObject } from '../../core/glossary.ts';
import type { Transaction } from '../engine.ts';
import { controlTable, integer, json, text } from '../schema/table.ts';
import { type EntryKey, keyOf } from './entry.ts';

export const pushContent = controlTable({
  name: 'push_content',
  meaning: 'The stops of each pushed plan as the ERP last offered them, for comparison with those of the service.',
  key: ['kind', 'external_code', 'code_use'],
  columns: {
    kind: text('Kind of the entry.'),
    external_code: text('Code of the entry.'),
    code_use: integer('Which use of the code this is, from 1.'),
    stops: json('The stops in their order; personal values as route_point stores them.', {
      personal: true,
      required: true,
    }),
  },
});

const COMPARED = ['name', 'order', 'latitude', 'longitude'];

export interface OfferedContent {
  entry: EntryKey;
  data: JsonObject | undefined;
}

/** Stores the stops of the plans among the offers. `asStored` applies the policies. No entry may occur twice. */
export async function storeContents(
  { store }: Pick<Transaction, 'store'>,
  offered: readonly OfferedContent[],
  asStored: (stop: JsonObject) => JsonObject,
): Promise<void> {
  const rows = offered.flatMap(({ entry, data }) => {
    const points = data?.route_points;
    if (!Array.isArray(points)) return [];
    const stops = points.filter(isJsonObject).map((point) => comparedFields(asStored(point)));
    return { ...keyOf(entry), stops: JSON.stringify(stops) };
  });
  if (rows.length > 0) await store(pushContent, rows);
}

/** The other fields may hold anything. */
const comparedFields = (point: JsonObject): JsonObject =>
  Object.fromEntries(COMPARED.map((field) => [field, point[field] ?? null]));

export async function contentOf(sql: Knex, entry: EntryKey): Promise<{ stops: JsonObject[] } | null> {
  const row: { stops: string } | undefined = await sql(pushContent.name).where(keyOf(entry)).first('stops');
  return row === undefined ? null : { stops: JSON.parse(row.stops) };
}
