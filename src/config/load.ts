// Loads the configuration file: read, parse, expand references, check. The file is valid, or one error lists all faults.
import { readFile, stat } from 'node:fs/promises';
import type { LineCounter } from 'yaml';
import type { Path } from '../core/schema-place.ts';
import { pathText } from '../core/text/zod-words.ts';
import { checkTolerantly, checkTree, offsetOf } from './check.ts';
import { ConfigError, type Fault, fileFault, type OffsetIssue } from './faults.ts';
import { type Config, type ConfigDeclarations, configSchema } from './schema.ts';
import { secretsOf } from './secrets.ts';
import type { Environment } from './yaml/interpolation.ts';
import { readTree } from './yaml/value-tree.ts';
import { readYaml } from './yaml/yaml-source.ts';

export interface LoadedConfig {
  file: string;
  config: Config;
  /** Texts that no log, error or page may show. */
  secrets: string[];
  /** The faults of a file loaded tolerantly; null if it is valid. */
  error: ConfigError | null;
  text: string;
  /** Every key of the file, for example `service`, `erp.agents`, `jobs.pull-events`. */
  parts: ReadonlySet<string>;
  /** The last key that begins a line. */
  lastPart: string;
  /** A fault at the position of a key of this file. */
  faultAt(path: Path, message: string, hint: string): Fault;
}

/** Larger files are rejected unread: the parser would take seconds for a hostile one. */
const MAX_FILE_BYTES = 64 * 1_024;

export const loadConfig = async (
  file: string,
  dependencies: ConfigDeclarations,
  env: Environment,
  options?: { tolerant?: boolean },
): Promise<LoadedConfig> => parseConfig(await readText(file), file, dependencies, env, options);

/** `tolerant` ignores invalid settings instead of rejecting the file, except those of the warehouse. */
export function parseConfig(
  text: string,
  file: string,
  dependencies: ConfigDeclarations,
  env: Environment,
  { tolerant = false }: { tolerant?: boolean } = {},
): LoadedConfig {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw tooLarge(file);
  const { document, lines, issues } = readYaml(text);
  if (issues.length > 0) throw new ConfigError(issues.map(faultIn(file, lines)));
  const tree = readTree(document, env);
  const { config, issues: schemaIssues } = tree.isComplete
    ? checkTree(configSchema(dependencies), tree)
    : { config: undefined, issues: [] };
  const all = [...tree.issues, ...schemaIssues];
  const error = config === undefined || all.length > 0 ? new ConfigError(all.map(faultIn(file, lines))) : null;
  const mayTolerate = tolerant && tree.isComplete && all.every(({ path }) => path[0] !== 'warehouse');
  const usable = error === null ? config : mayTolerate ? checkTolerantly(configSchema(dependencies), tree) : undefined;
  if (usable === undefined) throw error;
  const parts = [...tree.places].map(([path, { key, value }]) => ({ name: partName(path), at: key ?? value }));
  const names = new Set(parts.map(({ name }) => name));
  return {
    file,
    config: { ...usable, jobs: withListed(usable.jobs, names) },
    error,
    secrets: secretsOf(tree, usable),
    text,
    parts: names,
    lastPart: parts.findLast(({ name, at }) => !isItem(name) && beginsLine(text, at))?.name ?? '',
    faultAt: (path, message, hint) =>
      faultIn(file, lines)({ offset: offsetOf(path, tree.places), path, message, hint }),
  };
}

/** Of a list: without one of its items, the others have other numbers. */
const isItem = (name: string): boolean => /(?:^|\.)\d+(?:\.|$)/.test(name);

const beginsLine = (text: string, at: number): boolean => text.slice(text.lastIndexOf('\n', at) + 1, at).trim() === '';

const partName = (path: string): string => (JSON.parse(path) as (string | number)[]).join('.');

const withListed = (jobs: Config['jobs'], parts: ReadonlySet<string>): Config['jobs'] =>
  Object.fromEntries(
    Object.entries(jobs).map(([name, job]) => [name, { ...job, isListed: parts.has(`jobs.${name}`) }]),
  );

const faultIn =
  (file: string, lines: LineCounter) =>
  ({ offset, path, message, hint }: OffsetIssue): Fault => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col), path: shownPath(path), message, hint };
  };

/** Hides a key that contains a space: it may include a value whose colon is missing, as in `password secret: x`. */
const shownPath = (path: Path): string => pathText(path.map((step) => (/\s/.test(String(step)) ? '?' : step)));

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw tooLarge(file);
    // Decodes strictly and drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw unreadable(file, error);
  }
}

function tooLarge(file: string): ConfigError {
  const hint = 'keep data out of the file; a configuration needs only a few KiB';
  return new ConfigError([fileFault(file, 'the file is larger than 64 KiB', hint)]);
}

function unreadable(file: string, error: unknown): ConfigError {
  const code = String((error as NodeJS.ErrnoException).code);
  const [message, hint] = UNREADABLE[code] ?? [`the file cannot be read (${code})`, 'check the file and its folder'];
  return new ConfigError([fileFault(file, message, hint)], error);
}

const UNREADABLE: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOENT: [
    'the file does not exist',
    'name another file with `--config FILE`, run the command in the folder that contains it, or write one with `roadbook init`',
  ],
  EISDIR: ['this is a folder, not a file', 'name the file with `--config FILE`'],
  EACCES: ['permission to read the file is denied', 'give the user who runs the command read permission'],
  ERR_ENCODING_INVALID_ENCODED_DATA: ['the file is not UTF-8 text', 'save it as UTF-8'],
};
