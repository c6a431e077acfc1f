// The command line: one file a command, put together here.
import { Command, CommanderError } from 'commander';
import { addBackfill } from './backfill.ts';
import { addBackup } from './backup.ts';
import { currentExitCode } from './command.ts';
import { addConfig } from './config.ts';
import { addDoctor } from './doctor.ts';
import { EXIT } from './exit-codes.ts';
import { addExport } from './export.ts';
import { addJobs } from './jobs.ts';
import { addOutbox } from './outbox.ts';
import { addPlan } from './plan.ts';
import { addQuarantine } from './quarantine.ts';
import { addRun } from './run.ts';
import { addSandbox } from './sandbox.ts';
import { addStart } from './start.ts';
import { addStatus } from './status.ts';
import { addTables } from './tables.ts';
import { VERSION } from './version.ts';

const COMMANDS = [
  addStart,
  addRun,
  addBackfill,
  addJobs,
  addStatus,
  addOutbox,
  addQuarantine,
  addDoctor,
  addConfig,
  addPlan,
  addTables,
  addExport,
  addBackup,
  addSandbox,
];

export async function main(argv: readonly string[]): Promise<number> {
  const program = new Command('roadbook')
    .description('Sync daemon between an ERP, a fleet and delivery-route service, and a SQL warehouse.')
    .version(VERSION)
    .showHelpAfterError('(add --help for the options)')
    .showSuggestionAfterError()
    .exitOverride()
    // An option belongs to the command that it stands behind.
    .enablePositionalOptions()
    .helpCommand(false);
  for (const add of COMMANDS) add(program);
  try {
    await program.parseAsync([...argv]);
    return currentExitCode();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}
