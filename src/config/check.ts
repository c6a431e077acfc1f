// The values of a file against the schema: a configuration, or everything that is wrong with them. A text
// from a reference becomes a number or a truth value only where the schema wants one, so a password of
// digits stays text.
import type { z } from 'zod';
import { type Path, schemaPlace, valueAt } from '../core/schema-place.ts';
import { suggest } from '../core/text/near-word.ts';
import { parseInWords, singleIssues } from '../core/text/zod-words.ts';
import type { OffsetIssue } from './faults.ts';
import { hintOf, retiredHint } from './issue-hints.ts';
import { type Place, placeKey, type ValueTree } from './yaml/value-tree.ts';

export type Checked<T> = { config: T; issues: [] } | { config: undefined; issues: OffsetIssue[] };

type Issue = z.core.$ZodIssue;

export function checkTree<T>(schema: z.ZodType<T>, tree: ValueTree): Checked<T> {
  // Each turn turns at least one text into something else, and no text twice.
  for (;;) {
    const result = parseInWords(schema, tree.value);
    if (result.success) return { config: result.data, issues: [] };
    const found = result.error.issues;
    if (convertReferences(found, tree)) continue;
    return {
      config: undefined,
      issues: distinct(singleIssues(found).flatMap((issue) => offsetIssues(issue, schema, tree))),
    };
  }
}

/** The configuration without what is wrong in it; undefined where that leaves nothing that can be used. */
export function checkTolerantly<T>(schema: z.ZodType<T>, tree: ValueTree): T | undefined {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const result = schema.safeParse(tree.value);
    if (result.success) return result.data;
    // All are found before the first goes: what is named twice must not take its section along.
    const faulty = result.error.issues.flatMap((issue) => faultyPaths(issue, tree.value));
    for (const path of faulty) remove(tree.value, path);
  }
  return undefined;
}

/** What one removal uncovers, the next takes away. */
const MOST_ROUNDS = 8;

function faultyPaths(issue: Issue, root: unknown): Path[] {
  const path = pathOf(issue, root);
  const wrong = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
  // Where a key is missing, what lacks it goes.
  return wrong.map((each) => (valueAt(root, each) === undefined ? each.slice(0, -1) : each));
}

function remove(root: unknown, path: Path): void {
  const parent = valueAt(root, path.slice(0, -1)) as Record<string | number, unknown> | undefined;
  if (parent !== undefined) delete parent[path.at(-1) ?? ''];
}

/** A rule between two keys is broken at the one it names as `orAt` where the other is left at its default. */
function pathOf(issue: Issue, root: unknown): Path {
  const path = issue.path as Path;
  const orAt = issue.code === 'custom' ? (issue.params?.orAt as Path | undefined) : undefined;
  return orAt === undefined || valueAt(root, path) !== undefined ? path : orAt;
}

/** Several defaults may break a rule at one place. */
const distinct = (issues: readonly OffsetIssue[]): OffsetIssue[] => [
  ...new Map(issues.map((issue) => [`${issue.offset} ${issue.message}`, issue])).values(),
];

const CONVERTIBLE = ['number', 'boolean'] as const;

/** True where a text that came through a reference was turned into what the schema wants there. */
function convertReferences(issues: readonly Issue[], tree: ValueTree): boolean {
  let converted = false;
  for (const { path, wanted } of issues.flatMap((issue) => wantedKinds(issue))) {
    const text = valueAt(tree.value, path);
    const place = tree.places.get(placeKey(path));
    if (typeof text !== 'string' || place === undefined || place.pieces.length === 0) continue;
    const value = wanted === 'boolean' ? asBoolean(text) : asNumber(text);
    if (value === undefined) continue;
    const parent = valueAt(tree.value, path.slice(0, -1)) as Record<string | number, unknown>;
    parent[path.at(-1) ?? ''] = value;
    converted = true;
  }
  return converted;
}

function wantedKinds(issue: Issue, base: Path = []): { path: Path; wanted: (typeof CONVERTIBLE)[number] }[] {
  const path = [...base, ...(issue.path as Path)];
  if (issue.code === 'invalid_union') {
    return issue.errors.flatMap((branch) => branch.flatMap((inner) => wantedKinds(inner, path)));
  }
  if (issue.code !== 'invalid_type') return [];
  return CONVERTIBLE.filter((kind) => kind === issue.expected).map((wanted) => ({ path, wanted }));
}

const asBoolean = (text: string): boolean | undefined =>
  /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined;

const asNumber = (text: string): number | undefined =>
  /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;

function offsetIssues(issue: Issue, schema: z.ZodType, tree: ValueTree): OffsetIssue[] {
  const path = pathOf(issue, tree.value);
  const { message } = issue;
  const place = tree.places.get(placeKey(path));
  const around = schemaPlace(schema, path.slice(0, -1), tree.value);
  if (issue.code === 'unrecognized_keys') {
    const offset = place?.key ?? offsetOf(path, tree.places);
    const hint = retiredHint(path) ?? suggest(String(path.at(-1)), around.keys ?? []);
    return [{ offset, path, message, hint }];
  }
  if (place?.broken) return [];
  if (issue.code === 'invalid_key') {
    return [{ offset: place?.key ?? 0, path, message, hint: around.description }];
  }
  const hint = hintOf(issue, valueAt(tree.value, path), schemaPlace(schema, path, tree.value));
  return [{ offset: offsetOf(path, tree.places), path, message, hint }];
}

/** Where the value stands; where there is none, the key of the nearest map around it. */
export function offsetOf(path: Path, places: ReadonlyMap<string, Place>): number {
  const exact = places.get(placeKey(path));
  if (exact !== undefined) return exact.value;
  for (let length = path.length - 1; length >= 0; length--) {
    const around = places.get(placeKey(path.slice(0, length)));
    if (around !== undefined) return around.key ?? around.value;
  }
  return 0;
}
