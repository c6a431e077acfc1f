// Checks the values of a file against the schema. The result is a configuration, or all issues. A text from a reference
// becomes a number or a boolean only if the schema expects one, so a password of digits stays text.
import type { z } from 'zod';
import { type Path, type SchemaPlace, schemaPlace, valueAt } from '../core/schema-place.ts';
import { suggest } from '../core/text/near-word.ts';
import { allowedWords, parseWithMessages, singleIssues } from '../core/text/zod-words.ts';
import type { OffsetIssue } from './faults.ts';
import { type Place, placeKey, type ValueTree } from './yaml/value-tree.ts';

export type Checked<T> = { config: T; issues: [] } | { config: undefined; issues: OffsetIssue[] };

type Issue = z.core.$ZodIssue;

export function checkTree<T>(schema: z.ZodType<T>, tree: ValueTree): Checked<T> {
  // Each round converts at least one text, and no text twice, so the loop ends.
  for (;;) {
    const result = parseWithMessages(schema, tree.value);
    if (result.success) return { config: result.data, issues: [] };
    const found = result.error.issues;
    if (convertReferences(found, tree)) continue;
    return {
      config: undefined,
      issues: deduplicated(singleIssues(found).flatMap((issue) => offsetIssues(issue, schema, tree))),
    };
  }
}

/** The configuration without its invalid settings; undefined if the rest is not usable. */
export function checkTolerantly<T>(schema: z.ZodType<T>, tree: ValueTree): T | undefined {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = schema.safeParse(tree.value);
    if (result.success) return result.data;
    // All paths are collected before the first removal: a path listed twice must not remove its section too.
    const invalid = result.error.issues.flatMap((issue) => invalidPaths(issue, tree.value));
    for (const path of invalid) remove(tree.value, path);
  }
  return undefined;
}

/** A removal may reveal further issues, which the next round removes. */
const MAX_ROUNDS = 8;

function invalidPaths(issue: Issue, root: unknown): Path[] {
  const path = pathOf(issue, root);
  const wrong = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
  // If a required key is missing, its section is removed.
  return wrong.map((each) => (valueAt(root, each) === undefined ? each.slice(0, -1) : each));
}

function remove(root: unknown, path: Path): void {
  const parent = valueAt(root, path.slice(0, -1)) as Record<string | number, unknown> | undefined;
  if (parent !== undefined) delete parent[path.at(-1) ?? ''];
}

/** A rule between two keys is reported at `orAt` if the file does not set the first key. */
function pathOf(issue: Issue, root: unknown): Path {
  const path = issue.path as Path;
  const orAt = issue.code === 'custom' ? (issue.params?.orAt as Path | undefined) : undefined;
  return orAt === undefined || valueAt(root, path) !== undefined ? path : orAt;
}

/** Several defaults may break the same rule at one place. */
const deduplicated = (issues: readonly OffsetIssue[]): OffsetIssue[] => [
  ...new Map(issues.map((issue) => [`${issue.offset} ${issue.message}`, issue])).values(),
];

const CONVERTIBLE = ['number', 'boolean'] as const;

/** Converts texts that came from references to the type the schema expects; true if any was converted. */
function convertReferences(issues: readonly Issue[], tree: ValueTree): boolean {
  let converted = false;
  for (const { path, wanted } of issues.flatMap((issue) => wantedKinds(issue))) {
    const text = valueAt(tree.value, path);
    const place = tree.places.get(placeKey(path));
    if (typeof text !== 'string' || place === undefined || place.referenced.length === 0) continue;
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
  const parent = schemaPlace(schema, path.slice(0, -1), tree.value);
  if (issue.code === 'unrecognized_keys') {
    const offset = place?.key ?? offsetOf(path, tree.places);
    const hint = retiredHint(path) ?? suggest(String(path.at(-1)), parent.keys ?? []);
    return [{ offset, path, message, hint }];
  }
  if (place?.broken) return [];
  if (issue.code === 'invalid_key') {
    return [{ offset: place?.key ?? 0, path, message, hint: parent.description }];
  }
  const hint = hintOf(issue, valueAt(tree.value, path), schemaPlace(schema, path, tree.value));
  return [{ offset: offsetOf(path, tree.places), path, message, hint }];
}

/** Offset of the value; if there is none, of the key of the nearest enclosing map. */
export function offsetOf(path: Path, places: ReadonlyMap<string, Place>): number {
  const exact = places.get(placeKey(path));
  if (exact !== undefined) return exact.value;
  for (let length = path.length - 1; length >= 0; length--) {
    const around = places.get(placeKey(path.slice(0, length)));
    if (around !== undefined) return around.key ?? around.value;
  }
  return 0;
}

/** For people who edit the file. `value` is the value at the issue; it selects the hint and is not shown. */
function hintOf(issue: Issue, value: unknown, place: SchemaPlace): string {
  const own = issue.code === 'custom' ? issue.params?.hint : undefined;
  if (typeof own === 'string') return own;
  const words = allowedWords(issue);
  if (words.length > 0) return suggest(typeof value === 'string' ? value : '', words);
  if (value === undefined) return `add it${place.description === undefined ? '' : `: ${place.description}`}`;
  if (value === null) return 'set a value, or remove the key to use the default';
  if (place.examples.length > 0) return `for example ${place.examples.map((each) => `\`${each}\``).join(', ')}`;
  return kindHint(issue, value) ?? place.description ?? 'see the example in config/roadbook.yaml';
}

function kindHint(issue: Issue, value: unknown): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.expected === 'object' || issue.expected === 'record') return 'write `key: value` lines below it';
  if (issue.expected === 'array') return 'write a list: `[one, two]`';
  if (issue.expected === 'string' && typeof value !== 'object') return 'put it in quotes';
  if (issue.expected === 'number' && typeof value === 'string') return 'write a number, without quotes';
  if (issue.expected === 'boolean') return 'write `true` or `false`, without quotes';
  return undefined;
}

/** A job option that was removed or renamed. A file that still has one is rejected, as for any unknown key, with the reason. */
interface RetiredOption {
  job: RegExp;
  key: string;
  hint: string;
}

const RETIRED_OPTIONS: readonly RetiredOption[] = [
  {
    job: /^push-/,
    key: 'check_before_send',
    hint: 'the option was removed: every item is looked up at the service before it is sent; delete the line',
  },
  {
    job: /^push-points-of-interest$/,
    key: 'match',
    hint: 'the option was removed: a point of interest is matched by its id if known, else by its title; delete the line',
  },
  { job: /^push-/, key: 'keep_refused', hint: 'the option was renamed: write `keep_rejected`' },
];

/** The hint for a removed or renamed option at `path`; undefined if there never was such an option. */
function retiredHint([section, job, key, ...deeper]: Path): string | undefined {
  if (section !== 'jobs' || deeper.length > 0) return undefined;
  return RETIRED_OPTIONS.find((option) => option.key === key && option.job.test(String(job)))?.hint;
}
