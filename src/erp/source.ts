// The contract of an ERP source: what it offers to be pushed, and how it is notified of the outcomes. An item may be offered
// any number of times, and an outcome acknowledged any number of times; neither changes anything.

import type { JsonObject } from '../core/glossary.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import type { FeedKind } from './feed-kinds.ts';
import type { Mapping } from './rows/mapping.ts';

/** One item the ERP wants pushed, in canonical form. It may still break the rules: see validation. */
export interface ErpItem {
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

/** Something that could not be read as an item. */
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

/** Whether the fault is about the item of its code that starts on this day. */
export const invalidates = (fault: Pick<ErpFault, 'startDay'>, startDay: string): boolean =>
  fault.startDay === undefined || fault.startDay === startDay;

export interface ErpBatch {
  /** The file's name, or the kind of the feed. */
  name: string;
  /** Place in the file, query or answer, from 1. */
  part: number;
  /** The file, query or answer ends with this part. Where no last part comes, none of its parts counts. */
  last: boolean;
  items: ErpItem[];
  faults: ErpFault[];
  /** What the engine remembers of a file once it has taken the last part; on the last part of a file only. */
  file?: FileMark;
}

/** Tells one content of a file from the next under the same name. */
export interface FileMark {
  /** Bytes. */
  size: number;
  mtimeMs: number;
  /** How many were read; another mapping may read others. */
  items: number;
}

/** A file that was taken to its end and is not finished. */
export interface TakenFile extends FileMark {
  name: string;
  /** ISO instant. */
  readAt: string;
}

export interface FileItem {
  externalCode: string;
  /** That of the item as it was read; empty where it has none. */
  startDay: string;
}

export interface FileContent {
  /** In the order of the file, without those that a read error invalidates. */
  items: readonly FileItem[];
  readErrors: readonly ErpFault[];
}

/** `unknown` is told for information; it is not final. */
export type OutcomeState = 'confirmed' | 'rejected' | 'cancelled' | 'unknown';

export interface Outcome {
  externalCode: string;
  /** ISO instant at which the plan or itinerary starts, for the ERP; null where there is none. */
  periodStart: string | null;
  state: OutcomeState;
  remoteId: number | null;
  message: string | null;
  reasons?: string[];
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
   * part with one fault. A file in `taken` is passed over unless its content has changed. An item may be given again: the
   * engine knows it by code and content, and acknowledges it again where its state is final.
   */
  read(signal?: AbortSignal, taken?: readonly TakenFile[]): AsyncIterable<ErpBatch>;
  /** Each outcome belongs to the item of its code and start. It may change after a final state. */
  acknowledge(outcomes: readonly Outcome[]): Promise<void>;
  /** Only where the ERP drops files: the outcomes of a file's items stand in its result. */
  files?: DroppedFiles;
  /** Outcomes of stops go back; the latest for each stop of a plan counts. */
  returnExecutions(stops: readonly StopOutcome[]): Promise<void>;
  /** For doctor: one sentence on what was found, or a clear error. */
  check(): Promise<string>;
  /** Idempotent and safe before any use. */
  close(): Promise<void>;
}

/** The files that were taken. A file stays where the ERP dropped it until all its items are final. */
export interface DroppedFiles {
  /**
   * `finished` where the file has its result; `gone` where it has none, and the content that was taken is no longer
   * there or is read otherwise.
   */
  contentOf(file: TakenFile): Promise<FileContent | 'finished' | 'gone'>;
  /** Writes the result and moves the file. Takes an outcome for each item, in order. May be repeated after a crash. */
  finish(file: TakenFile, content: FileContent, outcomes: readonly Outcome[]): Promise<void>;
  /** Removes the finished files that have been kept for long enough; looks once an hour at most. */
  removeExpired(): Promise<void>;
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

/** The feed of a kind, as the wiring opens it. */
export interface Feed {
  source: ErpSource;
  /** Defaults for the options of each item. */
  options: JsonObject;
}
