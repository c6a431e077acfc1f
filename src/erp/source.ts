// The contract of an ERP source: what it gives to be pushed and how it is told the answers. A thing is offered
// until it is taken, and awaited until it is final; telling anything twice changes nothing.
import type { Clock } from '../core/clock.ts';
import type { JsonObject } from '../core/glossary.ts';
import type { Log } from '../core/log.ts';
import type { Mapping } from './mapping.ts';

export const FEED_KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'] as const;
export type FeedKind = (typeof FEED_KINDS)[number];

/** One thing the ERP wants pushed, in canonical form. It may still break the rules: see validation. */
export interface ErpThing {
  /** What the ERP calls it; once in a file, query or answer, or once for each start day where codes are reused. */
  externalCode: string;
  /** Local date (YYYY-MM-DD) on which a plan or itinerary starts; empty for other kinds, or where its start cannot be read. */
  startDay: string;
  /** The `data` object of its POST call. */
  data: JsonObject;
  /** A plan's own options; those of the feed's settings stand behind them. Plans only. */
  options?: JsonObject;
  /** Where it came from, for messages: file and row, or row of the query. */
  origin: string;
}

/** Something that could not be read as a thing. */
export interface ErpFault {
  origin: string;
  reason: string;
  /**
   * The item that it would have been. An item of this code that the same read gave before is invalid: it must not be
   * sent, so sending starts only after a read has ended.
   */
  externalCode?: string;
  /** Only the item that starts on this day is invalid. Where it is absent, every item of the code is. */
  startDay?: string;
}

export interface ErpBatch {
  /** The file's name, or the kind of the feed. */
  name: string;
  /** Place in the file, query or answer, from 1. */
  part: number;
  /** The file, query or answer ends with this part. Where no last part comes, none of its parts counts. */
  last: boolean;
  things: ErpThing[];
  faults: ErpFault[];
}

/** `unknown` is told for information; it is not final. */
export type OutcomeState = 'confirmed' | 'rejected' | 'cancelled' | 'unknown';

export interface Outcome {
  externalCode: string;
  /** ISO instant at which the plan or itinerary starts, for the ERP; null where there is none. */
  periodStart: string | null;
  /** The start day under which the source awaits the item; default: the local day of `periodStart`, empty without one. */
  startDay?: string;
  state: OutcomeState;
  remoteId: number | null;
  message: string | null;
  reasons?: string[];
  /** Grows with every change of the state; a source that remembers what it was told takes no older one for newer. */
  revision?: number;
}

/** An item without a final state. */
export interface AwaitedItem {
  externalCode: string;
  /** That of the item as it was read; empty where it has none or it is not known. */
  startDay: string;
}

export interface StopOutcome {
  planExternalCode: string;
  /** ISO instant at which the plan starts, for the ERP; null where it is not known. */
  planPeriodStart: string | null;
  pointExternalCode: string;
  /** The service's point status code. */
  status: string;
  /** ISO instant. */
  executedAt: string | null;
  reason: string | null;
  /** Names of the pictures. */
  pictures: string[];
}

export interface ErpSource {
  /**
   * What waits to be taken, batch by batch; memory stays bounded however much it is. A query or answer that breaks off
   * throws. A file that changes while it is read ends without a last part. A file that cannot be read to its end is one
   * part with one fault. A thing may be given again: the engine knows it by code and content, and acknowledges it again
   * where its state is final.
   */
  read(signal?: AbortSignal): AsyncIterable<ErpBatch>;
  /**
   * Every item and fault of this batch is stored durably. Takes the batch that the last `read` gave or an equal copy,
   * the parts of one name in order; a part that was taken before is ignored. A file that was not taken to its end is
   * given again by the next read.
   */
  taken(batch: ErpBatch): Promise<void>;
  /**
   * Items the source still waits for, in pages. The engine acknowledges again those it knows to be final, under the
   * same start day: this heals every cut between storing an outcome and telling it, and an item that is offered again.
   */
  awaited(): AsyncIterable<AwaitedItem[]>;
  /**
   * States go back to the item of their code and start day, and to no other day of that code. Also of items that nobody
   * awaits any more: what is known of an item may change after its final state.
   */
  acknowledge(outcomes: readonly Outcome[]): Promise<void>;
  /** Outcomes of stops go back; the latest for each stop of a plan counts. */
  returnExecutions(stops: readonly StopOutcome[]): Promise<void>;
  /** For doctor: one sentence on what was found, or a clear error. */
  check(): Promise<string>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

export interface SourceContext {
  kind: FeedKind;
  /** IANA zone in which date-times without a zone are read. */
  zone: string;
  /**
   * True: items of one code that start on different local days are different items. False: a code that comes twice in
   * one read is a fault.
   */
  reuseCodes: boolean;
  clock: Clock;
  log: Log;
  /** For the jitter of retries, in [0, 1). */
  random: () => number;
}

/** What the settings of every feed hold. */
export interface SharedSettings {
  mapping: Mapping;
}

/** How a source is found by its name. */
export interface SourceKind<Settings extends SharedSettings> {
  open(settings: Settings, context: SourceContext): ErpSource;
}

export const isFinal = (state: OutcomeState): boolean => state !== 'unknown';

/** The feed of a kind, as the wiring opens it. */
export interface Feed {
  source: ErpSource;
  /** Defaults for the options of each item. */
  options: JsonObject;
}
