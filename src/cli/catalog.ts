// Every command, in the order of the help. What it does is loaded when it is named: no start waits for the parts of
// another command, nor keeps them in memory.
import type { Command } from 'commander';
import type { Declaration } from './declaration.ts';

/** Gives a declared command its options and its work, or its commands. */
export type Fill = (command: Command) => unknown;

export interface CatalogEntry extends Declaration {
  /** It only holds other commands. */
  isGroup?: true;
  load(): Promise<Fill>;
}

export const CATALOG: readonly CatalogEntry[] = [
  {
    usage: 'start',
    summary: 'the daemon: runs the jobs on their schedules until it is stopped',
    load: async () => (await import('./start.ts')).fillStart,
  },
  {
    usage: 'run <job>',
    summary: 'one run now; prints the run summary',
    load: async () => (await import('./run.ts')).fillRun,
  },
  {
    usage: 'backfill <job>',
    summary: 'pulls a past range, with progress; goes on where it was cut',
    load: async () => (await import('./backfill.ts')).fillBackfill,
  },
  {
    usage: 'jobs',
    summary: 'every job: schedule, last run, next ticks; pause, resume, run-now',
    load: async () => (await import('./jobs.ts')).fillJobs,
  },
  {
    usage: 'status',
    summary: 'health of each job, freshness of each table, outbox and quarantine counts',
    load: async () => (await import('./status.ts')).fillStatus,
  },
  {
    usage: 'outbox',
    summary: 'what was pushed, what needs a person, what was rejected and why',
    isGroup: true,
    load: async () => (await import('./outbox.ts')).fillOutbox,
  },
  {
    usage: 'quarantine',
    summary: 'records that did not fit: list, show, retry',
    isGroup: true,
    load: async () => (await import('./quarantine.ts')).fillQuarantine,
  },
  {
    usage: 'doctor',
    summary: 'checks configuration, machine, warehouse, login, clock, ERP and alerts; says what to do',
    load: async () => (await import('./doctor.ts')).fillDoctor,
  },
  {
    usage: 'config',
    summary: 'the configuration file',
    isGroup: true,
    load: async () => (await import('./config.ts')).fillConfig,
  },
  {
    usage: 'plan',
    summary: 'what a fleet of some size takes: calls, rows, disk, daemons',
    load: async () => (await import('./plan.ts')).fillPlan,
  },
  {
    usage: 'tables',
    summary: 'the data dictionary',
    load: async () => (await import('./tables.ts')).fillTables,
  },
  {
    usage: 'export',
    summary: 'tables and views as files for BI; into the same folder again, only what changed',
    load: async () => (await import('./export.ts')).fillExport,
  },
  {
    usage: 'backup',
    summary: 'a consistent copy of the warehouse, while the daemon works',
    load: async () => (await import('./backup.ts')).fillBackup,
  },
  {
    usage: 'sandbox',
    summary: 'the simulated service alone, for trying an ERP integration',
    load: async () => (await import('./sandbox.ts')).fillSandbox,
  },
];
