// The contract of an ERP source: how it offers items to push, and how it is notified of their outcomes. Both are
// idempotent: an item may be offered, and an outcome acknowledged, any number of times.

import { RoadbookError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import type { FeedKind } from './feed-kinds.ts';

/** One item to push, in canonical form. It is not validated yet (`validateItem`). */
export interface ErpItem {
  /** The ERP's code of the item; unique within a file, query or answer, or for each start day if codes are reused. */
  externalCode: string;
  /** Local date (YYYY-MM-DD) on which a plan or itinerary starts; empty for other kinds, or if the start cannot be read. */
  startDay: string;
  /** The `data` object of the POST call. */
  data: JsonObject;
  /** A plan's own options; they override those of the feed. Plans only. */
  options?: JsonObject;
  /** Where the item was read, for messages: file and row, or row of the query. */
  origin: string;
  /** If it was read from rows: the row of each point, or of the item. */
  rows?: readonly number[];
}

/** The cell of an error, for the person who corrects it. */
export interface CellPlace {
  row?: number;
  /** The ERP's column. */
  column?: string;
  /** Content of the cell. It may be personal data: only a file's own result and `erp check` show it. */
  value?: string;
}

/** A read error: part of the source could not be read as an item. */
export interface ReadError {
  origin: string;
  reason: string;
  /**
   * The code of the item, if known. It also invalidates an item of this code from an earlier part of the same read. So
   * sending starts only after the read has ended.
   */
  externalCode?: string;
  /** Only the item that starts on this day is invalid; if absent, every item of the code is. */
  startDay?: string;
  place?: CellPlace;
}

/** Whether the read error invalidates the item of its code that starts on this day. */
export const invalidates = (readError: Pick<ReadError, 'startDay'>, startDay: string): boolean =>
  readError.startDay === undefined || readError.startDay === startDay;

/** Selects the items that none of the read errors invalidates. */
export function validItems(readErrors: readonly ReadError[]): (item: FileItem) => boolean {
  const ofCode = Map.groupBy(readErrors, ({ externalCode }) => externalCode);
  return ({ externalCode, startDay }) =>
    !ofCode.get(externalCode)?.some((readError) => invalidates(readError, startDay));
}

export interface ErpBatch {
  /** The file's name, or the kind of the feed. */
  name: string;
  /**
   * Number of the batch within the file, query or answer, from 1. A part 1 replaces the parts before it that have no last
   * part: the file changed, or it has too many items.
   */
  part: number;
  /** The file, query or answer ends with this part. Without a last part, none of its parts counts. */
  last: boolean;
  items: ErpItem[];
  readErrors: ReadError[];
  /** What the engine stores about a file once it has taken the last part; only on the last part of a file. */
  file?: FileMark;
}

/** Identifies the content of a file, to notice a new file of the same name. */
export interface FileMark {
  /** Bytes. */
  size: number;
  mtimeMs: number;
  /** Number of items that were read; another mapping may read a different number. */
  items: number;
}

/** A file that was read to its end and has unfinished items. */
export interface TakenFile extends FileMark {
  name: string;
  /** ISO instant. */
  readAt: string;
}

/** The start day is that of the item as it was read; it may be empty. */
export interface FileItem extends Pick<ErpItem, 'externalCode' | 'startDay'> {
  /** Its first row, if it was read from rows. */
  row?: number | undefined;
}

export interface FileContent {
  /** In the order of the file, without items that a read error invalidates. */
  items: readonly FileItem[];
  readErrors: readonly ReadError[];
}

/** `unknown` is reported for information; it is not final. */
export type OutcomeState = 'confirmed' | 'rejected' | 'cancelled' | 'unknown';

export interface ItemOutcome {
  externalCode: string;
  /** ISO instant at which the plan or itinerary starts, for the ERP; null if there is none. */
  periodStart: string | null;
  state: OutcomeState;
  remoteId: number | null;
  message: string | null;
  reasons?: string[];
  /** The service took the item without the parts that the reasons name. */
  isPartial?: boolean;
  /** Where the content that counted was read: another file may have offered the item too. */
  origin?: string;
}

export interface StopOutcome {
  planExternalCode: string;
  /** ISO instant at which the plan starts, for the ERP; null if unknown. */
  planPeriodStart: string | null;
  pointExternalCode: string;
  /** The service's point status code. */
  status: string;
  /** ISO instant. */
  executedAt: string | null;
  reason: string | null;
  pictures: string[];
}

/** Some outcomes of a list failed; the ERP was notified of all others. Reads as the first failure. */
export class NotifiedInPart extends RoadbookError {
  /** By place in the list. */
  readonly failures: ReadonlyMap<number, RoadbookError>;

  constructor(failures: ReadonlyMap<number, RoadbookError>) {
    const [first] = failures.values();
    super(first?.message ?? '', { code: first?.code ?? '', ...(first?.hint !== undefined && { hint: first.hint }) });
    this.failures = failures;
  }
}

export interface ErpSource {
  /**
   * The items to push, in batches, with bounded memory. An incomplete query or answer throws. A file that changes during
   * the read ends without a last part. A file that cannot be read to its end is one part with one read error. A file in
   * `taken` is skipped unless its content has changed. An item may come again: the engine recognises it by code and
   * content, and acknowledges it again if its state is final.
   */
  read(signal?: AbortSignal, taken?: readonly TakenFile[]): AsyncIterable<ErpBatch>;
  /**
   * Reports outcomes, each of the item with its code and start. An outcome may change even after a final state. Throws
   * `NotifiedInPart` if the source reports one by one and some fail.
   */
  acknowledge(outcomes: readonly ItemOutcome[]): Promise<void>;
  /** Only if the ERP drops files: the result of a file contains the outcomes of its items. */
  files?: DroppedFiles;
  /**
   * Reports the outcomes of stops; the latest for each stop of a plan counts. Throws as `acknowledge` does. Absent if the ERP
   * has no place for them.
   */
  returnExecutions?(stops: readonly StopOutcome[]): Promise<void>;
  /**
   * Only if the ERP is notified by statements: runs each in a transaction that is rolled back. Throws if they cannot be
   * tried, or might have left a trace.
   */
  tryStatements?(outcome: ItemOutcome, stop: StopOutcome): Promise<TriedStatement[]>;
  /** For doctor: one sentence about the state of the source, or an error with a hint: `Skippable` if items can be read. */
  check(): Promise<string>;
  /** Idempotent; safe before first use. */
  close(): Promise<void>;
}

export interface TriedStatement {
  statement: string;
  /** Rows that it would change; null if the database does not count them. */
  rows: number | null;
  /** Why it fails, and what to try. */
  failure?: string;
}

/** The files that were taken. A file stays in the drop folder until all its items are final. */
export interface DroppedFiles {
  /** Undefined if the content that was taken has moved or is gone, or now gives more or fewer items. */
  contentOf(file: TakenFile): Promise<FileContent | undefined>;
  /** Writes the result and moves the file. Needs one outcome per item, in order. May be repeated after a crash. */
  finish(file: TakenFile, content: FileContent, outcomes: readonly ItemOutcome[]): Promise<void>;
  /** Removes finished files after their retention time; runs at most once an hour. */
  removeExpired(): Promise<void>;
}

/** What a header means. */
export interface FoundHeader {
  /** The file's name, or the kind of the feed. */
  name: string;
  header: readonly string[];
  /** The columns of each path that is read. */
  reads: readonly { path: string; columns: readonly string[] }[];
  /** The columns that are not read. */
  unread: readonly string[];
  /** Why rows under this header cannot be read. */
  issues: readonly string[];
  place?: TablePlace | undefined;
  /** Number of rows or records; known when the read has ended. */
  rows: number;
}

/** Where a table was found in its file. */
export interface TablePlace {
  headerRow: number;
  encoding?: string;
  delimiter?: string;
  sheet?: string;
}

export interface SourceContext {
  kind: FeedKind;
  /** Gets the header of each table and of each form of records, for a report. */
  onHeader?: ((found: FoundHeader) => void) | undefined;
  /** IANA zone of date-times that have none. */
  zone: string;
  /**
   * True: items of one code that start on different local days are different items. False: a code that occurs twice in
   * one read is a read error.
   */
  reuseCodes: boolean;
  clock: Clock;
  log: Log;
  /** In [0, 1): for the jitter of retries, and the order of entries after a locked row. */
  random: () => number;
}

export interface Feed {
  source: ErpSource;
  /** Default options of each item. */
  options: JsonObject;
}
