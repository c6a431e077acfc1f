// The command line. The help needs only the list of commands; the code of a command, in the file of its name, is loaded when
// it is called, before its options are parsed. This keeps the start fast and the memory small.
import { Command, CommanderError } from 'commander';
import { EXIT } from './output/exit-codes.ts';
import { VERSION } from './version.ts';

/** Usage and summary of every command, in the order of the help. */
const COMMANDS: readonly (readonly [usage: string, summary: string])[] = [
  ['init', 'asks for service, warehouse and ERP feed, tries each, writes a commented configuration'],
  ['start', 'starts the daemon: runs the jobs on their schedules until it is stopped'],
  ['run <job>', 'runs one job now; prints the run summary'],
  ['backfill <job>', 'pulls a past range, with progress; continues where it was interrupted'],
  ['jobs', 'shows every job: schedule, last run, next ticks; pause, resume, run-now'],
  ['status', 'shows the health of each job, the freshness of each table, outbox and quarantine counts'],
  ['outbox', 'items to push: list, show, retry, cancel, acknowledge'],
  ['quarantine', 'invalid records: list, show, retry'],
  ['verify', 'reads a sample of past days again, compares it with the warehouse; --repair corrects what differs'],
  ['erp', 'files and feeds of the ERP: check, template'],
  ['doctor', 'checks configuration, machine, warehouse, login, clock, ERP and alerts; suggests what to do'],
  ['support-bundle', 'makes an archive for a ticket, without secrets, tax numbers, plates and e-mail addresses'],
  ['config', 'the configuration file: check, schema'],
  ['plan', 'estimates the capacity that a fleet needs: calls, rows, disk, daemons'],
  ['report', 'lists for people: missing-proof'],
  ['tables', 'prints the data dictionary'],
  ['export', 'exports tables and views as files for BI; into the same folder again, only the changes'],
  ['backup', 'makes a consistent copy of the warehouse while the daemon runs'],
  ['sandbox', 'starts only the simulated service, to try an ERP integration'],
];

export function declareCommands(program: Command): void {
  for (const [usage, summary] of COMMANDS) program.command(usage).summary(summary).description(summary);
}

/** Adds the options and the action of a declared command, or its subcommands. */
export async function loadCommand(command: Command): Promise<void> {
  const { define } = (await import(new URL(`${command.name()}.ts`, import.meta.url).href)) as {
    define(command: Command): void;
  };
  define(command);
}

export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('roadbook')
    .description('Sync daemon between an ERP, a fleet and delivery-route service, and a SQL warehouse.')
    .version(VERSION)
    .showHelpAfterError('(add --help to see the options)')
    .showSuggestionAfterError()
    .exitOverride()
    // An option belongs to the command that it follows.
    .enablePositionalOptions()
    .helpCommand(false)
    .hook('preSubcommand', (_program, named) => loadCommand(named));
  declareCommands(program);
  try {
    await program.parseAsync(withHelpOption(argv));
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error.exitCode !== 0 && argv.includes('--json')) {
      const message = error.message.replace(/^error: /, '');
      const document = { error: { code: 'usage', message, hint: 'Add --help to see the options.' } };
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    }
  }
}

/** `help run` means `run --help`. */
function withHelpOption([node = '', file = '', first, ...others]: readonly string[]): string[] {
  const words = first === 'help' ? [...others, '--help'] : first === undefined ? [] : [first, ...others];
  return [node, file, ...words];
}
