// The common part of every command: shared options, plain error messages, exit codes. Data goes to stdout, everything else
// to stderr. With --json stdout gets exactly one document, for a failure too.
import { type Command, Option } from 'commander';
import { type App, openApp } from '../app/app.ts';
import { asRoadbookError, Fatal } from '../core/errors.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../core/log.ts';
import { createRedactor, redactedError } from '../core/text/redaction.ts';
import { terminalText } from '../core/text/terminal-text.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { VERSION } from './version.ts';

export interface CommonOptions {
  config: string;
  json: boolean;
  logLevel: LogLevel;
  logFormat?: LogFormat;
}

/** The action of a command; returns the exit code, default 0. */
export type Action<Options> = (args: string[], options: CommonOptions & Options) => Promise<number | undefined>;

export interface CommandFrame<Options> {
  options?: (command: Command) => Command;
  /** Default log level. Default: silent, for one-shot commands. */
  logLevel?: LogLevel;
  action: Action<Options>;
}

/** For a subcommand. `usage` is its name with its arguments, for example `show <id>`. */
export const addCommand = <Options>(
  parent: Command,
  { usage, summary, ...frame }: CommandFrame<Options> & { usage: string; summary: string },
): Command => defineCommand(parent.command(usage).summary(summary).description(summary), frame);

export function defineCommand<Options>(command: Command, frame: CommandFrame<Options>): Command {
  command
    .option('--config <file>', 'configuration file', 'config/roadbook.yaml')
    .option('--json', 'print one JSON document on stdout', false)
    .addOption(
      new Option('--log-level <level>', 'lowest level of log lines on stderr')
        .choices(LOG_LEVELS)
        .default(frame.logLevel ?? 'silent'),
    )
    .addOption(
      new Option('--log-format <format>', 'form of log lines (default: pretty on a terminal, json elsewhere)').choices(
        LOG_FORMATS,
      ),
    );
  frame.options?.(command);
  return command.action(async (...all: unknown[]) => {
    // commander passes an omitted optional argument as undefined.
    const args = all
      .slice(0, -2)
      .filter((arg) => arg !== undefined)
      .map(String);
    const options = all.at(-2) as CommonOptions & Options;
    try {
      process.exitCode = (await frame.action(args, options)) ?? EXIT.ok;
    } catch (thrown) {
      process.exitCode = reportFailure(thrown, options);
    }
  });
}

/** For a command that needs the application: opens it and always closes it. */
export const withApp =
  <Options>(
    work: (app: App, args: string[], options: CommonOptions & Options) => Promise<number | undefined>,
    { tolerant = false, keepsLog = false } = {},
  ): Action<Options> =>
  async (args, options) => {
    const { config: configFile, logLevel, logFormat = process.stderr.isTTY ? 'pretty' : 'json' } = options;
    const app = await openApp({ configFile, logLevel, logFormat, version: VERSION, tolerant, keepsLog });
    try {
      return await work(app, args, options);
    } catch (thrown) {
      return reportFailure(thrown, options, app);
    } finally {
      await app.close();
    }
  };

function reportFailure(thrown: unknown, { json, logLevel }: CommonOptions, app?: App): number {
  const failure = asRoadbookError(thrown);
  const error = redactedError(failure, app?.redactor ?? createRedactor());
  const faults = (failure as { faults?: unknown }).faults;
  if (json) print(JSON.stringify({ error: { ...error, faults } }, null, 2));
  say(`roadbook: ${error.message}${error.hint === null ? '' : `\n  Try: ${error.hint}`}`);
  if (logLevel === 'debug' || logLevel === 'trace') app?.log.debug({ err: failure }, 'command failed');
  return exitCodeOf(failure.code);
}

/** Prints data to stdout. All output goes through `print` or `say`, which escape control characters. */
export const print = (text: string): void => {
  process.stdout.write(`${terminalText(text)}\n`);
};

/** Prints messages for people to stderr. */
export const say = (text: string): void => {
  process.stderr.write(`${terminalText(text)}\n`);
};

/** The command was called in a way that cannot work; exit code 2. */
export const usageError = (message: string, hint: string): Fatal => new Fatal(message, { code: 'usage', hint });

/** Says once which process is running what the command waits for. */
export const sayWaiting =
  (name: string) =>
  (holder: string): void =>
    say(`${name} is being run by ${holder}; waiting for that run to end. Ctrl-C cancels.`);
