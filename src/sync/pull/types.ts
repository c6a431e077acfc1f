// What a pull job declares: which slices there are, which calls a slice makes, and into which tables its records
// go. It never sees HTTP, SQL, the machine's clock or its environment.
import type { z } from 'zod';
import type { Endpoint } from '../../fleet/endpoint.ts';
import type { Interval, ScopedInterval } from '../../warehouse/control/coverage.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import type { Table } from '../../warehouse/schema/table.ts';
import type { Cost, Into, Workload } from '../job.ts';
import type { Slice, UnknownName } from '../slice.ts';
import type { CoverageBy } from './plan/scopes.ts';
import type { FullRefreshRange, Load, Mapped, Prepared, PrepareOptions } from './records/types.ts';

export interface PlanContext<Options> {
  options: Options;
  /** Milliseconds since the epoch. */
  now: number;
  /** The period that was asked for, instead of the job's own choice. */
  period?: Interval;
  /** The name under which `sync_coverage` keeps what this plan may leave out. */
  coverageName: string;
  /** Time zone of local days. */
  timezone: string;
  warehouse: WarehouseReader;
  /** A personal value as a column of the warehouse holds it, to find it there again. */
  asStored(table: Table, column: string, value: string): string | null;
  /** Bytes of the address that a call would be sent to. */
  urlBytes<Request, Answer>(endpoint: Endpoint<Request, Answer>, request: Request): number;
  /** In (0, 1]: how much smaller than usual slices should be, as earlier runs have learned. */
  scale: number;
}

export type WarehouseReader = Pick<Engine, 'read' | 'latest'>;

/** What a slice reads from. */
export interface Source {
  /** One call of the service, tried again by policy. */
  call<Request, Answer>(endpoint: Endpoint<Request, Answer>, request: Request): Promise<Answer>;
  /** Many calls, so many at a time; `work` gets a source whose calls end with the first failure. */
  mapCalls<Item, Result>(
    items: readonly Item[],
    work: (item: Item, source: Source) => Promise<Result>,
  ): Promise<Result[]>;
  /**
   * Stores a part of the slice ahead of the rest, so that memory stays bounded where a slice cannot be cut. Nothing is
   * covered by it: what a crash leaves is read again.
   */
  commitPart(part: { loads: readonly Load[]; fullRefresh: readonly FullRefreshRange[] }): Promise<void>;
  /** Maps records to rows, for a job that decides by them. */
  map(load: Load): Promise<Mapped>;
  /** Gets records ready as soon as they are there, so that those of many calls are not held in memory together. */
  prepare(load: Load, how?: PrepareOptions): Promise<Prepared>;
  /** A personal value as a column of the warehouse holds it, to find it there again. */
  asStored(table: Table, column: string, value: string): string | null;
  warehouse: WarehouseReader;
  /** A small fact about the service that outlives the run. */
  recall<Fact>(name: string): Promise<Fact | undefined>;
  remember<Fact>(name: string, fact: Fact): Promise<void>;
  /** Done once the slice is committed or has failed. */
  atEnd(work: () => void): void;
  /** Bytes of the address that a call would be sent to. */
  urlBytes<Request, Answer>(endpoint: Endpoint<Request, Answer>, request: Request): number;
  /** Instant at which the slice began; what the service learns later is not covered yet. */
  readAt: string;
  /** Folder for picture files. */
  images: string;
  /** Time zone of local days. */
  timezone: string;
}

/** All that a slice brought; it is committed together or not at all. */
export interface SliceResult {
  loads: readonly (Load | Prepared)[];
  fullRefresh?: readonly FullRefreshRange[];
  /** What is covered now; default: what the slice covers, as far as it had passed when the slice was read. */
  covered?: readonly ScopedInterval[];
  /** Periods that have to be read again although they were covered. */
  invalidated?: readonly ScopedInterval[];
  /** Where records name things by a label that nothing in the warehouse has. */
  unknown?: readonly UnknownName[];
}

/** What a run does. */
export interface Plan<Work> {
  slices: Slice<Work>[];
  /** Invalidates coverage that the slices read again; committed before the first of them, left out in a preview. */
  invalidate?: (tx: Transaction) => Promise<void>;
}

export interface PullDeclaration<Options extends z.ZodObject, Work> {
  /** One sentence for `roadbook jobs` and the documentation. */
  meaning: string;
  /** Cron fields used where the configuration names none. */
  schedule: string;
  /** The job's own options, each with a default. */
  options: Options;
  /** Each table it fills, after the call that brings the records; null where the records are the job's own. */
  into: readonly Into[];
  coverage: CoverageBy;
  /** Keeps the coverage under these options apart from that under others; default: all of it counts. */
  group?(options: z.output<Options>): string;
  plan(context: PlanContext<z.output<Options>>): Promise<Plan<Work>> | Plan<Work>;
  read(slice: Slice<Work>, source: Source, options: z.output<Options>): Promise<SliceResult>;
  /**
   * Smaller slices for one that was too much, or one of smaller calls, by the code of its failure; undefined where it
   * cannot be cut.
   */
  split?(slice: Slice<Work>, code: string): Slice<Work>[] | undefined;
  /** What a run costs when little is new; default: one call, and each record is met once. */
  cost?(options: z.output<Options>, load: Workload): Cost;
  /** Slices in memory at once, for one whose slices make many calls; default: `service.concurrency`. */
  slicesAtOnce?: number;
}

/** A column that holds the id of a row of another table. */
export interface Reference {
  table: Table;
  /** Of the column in a row. */
  position: number;
  to: Table;
  /** Name of the job that pulls that table. */
  job: string;
}

/** A declaration as the engine works with it. */
export interface Pull extends PullDeclaration<z.ZodObject, unknown> {
  references: readonly Reference[];
}
