// Every command, in the order of the help. The code of a command is loaded only when it is called, which keeps the start
// fast and the memory small.
import type { Command } from 'commander';
import type { Declaration } from './declaration.ts';

/** Adds the options and the action of a declared command, or its subcommands. */
export type DefineCommand = (command: Command) => unknown;

export interface CatalogEntry extends Declaration {
  /** The command has only subcommands. */
  isGroup?: true;
  load(): Promise<DefineCommand>;
}

export const CATALOG: readonly CatalogEntry[] = [
  {
    usage: 'start',
    summary: 'starts the daemon: runs the jobs on their schedules until it is stopped',
    load: async () => (await import('./start.ts')).defineStart,
  },
  {
    usage: 'run <job>',
    summary: 'runs one job now; prints the run summary',
    load: async () => (await import('./run.ts')).defineRun,
  },
  {
    usage: 'backfill <job>',
    summary: 'pulls a past range, with progress; continues where it was interrupted',
    load: async () => (await import('./backfill.ts')).defineBackfill,
  },
  {
    usage: 'jobs',
    summary: 'shows every job: schedule, last run, next ticks; pause, resume, run-now',
    load: async () => (await import('./jobs.ts')).defineJobs,
  },
  {
    usage: 'status',
    summary: 'shows the health of each job, the freshness of each table, outbox and quarantine counts',
    load: async () => (await import('./status.ts')).defineStatus,
  },
  {
    usage: 'outbox',
    summary: 'items to push: list, show, retry, cancel',
    isGroup: true,
    load: async () => (await import('./outbox.ts')).defineOutbox,
  },
  {
    usage: 'quarantine',
    summary: 'invalid records: list, show, retry',
    isGroup: true,
    load: async () => (await import('./quarantine.ts')).defineQuarantine,
  },
  {
    usage: 'doctor',
    summary: 'checks configuration, machine, warehouse, login, clock, ERP and alerts; suggests what to do',
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  {
    usage: 'config',
    summary: 'the configuration file: check, schema',
    isGroup: true,
    load: async () => (await import('./config.ts')).defineConfig,
  },
  {
    usage: 'plan',
    summary: 'estimates the capacity that a fleet needs: calls, rows, disk, daemons',
    load: async () => (await import('./plan.ts')).definePlan,
  },
  {
    usage: 'tables',
    summary: 'prints the data dictionary',
    load: async () => (await import('./tables.ts')).defineTables,
  },
  {
    usage: 'export',
    summary: 'exports tables and views as files for BI; into the same folder again, only the changes',
    load: async () => (await import('./export.ts')).defineExport,
  },
  {
    usage: 'backup',
    summary: 'makes a consistent copy of the warehouse while the daemon runs',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    usage: 'sandbox',
    summary: 'starts only the simulated service, to try an ERP integration',
    load: async () => (await import('./sandbox.ts')).defineSandbox,
  },
];
