// JSON text that does not depend on the order in which fields came: the same content is the same text.
import type { Json } from '../glossary.ts';

export const stableJson = (value: Json): string => JSON.stringify(sorted(value, true));

/** The same, and a field that is null is like one that is absent. */
export const stableJsonWithoutNulls = (value: Json): string => JSON.stringify(sorted(value, false));

function sorted(value: Json, keepsNulls: boolean): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => sorted(part, keepsNulls));
  const names = Object.keys(value).sort();
  // A field named __proto__ is a field like any other, where there is no prototype; an object with one is made faster.
  const result = (names.includes('__proto__') ? Object.create(null) : {}) as { [name: string]: Json };
  for (const name of names) {
    const part = value[name] as Json;
    if (part !== null || keepsNulls) result[name] = sorted(part, keepsNulls);
  }
  return result;
}
