// docs/reference/commands.md, made of the same declarations as `--help`.
import { Command, type Option } from 'commander';
import { declareCommands, loadCommand } from '../../src/cli/program.ts';

const HEAD = `# Commands

Written by \`npm run docs\` from the declarations behind \`--help\`.

Call a command as \`npx roadbook <command>\`. Data goes to stdout; messages and logs go to stderr.

## Options of every command

| option | meaning | default |
|---|---|---|
| \`--config <file>\` | configuration file | \`config/roadbook.yaml\` |
| \`--json\` | print one JSON document on stdout, and nothing else there | off |
| \`--log-level <level>\` | least important log line on stderr: trace, debug, info, warn, error, silent | \`silent\`; \`info\` for \`start\` |
| \`--log-format <format>\` | form of log lines: json, pretty | pretty on a terminal, json elsewhere |
| \`--help\` | display the help of the command | |

## Exit codes

| code | meaning |
|---|---|
| 0 | ok |
| 1 | the run failed |
| 2 | wrong usage: unknown command, option or argument |
| 3 | the configuration is wrong |
| 4 | the service rejected the login |
| 5 | partial: some slices failed, records were quarantined, a push needs a person, or items of a feed cannot be sent; the rest is safe. Also: \`verify\` found a final row that differs or compared nothing of a table that was named, \`quarantine retry\` could not load every record |
| 75 | temporary: the service, the warehouse or the ERP cannot be reached or is busy; try again later |
| 130 | stopped at once by a second signal |

\`status\` ends with 0 whatever the health, and \`doctor\` if it only warns: a script asks \`/readyz\`, or \`roadbook_healthy\` of \`/metrics\`.

## Signals of \`start\`

| signal | effect |
|---|---|
| first SIGTERM or SIGINT | no further runs; running jobs get up to 25 seconds to finish; exit code 0 |
| second SIGTERM or SIGINT | stops at once; exit code 130 |
| SIGHUP | reads the configuration again; once the terminal of the daemon is closed, the same as SIGTERM |

Other long-running commands end on SIGHUP too.`;

const COMMON = new Set(['--config', '--json', '--log-level', '--log-format', '--help']);

export async function commandsPage(): Promise<string> {
  const program = new Command('roadbook');
  const sections: string[] = [];
  declareCommands(program);
  for (const command of program.commands) {
    await loadCommand(command);
    sections.push(...sectionsOf(command, 'roadbook'));
  }
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

/** The command itself, then the commands inside it. */
function sectionsOf(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const inner = command.commands.filter((each) => each.name() !== 'help');
  const usage = [name, ...command.registeredArguments.map(argumentOf)].join(' ');
  const own = [
    `${parent === 'roadbook' ? '##' : '###'} ${name}`,
    `${sentence(command.summary())}`,
    ...(isGroup(command) ? [`Commands: ${inner.map((each) => `\`${each.name()}\``).join(', ')}.`] : [`\`${usage}\``]),
    ...optionsOf(command),
  ];
  return [own.join('\n\n'), ...inner.flatMap((each) => sectionsOf(each, name))];
}

/** Only a command that does something has the options of every command. */
const isGroup = (command: Command): boolean => !command.options.some(({ long }) => long === '--config');

const argumentOf = (argument: Command['registeredArguments'][number]): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

function optionsOf(command: Command): string[] {
  const own = command.options.filter(({ long }) => !COMMON.has(long ?? ''));
  if (own.length === 0) return [];
  return [['| option | meaning | default |', '|---|---|---|', ...own.map(rowOf)].join('\n')];
}

function rowOf({ flags, description, argChoices, defaultValue, mandatory }: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  return `| \`${flags}\` | ${cell(`${description}${choices}`)} | ${mandatory ? 'required' : defaultOf(defaultValue)} |`;
}

function defaultOf(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '';
  return value === false ? 'off' : `\`${String(value)}\``;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
