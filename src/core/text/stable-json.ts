// JSON text with sorted keys: equal content gives equal text, whatever the order of the fields.
import type { Json } from '../json.ts';

export const stableJson = (value: Json): string => JSON.stringify(sorted(value, true));

/** The same, with null fields left out. */
export const stableJsonWithoutNulls = (value: Json): string => JSON.stringify(sorted(value, false));

function sorted(value: Json, keepsNulls: boolean): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => sorted(part, keepsNulls));
  const names = Object.keys(value).sort();
  // Without a prototype, a field named __proto__ is an ordinary field. Objects with a prototype are faster to create.
  const result = (names.includes('__proto__') ? Object.create(null) : {}) as { [name: string]: Json };
  for (const name of names) {
    const part = value[name] as Json;
    if (part !== null || keepsNulls) result[name] = sorted(part, keepsNulls);
  }
  return result;
}
