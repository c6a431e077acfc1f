// JSON text that does not depend on the order in which fields came: the same content is the same text.
import type { Json } from './glossary.ts';

export const stableJson = (value: Json): string => JSON.stringify(sorted(value));

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // Without a prototype, so that a field named __proto__ is a field like any other.
  const result = Object.create(null) as { [key: string]: Json };
  for (const key of Object.keys(value).sort()) result[key] = sorted(value[key] as Json);
  return result;
}
