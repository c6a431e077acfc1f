// The declaration of a pull job: which slices a run has, which calls a slice makes, and which tables its records go to. A
// job has no access to HTTP, the machine's clock or its environment.
import type { z } from 'zod';
import type { Log } from '../../core/log.ts';
import type { Endpoint } from '../../fleet/endpoint.ts';
import type { Interval, ScopedInterval } from '../../warehouse/control/coverage.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import type { Table } from '../../warehouse/schema/table.ts';
import type { Cost, Into, Job, JobDeclaration, Workload } from '../job.ts';
import type { Slice } from '../slice.ts';
import type { CoverageBy } from './plan/scopes.ts';
import type { FullRefreshRange, Load, Mapped, Prepared, PrepareOptions } from './records/types.ts';

/** What both the plan and the reading of a slice use. */
interface PullContext {
  warehouse: WarehouseReader;
  /** A personal value in the form that a column stores, for lookups; null if the column may not store it. */
  asStored(table: Table, column: string, value: string): string | null;
  /** Length in bytes of the URL of a call. */
  urlBytes<Request, Answer>(endpoint: Endpoint<Request, Answer>, request: Request): number;
}

export interface PlanContext<Options> extends PullContext {
  options: Options;
  /** Milliseconds since the epoch. */
  now: number;
  /** The requested period; default: the job decides. */
  period?: Interval;
  /** The name in `sync_coverage` of the periods that this plan may skip. */
  coverageName: string;
  /** Time zone of local days. */
  timezone: string;
  /** In (0, 1]: the size of slices relative to the usual one, as learned from earlier runs. */
  scale: number;
}

export type WarehouseReader = Pick<Engine, 'read' | 'latest'>;

/** What a slice reads from. */
export interface Source extends PullContext {
  /** One call to the service, with retries. */
  call<Request, Answer>(endpoint: Endpoint<Request, Answer>, request: Request): Promise<Answer>;
  /** Fails if fewer calls are left; for calls that are made in several parts, so that a slice that cannot be finished costs few. */
  checkCalls(count: number): void;
  /** Many calls in parallel; `work` gets a source whose calls are aborted by the first failure. */
  mapCalls<Item, Result>(
    items: readonly Item[],
    work: (item: Item, source: Source) => Promise<Result>,
  ): Promise<Result[]>;
  /**
   * Stores a part of the slice ahead of the rest, so that memory stays bounded if a slice cannot be cut. The part covers
   * nothing: after a crash the slice is read again.
   */
  commitPart(part: { loads: readonly Load[]; fullRefresh: readonly FullRefreshRange[] }): Promise<void>;
  /** Maps records to rows, for a job whose decisions depend on them. */
  map(load: Load): Promise<Mapped>;
  /** Prepares the records of one call at once, so that those of many calls are not held in memory together. */
  prepare(load: Load, how?: PrepareOptions): Promise<Prepared>;
  /** Stores a small fact about the service that outlives the run. */
  remember(name: string, fact: unknown): Promise<void>;
  /** Registers work to do once the slice is committed or has failed. */
  atEnd(work: () => void): void;
  /** The slice is compared with the warehouse: only its own rows count, and a stored row that is not read is missing. */
  isCompared: boolean;
  /** Ids of records that a comparison leaves out, because every run reads them by id. None if the slice is not compared. */
  openIds(table: Table): ReadonlySet<string>;
  /** False for a comparison that repairs nothing: it stores no fact and no file either. */
  mayStore: boolean;
  /** When the reading started; data that reaches the service later is not covered. */
  readAt: string;
  /** Folder for picture files. */
  images: string;
  log: Log;
}

/** The result of reading a slice; it is committed in one transaction. */
export interface SliceResult {
  loads: readonly (Load | Prepared)[];
  fullRefresh?: readonly FullRefreshRange[];
  /** Periods that are covered now; default: those of the slice, up to the instant of the read. */
  covered?: readonly ScopedInterval[];
  /** Periods that must be read again although they were covered. */
  invalidated?: readonly ScopedInterval[];
  unknown?: UnknownLabels;
}

/** Labels in the records that no row of the warehouse has. */
export interface UnknownLabels {
  /** Name of the job that may pull the missing rows. */
  job: string;
  /** When the last of them was first seen. A pull that started then or later did not bring the rows. */
  metAt: string;
}

export interface Plan<Work> {
  slices: Slice<Work>[];
  /** Called once the slices were read, with the periods of those that could not be. Not called if nothing was read. */
  finish?: (tx: Transaction, unread: readonly ScopedInterval[]) => Promise<void>;
}

export interface PullDeclaration<Options extends z.ZodObject, Work>
  extends Omit<JobDeclaration<Options>, 'tables' | 'needs'>,
    Pick<Job, 'slicesAtOnce'> {
  /** The call that returns the records (null if the job makes them itself), and the table, for each table it fills. */
  into: readonly Into[];
  coverage: CoverageBy;
  /** Separates coverage that was read with these options from coverage read with others; default: no separation. */
  group?(options: z.output<Options>): string;
  plan(context: PlanContext<z.output<Options>>): Promise<Plan<Work>> | Plan<Work>;
  read(slice: Slice<Work>, source: Source, options: z.output<Options>): Promise<SliceResult>;
  /**
   * Replaces a slice that failed with `code` because it was too large: with smaller slices, or with one that makes smaller
   * calls. Undefined if it cannot be cut.
   */
  split?(slice: Slice<Work>, code: string): Slice<Work>[] | undefined;
  /** Replaces a slice that the service rejected, so that one of its vehicles does not keep the others from being read. */
  splitRejected?(slice: Slice<Work>): Slice<Work>[] | undefined;
  /** Estimated cost of a run when little is new; default: one call, and each record is read once. */
  cost?(options: z.output<Options>, load: Workload): Cost;
}

/** A column that holds the id of a row of another table. */
export interface Reference {
  table: Table;
  /** Position of the column in a row. */
  position: number;
  to: Table;
  /** Name of the job that pulls that table. */
  job: string;
}

/** A declaration in the form that the engine uses. */
export interface Pull extends PullDeclaration<z.ZodObject, unknown> {
  references: readonly Reference[];
}
