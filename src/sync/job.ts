// What every job is, whichever way its data goes: a declaration, and a way to carry out one run or to say what
// a run would do. pull and its siblings make one from what a file in jobs/ declares.
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
  /** Cron fields used where the configuration names none. */
  schedule: string;
  /** The job's own options, each with a default. */
  options: Options;
  /** The tables it fills. */
  tables: readonly Table[];
  /** Jobs that have to have run once before it: what it asks for is taken from their tables. */
  needs?: readonly string[];
}

/** What a run is made with. */
export interface RunContext {
  /** Name of the job. */
  job: string;
  runId: string;
  /** The job's own options, validated. */
  options: Record<string, unknown>;
  /** The period that was asked for; the job's own choice unless told. */
  period?: AskedPeriod;
  /** The lease under which the run is made. */
  lease?: Lease;
  /** Counted up while the run goes on. */
  counts: RunCounts;
  dependencies: SyncDependencies;
  log: Log;
  /** Aborts when the run has to end where it stands. */
  signal: AbortSignal;
  /** Aborts earlier, when nothing new is to be begun. */
  draining?: AbortSignal;
  /** Told after each slice, for a progress bar. */
  onProgress?: (done: number, all: number) => void;
}

/** How a run went; failures in the order they happened. */
export interface RunOutcome {
  failures: RoadbookError[];
  /** Some of the work is done and safe. */
  worked: boolean;
  /** Jobs that should run next because this one met things that they would have brought. */
  wants?: readonly string[];
}

/** One line of what a run would do. */
export interface Preview {
  what: string;
  detail: unknown;
  /** Calls of the service that it would take, retries aside; at least where `further` is told, unknown where absent. */
  calls?: number;
  /** Calls that cannot be known beforehand, in words. */
  further?: string;
}

/** What an estimate of calls is made from. */
export interface Workload {
  vehicles: number;
  /** From one tick to the next, ms. */
  periodMs: number;
  /** Route plans a vehicle and day; 1 unless told. */
  plansADay?: number;
  /** Checklists a vehicle and day; 1 unless told. */
  checklistsADay?: number;
  /** New pictures a vehicle and day; none unless told. */
  picturesADay?: number;
}

/** What a run takes. */
export interface Cost {
  /** Calls of the service when little is new, for the call budget. */
  calls: number;
  /** Runs that meet a record before it is left alone, for the work that a daemon has; default 1. */
  readings?: number;
}

/** The call that brings records, null where a job makes them itself, and the table that they go to. */
export type Into = readonly [endpoint: RecordFields | null, table: Table];

export interface Job extends JobDeclaration {
  /** About what a run costs; default: one call. */
  cost?(options: Record<string, unknown>, load: Workload): Cost;
  /** Each table that a pull fills and the call that brings its records, for records that are tried again. */
  into?: readonly Into[];
  /** The scopes of its coverage; only a pull has any. */
  scopes?(options: Record<string, unknown>): CoverageScopes;
  execute(context: RunContext): Promise<RunOutcome>;
  /** Works one slice of a run that another process may have planned; only a pull has slices. */
  workSlice?(slice: Slice, context: RunContext): Promise<SliceOutcome>;
  /** Its slices at once in one process; as many as the process works unless told. */
  slicesAtOnce?: number;
  /** For --dry-run: says what would be done and does none of it. */
  preview(context: Pick<RunContext, 'job' | 'options' | 'period' | 'dependencies'>): Promise<Preview[]>;
}

/** A job with the name of its file. */
export interface NamedJob extends Job {
  name: string;
}
