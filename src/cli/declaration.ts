// How a command stands in the help: its name and arguments, what it is for, the options that all have. Loads nothing of
// the application.
import type { Command } from 'commander';

export interface Declaration {
  /** Name and arguments, as in `run <job>`. */
  usage: string;
  summary: string;
}

/** A command that does nothing itself: it holds others. */
export const declareGroup = (parent: Command, { usage, summary }: Declaration): Command =>
  parent.command(usage).summary(summary).description(summary);

export const declareCommand = (parent: Command, declaration: Declaration): Command =>
  declareGroup(parent, declaration)
    .option('--config <file>', 'configuration file', 'config/roadbook.yaml')
    .option('--json', 'print one JSON document on stdout', false);
