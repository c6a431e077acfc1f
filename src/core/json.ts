// Values of JSON, and what is done with any of them.

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The text of a scalar. `String` of an object from JSON fails if the object has a field `toString`. */
export const scalarText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? '[object]' : String(value);

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value with each leaf changed. `path` has the names that lead to it, without the places in lists. */
export function mapLeaves(
  value: unknown,
  change: (leaf: unknown, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change, path));
  if (!isJsonObject(value)) return change(value, path);
  const entries = Object.entries(value).map(([name, inner]) => [name, mapLeaves(inner, change, [...path, name])]);
  return Object.fromEntries(entries);
}
