// Makes an item of what a source has read: canonical form, and the code by which the ERP knows it. Without a
// code nobody could be told the answer, so that is a fault; so is a code that the outbox would keep as another one.
import { isJsonObject, type JsonObject } from '../../core/glossary.ts';
import { isStorable } from '../../core/text/storable-text.ts';
import type { FeedKind } from '../feed-kinds.ts';
import type { ErpFault, ErpItem } from '../source.ts';
import { canonicalData, canonicalOptions } from './canonical-form.ts';
import { UNSTORABLE } from './field-schemas.ts';
import { localDay } from './moments.ts';

export type Reading = { item: ErpItem } | { fault: ErpFault };

/** Where the code stands, in order of preference; `external_code` itself is no field of these calls. */
const CODE_FIELDS: Readonly<Record<FeedKind, readonly string[]>> = {
  route_plans: ['external_code'],
  points_of_interest: ['external_code', 'title'],
  agents: ['external_code', 'company_registry', 'cpf'],
  itineraries: ['external_id'],
};

/** Where the start of the period stands; the other kinds have none. */
const START_FIELDS: Readonly<Partial<Record<FeedKind, string>>> = {
  route_plans: 'date_time_start',
  itineraries: 'date_time_start_estimated',
};

/** Characters of one item. Each is checked, compared and sent at once: a larger one would block the daemon. */
export const LARGEST_ITEM = 4 * 1024 * 1024;

/** Read errors that are kept of one item; the first ones say what to correct. */
export const MOST_ITEM_ERRORS = 100;

export const TOO_LARGE = 'is larger than 4 MB; split it';

export interface ItemContext {
  kind: FeedKind;
  zone: string;
}

export function itemOf(given: JsonObject, origin: string, context: ItemContext): Reading {
  const { kind, zone } = context;
  const isPlan = kind === 'route_plans';
  const whole = isJsonObject(given.data) ? { ...given.data, options: given.options ?? null } : given;
  const { options = null, ...planFields } = whole;
  const data = canonicalData(kind, isPlan ? planFields : whole, zone);
  const names = CODE_FIELDS[kind];
  // The same text in the outbox, in what is sent and in what is searched for.
  for (const name of names) if (typeof data[name] === 'string') data[name] = data[name].trim();
  const externalCode = names.map((name) => codeText(data[name])).find((code) => code !== '');
  if (externalCode === undefined) return { fault: { origin, reason: `${names.join(' or ')}: is missing` } };
  if (!isStorable(externalCode)) return { fault: { origin, reason: `${names.join(' or ')}: ${UNSTORABLE}` } };
  if (kind === 'points_of_interest' || kind === 'agents') delete data.external_code;
  const start = START_FIELDS[kind];
  const startDay = start === undefined ? '' : localDay(data[start], zone);
  const item = { externalCode, startDay, data, origin };
  if (!isPlan || options === null) return { item };
  if (!isJsonObject(options)) {
    const reason = 'options: is not an object';
    return { fault: { origin, externalCode, ...(startDay !== '' && { startDay }), reason } };
  }
  const own = canonicalOptions(options);
  return { item: { ...item, ...(Object.keys(own).length > 0 && { options: own }) } };
}

/** A number is a code too: many ERPs number their items. */
function codeText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}
