// Builds an item in canonical form, with the code by which the ERP knows it. Without a code no outcome could be reported, so
// a missing code is a read error. So is a code that the database could not store unchanged, or not index.
import { isJsonObject, type Json, type JsonObject, scalarText } from '../../core/json.ts';
import { stableJsonWithoutNulls } from '../../core/text/stable-json.ts';
import { isStorable } from '../../core/text/storable-text.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { FEED_KINDS, type FeedKind } from '../feed-kinds.ts';
import type { ErpItem, FileItem, ReadError, SourceContext } from '../source.ts';
import { canonicalData, canonicalOptions } from './canonical-form.ts';
import { LONGEST_KEY, TOO_LONG, UNSTORABLE } from './field-schemas.ts';
import { DATA_FIELDS } from './fields.ts';
import { localDay, momentMs } from './moments.ts';

/** What a feed gives in one place: an item, or why none could be read there. */
export type ParsedItem =
  | { item: ErpItem }
  /** `whole`: the whole file or answer cannot be read, or only with more time or memory than it may take. */
  | { readError: ReadError; whole?: 'unreadable' | 'too_large' };

/** The fields that may hold the code, in order of preference. The calls of points and agents have no `external_code`. */
const CODE_FIELDS: Readonly<Record<FeedKind, readonly string[]>> = {
  route_plans: ['external_code'],
  points_of_interest: ['external_code', 'title'],
  agents: ['external_code', 'company_registry', 'cpf'],
  itineraries: ['external_id'],
};

/** The field with the start of the period; other kinds have no start. */
const START_FIELDS: Readonly<Partial<Record<FeedKind, string>>> = {
  route_plans: 'date_time_start',
  itineraries: 'date_time_start_estimated',
};

const startOf = (kind: FeedKind, data: JsonObject): Json | undefined => data[START_FIELDS[kind] ?? ''];

/** The instant at which an item in canonical form starts; null if it has no start, or none that can be read. */
export function startInstant(kind: FeedKind, data: JsonObject): string | null {
  const ms = momentMs(startOf(kind, data));
  return ms === undefined ? null : isoInstant(ms);
}

/** Characters per item. An item is checked, compared and sent in one step, so a larger one would block the daemon. */
export const LARGEST_ITEM = 4 * 1024 * 1024;

/** Listed read errors per item; the first ones are enough to correct it. */
export const MOST_ITEM_ERRORS = 100;

export const TOO_LARGE = 'is larger than 4 MB; split it';

/** More take seconds to check, however short they are. */
const MOST_POINTS = 10_000;
/** Points, their items and entities together. */
const MOST_ENTRIES = 50_000;
const TOO_MANY_POINTS = `route_points: has more than ${MOST_POINTS.toLocaleString('en')} points, or more than ${MOST_ENTRIES.toLocaleString('en')} points, items and drivers; split the plan`;

export function itemOf(
  given: JsonObject,
  origin: string,
  { kind, zone }: Pick<SourceContext, 'kind' | 'zone'>,
): ParsedItem {
  const isPlan = kind === 'route_plans';
  const { fields, twice } = isJsonObject(given.data) ? unwrapped(kind, given, given.data) : { fields: given };
  const { options = null, ...planFields } = fields;
  const hasTooMany = isPlan && hasTooManyPoints(fields);
  if (hasTooMany) planFields.route_points = planFields.entity = [];
  const data = canonicalData(kind, isPlan ? planFields : fields, zone);
  const names = CODE_FIELDS[kind];
  // The outbox, the call and the read-back must use the same text.
  for (const name of names) if (typeof data[name] === 'string') data[name] = data[name].trim();
  const externalCode = names.map((name) => codeText(data[name])).find((code) => code !== '');
  if (externalCode === undefined) return { readError: { origin, reason: `${names.join(' or ')}: is missing` } };
  const issue = codeIssue(externalCode);
  if (issue !== undefined) return { readError: { origin, reason: `${names.join(' or ')}: ${issue}` } };
  if (kind === 'points_of_interest' || kind === 'agents') delete data.external_code;
  const startDay = localDay(startOf(kind, data), zone);
  const item = { externalCode, startDay, data, origin };
  if (hasTooMany) return unreadItem(item, TOO_MANY_POINTS);
  if (twice !== undefined) return unreadItem(item, `${twice}: ${GIVEN_TWICE}`);
  if (!isPlan || options === null) return { item };
  if (!isJsonObject(options)) return unreadItem(item, 'options: is not an object');
  const own = canonicalOptions(options);
  return { item: { ...item, ...(Object.keys(own).length > 0 && { options: own }) } };
}

function hasTooManyPoints({ route_points, entity }: JsonObject): boolean {
  const listed = (list: Json | undefined): Json[] => (Array.isArray(list) ? list : []);
  const points = listed(route_points);
  const items = points.flatMap((point) => (isJsonObject(point) ? listed(point.route_point_items) : []));
  return points.length > MOST_POINTS || points.length + items.length + listed(entity).length > MOST_ENTRIES;
}

/** Why no item can be known by the code; undefined if one can. */
export function codeIssue(code: string): string | undefined {
  if (!isStorable(code)) return UNSTORABLE;
  return code.length > LONGEST_KEY ? TOO_LONG : undefined;
}

/** The fields of a kind that may stand beside `data`. */
const BESIDE_DATA = new Map(
  FEED_KINDS.map((kind) => {
    const { types, objects, lists } = DATA_FIELDS[kind];
    const names = Object.keys({ ...types, ...objects, ...lists });
    return [kind, new Set([...names, ...CODE_FIELDS[kind], ...(kind === 'route_plans' ? ['options'] : [])])];
  }),
);

const GIVEN_TWICE = 'is given twice, inside and beside `data`, with different values';

/** The fields in `data` and those of the kind beside it, and one of them that has two values. */
function unwrapped(
  kind: FeedKind,
  given: JsonObject,
  data: JsonObject,
): { fields: JsonObject; twice?: string | undefined } {
  const filled = (part: JsonObject) => Object.entries(part).filter(([, value]) => value !== null && value !== '');
  const inner: JsonObject = Object.fromEntries(filled(data));
  const beside: JsonObject = Object.fromEntries(filled(given).filter(([name]) => BESIDE_DATA.get(kind)?.has(name)));
  const twice = Object.keys(beside).find(
    (name) => name in inner && comparable(inner[name]) !== comparable(beside[name]),
  );
  return { fields: { ...beside, ...inner }, twice };
}

/** A number equals its text. */
const comparable = (value: Json | undefined): string =>
  typeof value === 'object' ? stableJsonWithoutNulls(value) : scalarText(value);

/** Without the fields by which the item would be known only because a preferred one cannot be read. */
export function withoutOtherCodes(kind: FeedKind, fields: JsonObject, isUnread: (name: string) => boolean): JsonObject {
  const first = CODE_FIELDS[kind].findIndex(isUnread);
  const others = first < 0 ? [] : CODE_FIELDS[kind].slice(first);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !others.includes(name)));
}

/** What a read error says about the item that it invalidates. */
export const identityOf = ({ externalCode, startDay }: FileItem): Pick<ReadError, 'externalCode' | 'startDay'> => ({
  externalCode,
  ...(startDay !== '' && { startDay }),
});

/** The read error in place of an item that cannot be used. */
export const unreadItem = (item: FileItem & Pick<ErpItem, 'origin'>, reason: string): ParsedItem => ({
  readError: { origin: item.origin, ...identityOf(item), reason },
});

/** The same, or the read error of an item that is too large, with its size in characters. */
export function inSizeLimit(parsed: ParsedItem): [ParsedItem, size: number] {
  const size = JSON.stringify(parsed).length;
  if ('readError' in parsed || size <= LARGEST_ITEM) return [parsed, size];
  return [unreadItem(parsed.item, TOO_LARGE), 0];
}

/** Many ERPs number their items, so a number is a code too. */
function codeText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}
