// The difference of two JSON documents as a list of changes: `[path, value]` sets a value, `[path]` removes it. A step of a
// path is a key, or the `name` or `run_id` of an item in a list. page/changes.js applies them.
import { isJsonObject } from '../../core/json.ts';

export type Path = readonly string[];
export type Change = readonly [path: Path] | readonly [path: Path, value: unknown];

type Fields = Readonly<Record<string, unknown>>;

/** Pure. Nothing if the documents are equal. */
export function changesBetween(before: unknown, after: unknown, path: Path = []): Change[] {
  if (isJsonObject(before) && isJsonObject(after)) return fieldChanges(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) {
    const [old, next] = [byIdentity(before), byIdentity(after)];
    if (old !== undefined && next !== undefined && keepsOrder(old, next)) return fieldChanges(old, next, path);
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [[path, after]];
}

function fieldChanges(before: Fields, after: Fields, path: Path): Change[] {
  const gone = Object.keys(before).filter((key) => !(key in after));
  return [
    ...gone.map((key): Change => [[...path, key]]),
    ...Object.entries(after).flatMap(([key, value]) =>
      key in before ? changesBetween(before[key], value, [...path, key]) : [[[...path, key], value] as const],
    ),
  ];
}

/** Undefined if an item has no identity, or two have the same. A Map-like object would sort keys that are numbers. */
function byIdentity(list: readonly unknown[]): Fields | undefined {
  const entries = list.map((item) => [isJsonObject(item) ? (item.name ?? item.run_id) : undefined, item] as const);
  const isNamed = entries.every(([key]) => typeof key === 'string' && !/^\d+$/.test(key));
  const fields = isNamed ? (Object.fromEntries(entries) as Fields) : undefined;
  return fields !== undefined && Object.keys(fields).length === list.length ? fields : undefined;
}

/** New items are appended, so the kept ones must come first and in the same order. */
function keepsOrder(before: Fields, after: Fields): boolean {
  const kept = Object.keys(before).filter((key) => key in after);
  return Object.keys(after)
    .slice(0, kept.length)
    .every((key, position) => key === kept[position]);
}
