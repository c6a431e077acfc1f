// What the push engine has to know of one kind of item: by what the service lists it, and which calls list, create and
// change it. A kind judges an answer; what follows from it is the engine's business.

import type { RoadbookError } from '../../core/errors.ts';
import { type JsonObject, noCounts } from '../../core/glossary.ts';
import { PRIORITY } from '../../core/rate/limiter.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { FeedKind } from '../../erp/feed-kinds.ts';
import type { Feed } from '../../erp/source.ts';
import type { Endpoint } from '../../fleet/endpoint.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type OutboxEntry, type Place, placeOf } from '../../warehouse/outbox/entry.ts';
import type { Period } from '../../warehouse/outbox/queries.ts';
import { type Digest, personalDigest } from '../../warehouse/privacy/personal-digest.ts';
import type { RunContext } from '../job.ts';
import type { PushSettings } from './options.ts';

/** One call of the service, counted and aborted with the run. */
export type ServiceCall = <Request, Answer>(
  endpoint: Endpoint<Request, Answer>,
  request: Request,
) => Promise<Answer>;

/** What is sent. */
export interface Payload {
  data: JsonObject;
  /** The item's own options over those of its feed; plans only. */
  options: JsonObject;
  /** Absent from what an earlier version stored. */
  place?: Place;
}

/** An item as the service lists it. */
export interface RemoteRecord {
  id: number;
  key: string;
  status: string | null;
  record: JsonObject;
  /** Absent where the kind has no period, or the record's cannot be read. */
  period?: Period;
  /** The list that showed it, where the kind has several. */
  list?: string;
}

/** What an answer to a write says. An answer that does not say it plainly is unclear. */
export type Verdict =
  | { is: 'accepted'; id: number | undefined; reasons: string[] }
  | { is: 'rejected'; reasons: string[] }
  | { is: 'unclear'; message: string };

export interface PushKind {
  readonly feed: FeedKind;
  /** For messages, as in `plan`. */
  readonly noun: string;
  /** By what the service lists it; never a tax number in clear. */
  keyOf(data: JsonObject, digest: Digest): string;
  /** One key is one item at the service, whatever codes the ERP gives it: one of them is sent. */
  readonly isOneAKey?: true;
  /** When it takes place; without this the service lists all items of the kind. */
  periodOf?(data: JsonObject): Period | undefined;
  /** What the service has, in a period where the kind has one. Throws where the answer is no listing. */
  list(call: ServiceCall, period: Period | undefined, digest: Digest): Promise<RemoteRecord[]>;
  /** On which of the service's lists an item would be shown, where there are several. */
  listOf?(data: JsonObject): string;
  create(call: ServiceCall, payload: Payload): Promise<Verdict>;
  /** Absent where the service has no call that changes it. */
  change?(call: ServiceCall, id: number, payload: Payload): Promise<Verdict>;
  /** Whether the service has this content. */
  isSame(record: JsonObject, data: JsonObject): boolean;
  /** The status that says that the service failed at it, and what that means. */
  readonly failed?: { status: string; message: string };
}

/** What every step of one run works with. */
export interface PushRun {
  kind: PushKind;
  feed: Feed;
  settings: PushSettings;
  context: RunContext;
  engine: Engine;
  call: ServiceCall;
  digest: Digest;
  failures: RoadbookError[];
  /** Adds a failure of the run, and logs it with a message. */
  report(failure: RoadbookError, message: string, fields?: object): void;
  /** ISO instant of now. */
  now(): string;
  /** ISO instant so many milliseconds before now. */
  ago(ms: number): string;
}

/** Undefined where the configuration has no feed of the kind. */
export async function openPush(kind: PushKind, context: RunContext): Promise<PushRun | undefined> {
  const { dependencies, counts, signal, options, log } = context;
  const feed = await dependencies.erp(kind.feed);
  if (feed === undefined) {
    log.debug({ feed: kind.feed }, 'no feed in the configuration; nothing to do');
    return undefined;
  }
  const ago = (ms: number): string => isoInstant(dependencies.clock.now() - ms);
  const now = (): string => ago(0);
  const onRequest = () => void counts.requests++;
  const onRetry = () => void counts.retries++;
  const failures: RoadbookError[] = [];
  return {
    kind,
    feed,
    settings: options as unknown as PushSettings,
    context,
    engine: dependencies.engine,
    call: (endpoint, request) =>
      dependencies.fleet.call(endpoint, request, { signal, priority: PRIORITY.push, onRequest, onRetry }),
    digest: await personalDigest(dependencies.engine, now()),
    failures,
    report(failure, message, fields) {
      log.warn({ err: failure, ...fields }, message);
      failures.push(failure);
    },
    now,
    ago,
  };
}

/** For a preview: records nothing. */
export const openUnrecorded = (
  kind: PushKind,
  context: Pick<RunContext, 'job' | 'options' | 'dependencies'>,
): Promise<PushRun | undefined> => {
  const unrecorded = { runId: '', counts: noCounts(), signal: new AbortController().signal };
  return openPush(kind, { ...context, ...unrecorded, log: context.dependencies.log });
};

export const payloadOf = ({ payload }: Pick<OutboxEntry, 'payload'>): Payload | undefined =>
  payload === null ? undefined : (JSON.parse(payload) as Payload);

/** Where the service will list the content that is to be sent. */
export const nextPlace = (entry: OutboxEntry, { place }: Payload): Place => placeOf(place ?? entry);
