// The contract of every job, pull or push: a declaration, one function that executes a run and one that previews it.
// Each file in jobs/ declares one job; `pull` and `pushJob` build the job from the declaration.
import type { z } from 'zod';
import type { RoadbookError } from '../core/errors.ts';
import type { RunCounts } from '../core/glossary.ts';
import type { Log } from '../core/log.ts';
import type { RecordFields } from '../fleet/endpoint.ts';
import type { Lease } from '../warehouse/control/leases.ts';
import type { Table } from '../warehouse/schema/table.ts';
import type { SyncDependencies } from './dependencies.ts';
import type { CoverageScopes } from './pull/plan/scopes.ts';
import type { AskedPeriod, Slice, SliceOutcome } from './slice.ts';

export interface JobDeclaration<Options extends z.ZodObject = z.ZodObject> {
  /** One sentence for `roadbook jobs` and the documentation. */
  meaning: string;
  /** Default schedule, as cron fields. */
  schedule: string;
  /** The job's own options, each with a default. */
  options: Options;
  /** The tables that the job fills. */
  tables: readonly Table[];
  /** Jobs that must have succeeded once before this one: it reads the ids for its calls from their tables. */
  needs?: readonly string[];
}

export interface RunContext {
  job: string;
  runId: string;
  /** The job's own options, validated. */
  options: Record<string, unknown>;
  /** The requested period; default: the job decides. */
  period?: AskedPeriod;
  /** The lease that the run holds. */
  lease?: Lease;
  /** Incremented during the run. */
  counts: RunCounts;
  dependencies: SyncDependencies;
  log: Log;
  /** Aborts when the run must stop at once. */
  signal: AbortSignal;
  /** Aborts earlier, when the run must not start new work. */
  draining?: AbortSignal;
  /** Called after each slice, for a progress bar. */
  onProgress?: (done: number, all: number) => void;
  /** Every job, for a job that works on others. */
  jobs?: JobLookup;
  /** Compares slices with the warehouse instead of loading them; pulls only. */
  comparing?: Comparing;
  /** Calls to the service that the slice may still make; default: no limit. */
  callsLeft?: { count: number };
}

export interface JobLookup {
  names: readonly string[];
  /** A job by name, with its own options; undefined if no job has the name. */
  find(name: string): { job: NamedJob; options: Record<string, unknown>; enabled?: boolean } | undefined;
}

export interface Comparing {
  /** Stores what was read where it differs; default: nothing is stored. */
  repair: boolean;
  /** By table, the ids of records that are left out, because every run reads them by id. */
  open: ReadonlyMap<string, ReadonlySet<string>>;
  /** Gets the result of a slice, with an entry for each table. */
  take(found: readonly Comparison[]): void;
}

/** The rows that a slice read, compared with the stored rows of a table. */
export interface Comparison {
  table: string;
  equal: number;
  differing: number;
  /** Rows of the service that the warehouse does not have, or has marked as missing. */
  missingHere: number;
  /** Stored rows that the service does not have. */
  missingThere: number;
  /** How many rows differ, by column. */
  columns: Record<string, number>;
}

/** How a run ended. The first failure is the error of the run. */
export interface RunOutcome {
  failures: RoadbookError[];
  /** At least some of the work is done and stored. */
  worked: boolean;
  /** Jobs that should run next: they pull rows that this run referenced and the warehouse does not have. */
  followUpJobs?: readonly string[];
}

/** One line of a dry run. */
export interface Preview {
  what: string;
  detail: unknown;
  /** Calls to the service without retries; a minimum if `further` is set, unknown if absent. */
  calls?: number;
  /** Describes the calls that cannot be counted in advance. */
  further?: string;
}

/** Input for an estimate of calls. */
export interface Workload {
  vehicles: number;
  /** From one tick to the next, ms. */
  periodMs: number;
  /** Route plans per vehicle and day; default 1. */
  plansADay?: number;
  /** Checklists per vehicle and day; default 1. */
  checklistsADay?: number;
  /** New pictures per vehicle and day; default 0. */
  picturesADay?: number;
}

/** Estimated cost of a run. */
export interface Cost {
  /** Calls to the service when little is new, for the call budget. */
  calls: number;
  /** How many runs read the same record before it is out of reach, to estimate a daemon's load; default 1. */
  readsPerRecord?: number;
}

/** The call that returns the records (null if the job makes them itself), and the table that they are loaded into. */
export type Into = readonly [endpoint: RecordFields | null, table: Table];

export interface Job extends JobDeclaration {
  /** Estimated cost of a run; default: one call. */
  cost?(options: Record<string, unknown>, load: Workload): Cost;
  /** Each table that a pull fills, with the call that returns its records; used to retry quarantined records. */
  into?: readonly Into[];
  /** The scopes of the job's coverage; pulls only. */
  scopes?(options: Record<string, unknown>): CoverageScopes;
  execute(context: RunContext): Promise<RunOutcome>;
  /** A failed run waits for the next tick: another run would read something else. */
  isNotRetried?: true;
  /** The slices that a run has; pulls only. */
  slices?(context: PreviewContext): Promise<Slice[]>;
  /** Reads one slice of a run that another process may have planned; pulls only. */
  workSlice?(slice: Slice, context: RunContext): Promise<SliceOutcome>;
  /** Most slices of this job at once in one process; default: the limit of the process. */
  slicesAtOnce?: number;
  /** For --dry-run: describes a run without executing it. */
  preview(context: PreviewContext): Promise<Preview[]>;
}

export type PreviewContext = Pick<RunContext, 'job' | 'options' | 'period' | 'dependencies' | 'jobs'>;

/** A job, named after its file. */
export interface NamedJob extends Job {
  name: string;
}
