// What the push engine has to know of one kind of thing: by what the service finds it, and which calls read,
// create and change it. An answer is judged here; what follows from it is the engine's.
import type { JsonObject } from '../../core/glossary.ts';
import type { FeedKind } from '../../erp/source.ts';
import type { Endpoint } from '../../fleet/endpoint.ts';
import type { EntryChange, OutboxEntry } from '../../warehouse/outbox-entry.ts';
import type { Digest } from '../../warehouse/personal-digest.ts';

/** One call of the service, counted and cut with the run. */
export type ServiceCall = <Request, Answer>(
  endpoint: Endpoint<Request, Answer>,
  request: Request,
) => Promise<Answer>;

/** What is sent. */
export interface Payload {
  data: JsonObject;
  /** Those of the feed behind those of the thing; plans only. */
  options: JsonObject;
}

/** The data of an entry that is still to be sent; undefined where it is not kept. */
export const dataOf = ({ payload }: Pick<OutboxEntry, 'payload'>): JsonObject | undefined =>
  payload === null ? undefined : (JSON.parse(payload) as Payload).data;

/** ISO instants, UTC. */
export interface Period {
  start: string;
  end: string;
}

/** A thing as the service lists it. */
export interface Seen {
  id: number;
  key: string;
  status: string | null;
  record: JsonObject;
  /** The list that showed it, where the kind has several. */
  list?: string;
}

/** What an answer to a write says. Anything that does not say it plainly is unclear. */
export type Verdict =
  | { is: 'accepted'; id: number | undefined; reasons: string[] }
  | { is: 'refused'; reasons: string[] }
  | { is: 'unclear'; message: string };

export interface PushKind {
  readonly feed: FeedKind;
  /** One thing for messages, as in `plan`. */
  readonly noun: string;
  /** By what it is found at the service; never a tax number in clear. */
  keyOf(data: JsonObject, digest: Digest): string;
  /** Several codes of the ERP may name one thing: each is searched for before it is sent, and one of them is. */
  readonly hasTwins?: true;
  /** When it takes place; without this the service lists all of them. */
  periodOf?(data: JsonObject): Period;
  /** What the service has, of a period where the kind has one. Throws where the answer is not a whole listing. */
  list(call: ServiceCall, period: Period | undefined, digest: Digest): Promise<Seen[]>;
  /** On which of the service's lists it would be shown, where there are several. */
  listOf?(data: JsonObject): string;
  /** A second way to find one thing, asked before it is believed absent. */
  seek?(call: ServiceCall, key: string): Promise<Seen[]>;
  create(call: ServiceCall, payload: Payload): Promise<Verdict>;
  /** Absent where the service has no call that changes it. */
  change?(call: ServiceCall, id: number, payload: Payload): Promise<Verdict>;
  /** The service already has this content; only where it can be changed. */
  isSame?(record: JsonObject, data: JsonObject): boolean;
  /** Statuses in which the service still works on it. */
  readonly unfinished?: readonly string[];
  /** The status that says that the service failed at it, and what that means. */
  readonly failed?: { status: string; message: string };
}

/** The period of its data alone; that of the entry may hold older contents too, while they are searched for. */
export function ownPeriod({ periodOf }: PushKind, entry: OutboxEntry): EntryChange {
  const data = dataOf(entry);
  if (periodOf === undefined || data === undefined) return {};
  const { start, end } = periodOf(data);
  return { period_start: start, period_end: end };
}
