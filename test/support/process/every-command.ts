// Every command of the program, by the program's own list, and arguments with which each does its work in a place that
// has a rejected plan, records in quarantine and a webhook. A command without arguments here fails the test that asks.
import { Command } from 'commander';
import { declareCommands, loadCommand } from '../../../src/cli/program.ts';

/** Commands that change something come after those that read it. `quarantined` is the id of a record. */
export const commandsWith = (quarantined: string): Readonly<Record<string, readonly string[]>> => ({
  run: ['pull-vehicles'],
  backfill: ['pull-events', '--from', '2026-01-05', '--to', '2026-01-06'],
  jobs: ['--next', '2'],
  'jobs pause': ['pull-events'],
  'jobs resume': ['pull-events'],
  'jobs run-now': ['pull-vehicles'],
  status: [],
  'quarantine list': [],
  'quarantine show': [quarantined],
  'quarantine retry': [],
  'outbox list': [],
  'outbox show': ['P1'],
  'outbox retry': ['P1'],
  'outbox cancel': ['P1'],
  'outbox acknowledge': ['P1'],
  verify: ['--sample', '2'],
  'report missing-proof': [],
  init: ['--yes', '--force', '--config', 'made.yaml'],
  'erp check': [],
  'erp template': ['--out', 'sample.csv'],
  doctor: ['--alert'],
  'support-bundle': ['--out', 'bundle.zip'],
  'config check': [],
  'config schema': [],
  plan: ['--vehicles', '10'],
  tables: [],
  export: ['--format', 'csv', '--out', 'out', '--full'],
  backup: ['--out', 'backup.db', '--force'],
  start: [],
  sandbox: ['--port', '0'],
});

/** These run until they are stopped. */
export const SERVING: readonly string[] = ['start', 'sandbox'];

/** As the help has them, those inside others with both words. */
export async function commandNames(): Promise<string[]> {
  const names: string[] = [];
  const program = new Command();
  declareCommands(program);
  for (const command of program.commands) {
    await loadCommand(command);
    // Only a command that does something has options.
    if (command.options.length > 0) names.push(command.name());
    names.push(...command.commands.map((inner) => `${command.name()} ${inner.name()}`));
  }
  return names;
}
