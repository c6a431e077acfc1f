// Decides what a listing of the service says about one entry. Pure: entry × listing → decision. An unknown entry counts as
// absent only if two conclusive listings, far enough apart, do not show it.
import type { JsonObject } from '../../core/json.ts';
import { needsProof, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import type { ControlRecord, Period } from '../../warehouse/outbox/queries.ts';
import type { PushKind, RemoteRecord } from './kind.ts';
import { overlaps } from './windows.ts';

export interface Listing {
  byId: ReadonlyMap<number, RemoteRecord>;
  byKey: ReadonlyMap<string, RemoteRecord[]>;
}

export const indexed = (records: readonly RemoteRecord[]): Listing => ({
  byId: new Map(records.map((each) => [each.id, each])),
  byKey: Map.groupBy(records, ({ key }) => key),
});

export type Decision =
  /**
   * The service has the item. `others` are further records of the same item: it is there more than once. `missing` are the
   * reasons for its missing parts, if those were asked for; `isUncompared` if they could not be.
   */
  | {
      is: 'found';
      record: RemoteRecord;
      others: number[];
      isSame: boolean;
      missing?: string[];
      isUncompared?: boolean;
    }
  /** The entry may be sent. */
  | { is: 'clear' }
  /** The listing does not show the entry, but too little time has passed. */
  | { is: 'too-early'; since: string }
  /** Listings have not shown the entry for long enough. */
  | { is: 'absent' }
  /** The listing proves nothing about the entry. */
  | { is: 'inconclusive'; why: string }
  /** The service accepted the entry long ago, and no listing has shown it. */
  | { is: 'never-shown' }
  /** Nothing follows for the entry; a later listing may say more. */
  | { is: 'nothing' };

export interface Question {
  entry: OutboxEntry;
  /** The records that match the entry; undefined if a record may match, but its period cannot be read. */
  matches: readonly RemoteRecord[] | undefined;
  /** Content of the entry, if it is still stored. */
  data: JsonObject | undefined;
  kind: Pick<PushKind, 'isSame' | 'noun'>;
  settleMs: number;
  /** When the listing started, by the service's clock, ISO. */
  listedAt: string;
  /** The current instant by this machine's clock, ISO. */
  at: string;
  /** Why absence from the listing proves nothing; undefined if the listing is conclusive. */
  doubt: string | undefined;
}

export function decide(question: Question): Decision {
  const { entry, matches, data, kind, doubt, at, settleMs } = question;
  if (matches === undefined)
    return {
      is: 'inconclusive',
      why: `The service lists a ${kind.noun} of this code whose period cannot be read`,
    };
  const isOwn = ({ id }: RemoteRecord): number => (id === entry.remote_id ? 0 : 1);
  const [record, ...others] = matches.toSorted((a, b) => isOwn(a) - isOwn(b) || a.id - b.id);
  if (record !== undefined) {
    const isSame = data === undefined || kind.isSame(record.record, data);
    return { is: 'found', record, others: others.map(({ id }) => id), isSame };
  }
  if (needsProof(entry) && doubt !== undefined) return { is: 'inconclusive', why: doubt };
  if (entry.state === 'unknown') return absence(question);
  if (entry.state === 'ready') return { is: 'clear' };
  if (entry.state === 'confirmed' && entry.seen_at === null)
    return isApart(entry.confirmed_at, at, settleMs) ? { is: 'never-shown' } : { is: 'nothing' };
  return { is: 'nothing' };
}

function absence(question: Question): Decision {
  const { entry, listedAt, settleMs } = question;
  const { absent_since, unclear_sends } = entry;
  // If `absent_since` lies after this listing, a clock was set back in between. The wait starts again.
  if (absent_since === null || absent_since > listedAt) return { is: 'too-early', since: listedAt };
  const isLong = isApart(absent_since, listedAt, settleMs * 2 ** unclear_sends);
  return isLong ? { is: 'absent' } : { is: 'too-early', since: absent_since };
}

/** A `since` far in the future was written before the clock was set back: it counts as long ago. */
export const isApart = (since: string | null, until: string, ms: number): boolean =>
  since !== null && Math.abs(Date.parse(until) - Date.parse(since)) >= ms;

/** The records that match the entry: by identifier if it is known, else by key and overlapping period. */
export function matchesOf(
  entry: OutboxEntry,
  { byId, byKey }: Listing,
  kind: Pick<PushKind, 'periodOf'>,
  isTaken: (id: number) => boolean,
  isOfDay: (period: Period) => boolean,
): RemoteRecord[] | undefined {
  const { remote_id, remote_key, period_start, period_end } = entry;
  const known = remote_id === null ? undefined : byId.get(remote_id);
  const matches = known === undefined ? [] : [known];
  const sameKey = (byKey.get(remote_key) ?? []).filter((each) => each !== known && !isTaken(each.id));
  if (kind.periodOf === undefined) {
    // Of several copies a person may have kept another one.
    const isGone = known === undefined && remote_id !== null && entry.attention !== 'found_twice';
    return isGone ? [] : [...matches, ...sameKey];
  }
  const own = { start: period_start ?? '', end: period_end ?? '' };
  matches.push(...sameKey.filter(({ period }) => period !== undefined && overlaps(period, own) && isOfDay(period)));
  // A record without a readable period may be this item or the item of another day. Beside a match it counts as a possible
  // duplicate; alone it proves nothing.
  const unreadable = sameKey.filter(({ period }) => period === undefined);
  if (matches.length > 0) return [...matches, ...unreadable];
  return unreadable.length > 0 ? undefined : [];
}

/** A service that truncates its listings does so at one of these counts. */
const ROUND_COUNTS = [100, 200, 250, 500, 1_000, 2_000, 2_500, 5_000, 10_000];
export const mayBeTruncated = ({ byId }: Listing): boolean => ROUND_COUNTS.includes(byId.size);
/** People delete records at the service, so this share of the known records may be missing. */
const MOST_MISSING = 0.05;

const SHOWS_NOTHING = 'The listing is empty, so it proves nothing';
const HIDES_KNOWN = 'The listing omits records that earlier listings showed, so it proves nothing';
const MAY_BE_TRUNCATED = 'The listing may be truncated at a round number of records, so it proves nothing';

/** Why absence from the listing proves nothing; undefined if the listing is conclusive. */
export function doubtOf(
  listing: Listing,
  known: readonly ControlRecord[],
  list: string | undefined,
): string | undefined {
  const isShown = ({ remote_id, remote_key }: ControlRecord): boolean =>
    remote_id === null ? listing.byKey.has(remote_key) : listing.byId.has(Number(remote_id));
  const missing = known.filter((each) => !isShown(each)).length;
  if (missing === known.length && missing > 0) return HIDES_KNOWN;
  if (missing > Math.max(1, known.length * MOST_MISSING)) return HIDES_KNOWN;
  if (mayBeTruncated(listing)) return MAY_BE_TRUNCATED;
  const records = [...listing.byId.values()];
  const isEmpty = list === undefined ? records.length === 0 : !records.some((each) => each.list === list);
  return isEmpty ? SHOWS_NOTHING : undefined;
}
