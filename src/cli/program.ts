// The command line: declares every command of the catalog and loads the code of the called one before its options are parsed.
import { Command, CommanderError } from 'commander';
import { CATALOG, type CatalogEntry } from './catalog.ts';
import { declareCommand, declareGroup } from './declaration.ts';
import { EXIT } from './output/exit-codes.ts';
import { VERSION } from './version.ts';

/** Runs the command and sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('roadbook')
    .description('Sync daemon between an ERP, a fleet and delivery-route service, and a SQL warehouse.')
    .version(VERSION)
    .showHelpAfterError('(add --help to see the options)')
    .showSuggestionAfterError()
    .exitOverride()
    // An option belongs to the command that it follows.
    .enablePositionalOptions()
    .helpCommand(false);
  const entries = new Map<Command, CatalogEntry>();
  for (const entry of CATALOG) {
    const declare = entry.isGroup ? declareGroup : declareCommand;
    entries.set(declare(program, entry), entry);
  }
  program.hook('preSubcommand', async (_program, named) => {
    const define = await entries.get(named)?.load();
    define?.(named);
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}
