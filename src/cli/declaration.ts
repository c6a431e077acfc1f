// Declares a command for the help: name, arguments, summary and common options. Must not import the application, so that the
// help stays fast.
import type { Command } from 'commander';

export interface Declaration {
  /** Name and arguments, for example `run <job>`. */
  usage: string;
  summary: string;
}

/** A command that has only subcommands. */
export const declareGroup = (parent: Command, { usage, summary }: Declaration): Command =>
  parent.command(usage).summary(summary).description(summary);

export const declareCommand = (parent: Command, declaration: Declaration): Command =>
  declareGroup(parent, declaration)
    .option('--config <file>', 'configuration file', 'config/roadbook.yaml')
    .option('--json', 'print one JSON document on stdout', false);
