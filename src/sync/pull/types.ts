// What a pull job declares: which slices there are, which calls a slice makes, and into which tables its records
// go. It never sees HTTP, SQL, the machine's clock or its environment.
import type { z } from 'zod';
import type { Endpoint } from '../../fleet/endpoint.ts';
import type { Interval } from '../../warehouse/coverage.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { Table } from '../../warehouse/table.ts';
import type { JobDeclaration, Workload } from '../job.ts';
import type { Slice, UnknownName } from '../slice.ts';
import type { FullRefreshRange, Load, Mapped, Prepared, PrepareOptions } from './records/types.ts';

export interface PlanContext<Options> {
  options: Options;
  /** Milliseconds since the epoch. */
  now: number;
  /** The period that was asked for, instead of the job's own choice. */
  period?: Interval;
  /** The name under which `sync_coverage` keeps what this plan may leave out. */
  coverage: string;
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
  sort(load: Load): Promise<Mapped>;
  /** Gets records ready as soon as they are there, so that those of many calls are not held in memory together. */
  prepare(load: Load, how?: PrepareOptions): Promise<Prepared>;
  /** A personal value as a column of the warehouse holds it, to find it there again. */
  asStored(table: Table, column: string, value: string): string | null;
  warehouse: WarehouseReader;
  /** A small fact about the service that outlives the run. */
  recall<Fact>(name: string): Promise<Fact | undefined>;
  remember<Fact>(name: string, fact: Fact): Promise<void>;
  /** Done once the slice is committed or given up. */
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

/** A period of scopes that is in the warehouse once the result is. */
export interface Covers extends Interval {
  scopes: readonly string[];
}

/** All that a slice brought; it is committed together or not at all. */
export interface SliceResult {
  loads: readonly (Load | Prepared)[];
  fullRefresh?: readonly FullRefreshRange[];
  covers: readonly Covers[];
  /** Periods that have to be read again although they were covered. */
  invalidated?: readonly Covers[];
  /** Where records name things by a label that nothing in the warehouse has. */
  unknown?: readonly UnknownName[];
}

export interface PullDeclaration<Options extends z.ZodObject, Work> extends JobDeclaration<Options> {
  /** Each table it fills and the call that brings its records, for records that are tried again. */
  records: readonly Pick<Load, 'table' | 'endpoint'>[];
  /** Before a run plans: may withdraw coverage, so that it is read again. */
  withdraw?(context: PlanContext<z.output<Options>>, engine: Engine): Promise<void>;
  plan(context: PlanContext<z.output<Options>>): Promise<Slice<Work>[]> | Slice<Work>[];
  read(slice: Slice<Work>, source: Source, options: z.output<Options>): Promise<SliceResult>;
  /** Calls that the slice makes as far as they can be known beforehand, for --dry-run; 1 unless told. */
  calls?(slice: Slice<Work>, context: PlanContext<z.output<Options>>): number;
  /** Those that cannot, in words; undefined where there are none. */
  furtherCalls?(slice: Slice<Work>): string | undefined;
  /** About how many calls a run takes when little is new, for the call budget; 1 unless told. */
  usualCalls?(options: z.output<Options>, load: Workload): number;
  /** About how many runs meet a record before it is left alone, for the work that a daemon has; 1 unless told. */
  usualReadings?(options: z.output<Options>, load: Workload): number;
  /**
   * Smaller slices for one that was too much, or one of smaller calls, by the code of its failure; undefined where it
   * cannot be cut.
   */
  split?(slice: Slice<Work>, code: string): Slice<Work>[] | undefined;
  /** What stays due, however old it becomes, where the slice fails and others do not; nothing unless told. */
  dueAgain?(slice: Slice<Work>): readonly Covers[];
  /** Slices in memory at once, for one whose slices make many calls; `service.concurrency` unless told. */
  slicesAtOnce?: number;
  /** Pattern of the scopes of its coverage that count for freshness, `%` for any words; all of them unless told. */
  trackedScopes?(options: z.output<Options>): string;
  /** The scope of its coverage of one vehicle, `%` for its id; only where it reads by vehicle. */
  vehicleScope?(options: z.output<Options>): string;
  /** That of the drivers of one vehicle; only where it reads by driver. */
  driverScope?(options: z.output<Options>): string;
  /** Columns of its tables that name a row of a dimension, and the job that brings it. */
  mentions?: readonly Mention[];
}

export interface Mention {
  table: Table;
  column: string;
  dimension: Table;
  /** Name of the job that pulls the dimension. */
  job: string;
}

export type AnyPull = PullDeclaration<z.ZodObject, unknown>;
