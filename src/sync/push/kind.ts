// Describes one kind of item to the push: its key at the service, and the calls that list, create and change it.
// A kind interprets an answer; the push decides what follows from it.
import { isPassing, type RoadbookError } from '../../core/errors.ts';
import { zeroCounts } from '../../core/glossary.ts';
import type { JsonObject } from '../../core/json.ts';
import { PRIORITY } from '../../core/rate/rate.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { FEED_KINDS, type FeedKind } from '../../erp/feed-kinds.ts';
import type { Endpoint } from '../../fleet/endpoint.ts';
import { keyOf, type OutboxEntry, type Place, placeOf } from '../../warehouse/outbox/entry.ts';
import type { Period } from '../../warehouse/outbox/queries.ts';
import { type Digest, personalDigest } from '../../warehouse/privacy/personal-digest.ts';
import type { PreviewContext, RunContext } from '../job.ts';
import type { PushSettings } from './options.ts';

/** One call to the service, counted by the run and aborted with it. */
export type ServiceCall = <Request, Answer>(endpoint: Endpoint<Request, Answer>, request: Request) => Promise<Answer>;

/** The content of an entry that is sent to the service. */
export interface Payload {
  data: JsonObject;
  /** Those of the item, which override those of the feed; plans only. */
  options: JsonObject;
  /** Absent if an earlier version stored the payload. */
  place?: Place;
}

/** An item as the service lists it. */
export interface RemoteRecord {
  id: number;
  key: string;
  status: string | null;
  record: JsonObject;
  /** Absent if the kind has no period, or if the record's period cannot be read. */
  period?: Period;
  /** The list that showed the record, if the kind has several lists. */
  list?: string;
}

/** The meaning of an answer to a write. An answer that says neither accepted nor rejected is unclear. */
export type Verdict =
  | { is: 'accepted'; id: number | undefined; reasons: string[] }
  | { is: 'rejected'; reasons: string[] }
  | { is: 'unclear'; message: string };

/** The job that pushes the items of a kind. */
export const pushJobOf = (kind: string): string => `push-${kind.replaceAll('_', '-')}`;

/** The kind whose items the job pushes; undefined for any other job. */
export const pushedKindOf = (job: string): FeedKind | undefined => FEED_KINDS.find((kind) => pushJobOf(kind) === job);

export interface PushKind {
  readonly feed: FeedKind;
  /** Names the kind in messages, such as `plan`. */
  readonly noun: string;
  /** The key by which a listing is searched for the item; never a tax number in clear. */
  keyOf(data: JsonObject, digest: Digest): string;
  /** A key is unique at the service. If the ERP gives several codes to one key, only one of them is sent. */
  readonly hasUniqueKey?: true;
  /** The period of the item; absent if the service lists all items of the kind at once. */
  periodOf?(data: JsonObject): Period | undefined;
  /** The records at the service. A kind with `periodOf` always gets a period. Throws if the answer is not a listing. */
  list(call: ServiceCall, period: Period | undefined, digest: Digest): Promise<RemoteRecord[]>;
  /** The service's list that would show the item, if the kind has several lists. */
  listOf?(data: JsonObject): string;
  create(call: ServiceCall, payload: Payload): Promise<Verdict>;
  /** Absent if the service has no call that changes an item. */
  change?(call: ServiceCall, id: number, payload: Payload): Promise<Verdict>;
  /** Whether the record has the content of `data`. */
  isSame(record: JsonObject, data: JsonObject): boolean;
  /**
   * Reasons that name the parts of the sent content which the item at the service lacks; undefined if the service does not
   * show the parts. No method if an item is taken whole or not at all.
   */
  missing?(call: ServiceCall, id: number, data: JsonObject): Promise<string[] | undefined>;
  /** The record status for a failure at the service, and the message for it. */
  readonly failed?: { status: string; message: string };
}

/** An entry of which the ERP is notified once more, with the clear code that the outbox no longer has. */
export type RepeatedNotification = Pick<OutboxEntry, 'kind' | 'external_code' | 'code_use' | 'erp_code' | 'revision'>;

/** Without the other columns: there may be as many as the ERP offers items. */
export const repeatedNotification = ({ erp_code, revision, ...entry }: OutboxEntry): RepeatedNotification => ({
  ...keyOf(entry),
  erp_code,
  revision,
});

/** Shared by all steps of one run. */
export type PushRun = NonNullable<Awaited<ReturnType<typeof openPush>>>;

/** Undefined if the configuration has no feed of the kind. */
export async function openPush(kind: PushKind, context: RunContext) {
  const { dependencies, counts, signal, options, log, runId } = context;
  const { engine, fleet, clock } = dependencies;
  const feed = await dependencies.erp(kind.feed);
  if (feed === undefined) {
    log.debug({ feed: kind.feed }, 'no feed in the configuration; nothing to do');
    return undefined;
  }
  /** The ISO instant `ms` before now. */
  const ago = (ms: number): string => isoInstant(clock.now() - ms);
  const now = (): string => ago(0);
  const onRequest = () => void counts.requests++;
  const onRetry = () => void counts.retries++;
  const call: ServiceCall = (endpoint, request) =>
    fleet.call(endpoint, request, { signal, priority: PRIORITY.push, runId, onRequest, onRetry });
  const failures: RoadbookError[] = [];
  /** Codes of the items that became partial during the run: the service took them without some of their stops. */
  const partial: string[] = [];
  /** Codes of the items that the run found to differ from what the service has, which no call can change. */
  const differing = new Set<string>();
  /** The file or feed of each part that could not be read and has no code. The run counts such a part as rejected. */
  const unread: string[] = [];
  /** The ERP has been notified of them, and still offers them. After a crash the next run finds them again. */
  const again: RepeatedNotification[] = [];
  /** Adds a failure to the run, and logs it with a message. */
  const report = (failure: RoadbookError, message: string, fields?: object): void => {
    log[isPassing(failure) ? 'debug' : 'warn']({ err: failure, ...fields }, message);
    failures.push(failure);
  };
  const digest = await personalDigest(engine, now());
  const settings = options as unknown as PushSettings;
  const found = { failures, partial, differing, unread, again };
  return { kind, feed, settings, context, engine, call, digest, ...found, report, now, ago };
}

/** For a preview: the run is not recorded. */
export const openUnrecorded = (kind: PushKind, context: PreviewContext) => {
  const unrecorded = { runId: '', counts: zeroCounts(), signal: new AbortController().signal };
  return openPush(kind, { ...context, ...unrecorded, log: context.dependencies.log });
};

export const payloadOf = ({ payload }: Pick<OutboxEntry, 'payload'>): Payload | undefined =>
  payload === null ? undefined : (JSON.parse(payload) as Payload);

/** Key and period under which the service will list the content once it is sent. */
export const nextPlace = (entry: OutboxEntry, { place }: Payload): Place => placeOf(place ?? entry);
