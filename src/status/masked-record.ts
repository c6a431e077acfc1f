// A record for display without people's data: only what a table declares as not personal is shown. A field that
// nobody has declared may be anything, so its value is not shown either, only what kind it is.
import type { Table } from '../warehouse/table.ts';

/** What stands in the place of a value that is not shown. */
const hidden = (value: unknown): string =>
  typeof value === 'string' ? `[hidden: text of ${value.length}]` : `[hidden: ${typeof value}]`;

export function maskedRecord(record: unknown, table: Table | undefined): unknown {
  const shown = new Set(
    (table?.columns ?? [])
      .filter(({ personal, type }) => !personal && type !== 'json')
      .flatMap(({ from, again }) => [from, again ?? from].map((path) => path.join('.'))),
  );
  return mask(record, [], shown);
}

/** The key of a record for display; hidden whole where a part of it may name a person. */
export function maskedKey(key: string | null, table: Table | undefined): string | null {
  const isHarmless = table?.key.every((name) =>
    table.columns.some((each) => each.name === name && !each.personal),
  );
  return key === null || isHarmless === true ? key : hidden(key);
}

function mask(value: unknown, path: readonly string[], shown: ReadonlySet<string>): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => mask(item, path, shown));
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, mask(inner, [...path, key], shown)]),
    );
  }
  return shown.has(path.join('.')) ? value : hidden(value);
}
