// Applies the privacy policies: to each column, and to the same field in `extra` and in quarantined records. Document
// numbers in other fields are found by the names of those fields.
import { createHmac } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { Policy } from '../../core/privacy-policy.ts';
import { stableJson } from '../../core/text/stable-json.ts';
import type { Row, Scalar } from '../engine.ts';
import { tables } from '../schema/catalog.ts';
import { type Column, recordColumns, type Table } from '../schema/table.ts';

export interface PrivacyFilter {
  row(row: Row): Row;
  record(record: unknown): unknown;
  /** The text of `extra`. */
  extra(text: string): string | null;
}

const isKey = (table: Table, column: string): boolean => table.key.includes(column);

/** The policies that a column supports: a digest and a mask are text, and a key cannot be masked or dropped. */
export function allowedPolicies(table: Table, { name, type }: Column): Policy[] {
  if (isKey(table, name)) return ['keep', 'hash'];
  return type === 'text' ? ['keep', 'mask', 'hash', 'drop'] : ['keep', 'drop'];
}

/** The personal columns of the service's records, by `table.column`. */
export const personalColumns: ReadonlyMap<string, { table: Table; column: Column }> = new Map(
  tables
    .filter(({ kind }) => kind === 'base')
    .flatMap((table) =>
      recordColumns(table)
        .filter(({ personal }) => personal)
        .map((column) => [`${table.name}.${column.name}`, { table, column }]),
    ),
);

/** Field names of document numbers outside the columns, and the column whose policy applies to them. */
const DOCUMENTS: readonly { word: RegExp; like: string }[] = [
  { word: /^cpfs?$/, like: 'driver.cpf' },
  { word: /^rgs?$/, like: 'driver.rg' },
  { word: /^cnhs?$/, like: 'driver.cnh_number' },
];
/** True if the policy of this column also applies to fields outside the columns. */
export const isDocument = (column: string): boolean => DOCUMENTS.some(({ like }) => like === column);

/** The field describes a document, but is not its number. */
const ABOUT = /^(?:category|date|first|id|expiration)$/;
/** Quick check, so that a text is parsed, or a name split, only if necessary. It must find every name that `wordsOf` splits. */
const MAY_HOLD_DOCUMENT = /cpf|cnh|rg/i;

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/);

export type Privacy = ReturnType<typeof createPrivacy>;

/** `policies` are by `table.column`. */
export function createPrivacy(policies: Readonly<Record<string, Policy>>, secret: string) {
  const digest = (text: string): string =>
    createHmac('sha256', secret).update(text).digest('hex').slice(0, DIGEST_LENGTH);
  const filters = new Map<Table, PrivacyFilter>();
  const policyOf = (table: Table, column: string): Policy => policies[`${table.name}.${column}`] ?? 'keep';
  const documentPolicy = (name: string): Policy => {
    if (!MAY_HOLD_DOCUMENT.test(name)) return 'keep';
    const words = wordsOf(name);
    if (words.some((word) => ABOUT.test(word))) return 'keep';
    const like = DOCUMENTS.find((each) => words.some((word) => each.word.test(word)))?.like;
    return like === undefined ? 'keep' : (policies[like] ?? 'keep');
  };

  /** Undefined if nothing may be stored. A key is never a mask, and must be stored. */
  function applied(policy: Policy, value: Json, isKey = false): Json | undefined {
    if (policy === 'keep' || value === null || value === '') return value;
    if (policy === 'drop') return undefined;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (policy === 'mask') return masked(text);
    // The digest of a mask would make one person of many. The next read brings the value.
    return IS_MASK.test(text) && !isKey ? undefined : hashed(text, digest);
  }

  function createFilter(table: Table): PrivacyFilter {
    const columns = recordColumns(table);
    const filtered = columns.flatMap((column, position) => {
      const policy = policyOf(table, column.name);
      return policy === 'keep' ? [] : [{ column, position, policy, isKey: isKey(table, column.name) }];
    });
    const paths = filtered.flatMap(({ column: { from, alias }, policy, isKey }) =>
      [from, ...(alias === undefined ? [] : [alias])].map((path) => ({ path, policy, isKey })),
    );
    const clean = (record: JsonObject): JsonObject => {
      for (const { path, policy, isKey } of paths) changeAt(record, path, (value) => applied(policy, value, isKey));
      return walked(record, documentPolicy, applied);
    };
    const filter: PrivacyFilter = {
      row(row) {
        const extra = row[columns.length];
        const cleaned = typeof extra === 'string' ? filter.extra(extra) : null;
        if (filtered.length === 0 && cleaned === (extra ?? null)) return row;
        const stored: Scalar[] = [...row];
        for (const { position, policy, isKey } of filtered) {
          stored[position] = (applied(policy, stored[position] ?? null, isKey) ?? null) as Scalar;
        }
        stored[columns.length] = cleaned;
        return stored;
      },
      record: (record) => (isJsonObject(record) ? clean(structuredClone(record)) : record),
      extra(text) {
        const names = paths.some(({ path }) => text.includes(`"${path.at(-1)}"`));
        if (!names && !MAY_HOLD_DOCUMENT.test(text)) return text;
        const rest = clean(JSON.parse(text) as JsonObject);
        return Object.keys(rest).length === 0 ? null : stableJson(rest);
      },
    };
    return filter;
  }

  return {
    policies,
    /** Distinguishes secrets without revealing them. */
    fingerprint: digest('fingerprint'),
    filter(table: Table): PrivacyFilter {
      const filter = filters.get(table) ?? createFilter(table);
      filters.set(table, filter);
      return filter;
    },
    /** The value as the column stores it. */
    asStored: (table: Table, column: string, value: string) =>
      (applied(policyOf(table, column), value, isKey(table, column)) ?? null) as string | null,
  };
}

const DIGEST_LENGTH = 32;
const DIGEST_PREFIX = 'h:';
const IS_DIGEST = /^h:[0-9a-f]{32}$/;

const DOCUMENT_NUMBER = /^\d{7,14}$/;

/** A document number has the same digest with any punctuation. A value that is already a digest is unchanged. */
function hashed(text: string, digest: (text: string) => string): string {
  if (IS_DIGEST.test(text)) return text;
  const digits = text.replace(/[.\-/ ]/g, '');
  return DIGEST_PREFIX + digest(DOCUMENT_NUMBER.test(digits) ? digits : text);
}

const SHOWN = 2;
const SHORTEST_SHOWN = 6;
/** Any text that `masked` returns. */
const IS_MASK = /^(?:\*{1,5}|\*{4,}..)$/s;

/** Shows the last two characters of a text that is long enough. Masking a masked text changes nothing. */
const masked = (text: string): string => {
  const shown = text.length < SHORTEST_SHOWN ? 0 : SHOWN;
  return '*'.repeat(text.length - shown) + text.slice(text.length - shown);
};

function changeAt(record: JsonObject, path: readonly string[], change: (value: Json) => Json | undefined) {
  let object: Json | undefined = record;
  for (const name of path.slice(0, -1)) object = isJsonObject(object) ? object[name] : undefined;
  const name = path.at(-1) ?? '';
  if (isJsonObject(object) && Object.hasOwn(object, name)) set(object, name, change(object[name] ?? null));
}

/** Applies to every value the policy of its name, or of its nearest ancestor with a policy. */
function walked(
  record: JsonObject,
  policyOf: (name: string) => Policy,
  apply: (policy: Policy, value: Json) => Json | undefined,
): JsonObject {
  const left: { inside: Json; policy: Policy }[] = [{ inside: record, policy: 'keep' }];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    const { inside, policy: outer } = each;
    // The names in a list are positions, which have no policy.
    for (const [name, value] of Object.entries(inside as JsonObject)) {
      const own = Array.isArray(inside) ? 'keep' : policyOf(name);
      const policy = own === 'keep' ? outer : own;
      if (typeof value === 'object' && value !== null) left.push({ inside: value, policy });
      else if (policy !== 'keep') {
        const stored = apply(policy, value);
        set(inside as JsonObject, name, Array.isArray(inside) ? (stored ?? null) : stored);
      }
    }
  }
  return record;
}

function set(object: JsonObject, name: string, value: Json | undefined): void {
  if (value === undefined) delete object[name];
  else if (object[name] !== value)
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}
