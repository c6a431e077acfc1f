// Every regular expression of the product against texts that make a careless one take quadratic time or worse. They are
// made of the expression itself: a text that matches the part before each repetition, then one that matches the repeated
// part, or both again and again, without the end that it waits for. Expressions built at run time are tried as listed
// below. A process of its own reads the folders of its arguments and prints the expressions that took too long; a linear
// one takes a hundredth of the limit, on a slow machine a few of them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { repetitionsIn, textOf, treeOf } from './regex-tree.ts';

interface Found {
  where: string;
  source: string;
  flags: string;
}

/** Few enough at first that one of exponential time ends. */
const TIMES = [4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 31, 34, 40, 48, 57, 68, 82, 100, 300, 1_000];
/** Characters; the next length is tried where the last one took longer than a linear expression does. */
const LENGTHS = [16_000, 32_000, 64_000, 256_000];
const SUSPECT_MS = 4;
const MOST_MS = 100;
/** The expressions that are built at run time, by the end of their file's name. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  // A scope with one `%` in it, or none.
  'sync/pull/plan/scopes.ts': ['^.*$', '^.*categories all$', '^plans$'],
  // A date as it is written.
  'erp/rows/written-values.ts': [
    String.raw`^(?<d>\d{1,2})[/. -](?<m>\d{1,2})[/. -](?<y>\d{4})(?:[ T]+(?<rest>\d.*))?$`,
  ],
  // A sentence with each kind of part.
  'status/page/texts/said.js': [
    '^(?<code>.{1,500}) is (?<state>.{1,500}): there is nothing to assert$',
    '^Accepted in part; (?<n>\\d{1,16}) rejected; (?<reasons>.{1,500})$',
  ],
  // The names of the values of a statement.
  'erp/sql/statements.ts': [
    '::(?=(?:external_code|period_start|state|remote_id|message)\\b)',
    '::(?=(?:plan_external_code|plan_period_start|point_external_code|status|executed_at|reason|pictures)\\b)',
  ],
};
/** Letters that are tried in pairs. */
const PAIRED = 6;

function expressionsIn(folder: string): Found[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:ts|js)$/.test(name));
  return files.flatMap((name) => {
    const lang = name.endsWith('.ts') ? 'ts' : 'js';
    const found: Found[] = [];
    collect(parseAst(readFileSync(join(folder, name), 'utf8'), { lang }, name), `${folder}/${name}`, found);
    return found;
  });
}

function collect(node: unknown, where: string, found: Found[]): void {
  if (Array.isArray(node)) for (const each of node) collect(each, where, found);
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
  const { regex } = node as { regex?: { pattern: string; flags: string } };
  if (regex !== undefined) found.push({ where, source: regex.pattern, flags: regex.flags });
  if (isMade(node)) found.push(...madeIn(where));
  for (const value of Object.values(node)) if (typeof value === 'object') collect(value, where, found);
}

const isMade = (node: object): boolean => {
  const { type, callee } = node as { type?: string; callee?: { type: string; name?: string } };
  return (type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp';
};

/** Throws where `MADE` lacks the file. */
function madeIn(where: string): Found[] {
  const [, sources] = Object.entries(MADE).find(([file]) => where.endsWith(file)) ?? [];
  if (sources === undefined) throw new Error(`${where} puts an expression together: add what it comes to`);
  return sources.map((source) => ({ where, source, flags: '' }));
}

const ENDS = ['\u0001', '\n'];

/** A repeated text, after a start that stands once. */
interface Pump {
  start: string;
  repeated: string;
}

/** Every repetition of the expression by itself, and everything up to it again and again, joined by its own characters. */
function pumpsFor({ source, flags }: Found): Pump[] {
  const tree = treeOf(source, flags);
  const pumps = new Map<string, Pump>();
  const add = (start: string, repeated: string): void => {
    if (repeated !== '') pumps.set(JSON.stringify([start, repeated]), { start, repeated });
  };
  const joints = ['', ...jointsOf(source)];
  for (const { before, part, least } of repetitionsIn(tree)) {
    for (const [nth, isWhole] of VARIANTS) {
      const once = textOf(part, nth, isWhole);
      for (const start of before) {
        add(start, once);
        for (const joint of joints) add('', start + once.repeat(Math.max(least, 1)) + joint);
      }
    }
  }
  const letters = lettersOf(source);
  for (const letter of letters) for (const start of ['', ...letters.slice(-4)]) add(start, letter);
  for (const first of letters.slice(-PAIRED)) {
    for (const second of letters.slice(-PAIRED)) if (first !== second) add('', first + second);
  }
  return [...pumps.values()];
}

/** Letters and branches of a part, each with what may be left out and without. */
const VARIANTS = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((nth) => [[nth, false] as const, [nth, true] as const]);

/** One character of each class, and those that the expression itself names. */
function lettersOf(source: string): string[] {
  const named = source.replace(/\\[a-zA-Z]/g, '').match(/[^\\^$.*+?()[\]{}|]/g) ?? [];
  return [...new Set(['a', 'Z', '0', ' ', '\n', '.', '-', '"', '\\', '/', ',', ...named])].slice(0, 20);
}

/** What may stand between two beginnings: the marks that the expression names, and a few others. */
const jointsOf = (source: string): string[] => [
  ...new Set([
    ...lettersOf(source)
      .filter((letter) => !/\w/.test(letter))
      .slice(-4),
    ' ',
    '-',
    '\n',
  ]),
];

/** By the clock, which never shows too little; beyond the limit by CPU time, since the machine may be busy with others. */
function msOf(work: () => unknown): number {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  work();
  const ms = performance.now() - before;
  if (ms <= MOST_MS) return ms;
  const { user, system } = process.cpuUsage(cpuBefore);
  return (user + system) / 1_000;
}

/** The dearest text; longer ones are tried where the short ones say that it is worth it. */
function dearest(found: Found): number {
  const expression = new RegExp(found.source, found.flags.replace('y', ''));
  const tried = (text: string): number =>
    msOf(() => (expression.global ? text.replace(expression, '') : expression.test(text)));
  let most = 0;
  for (const { start, repeated } of pumpsFor(found)) {
    for (const end of ENDS) {
      for (const times of TIMES) {
        most = Math.max(most, tried(start + repeated.repeat(times) + end));
        if (most > MOST_MS) return most;
      }
      for (const length of LENGTHS) {
        const ms = tried(start + repeated.repeat(length / repeated.length) + end);
        most = Math.max(most, ms);
        if (most > MOST_MS) return most;
        if (ms < SUSPECT_MS) break;
      }
    }
  }
  return most;
}

if (import.meta.main) {
  const expressions = process.argv.slice(2).flatMap(expressionsIn);
  const dear = expressions.map((each) => ({ ...each, ms: Math.round(dearest(each)) })).filter(({ ms }) => ms > MOST_MS);
  process.stdout.write(JSON.stringify({ expressions: expressions.length, dear }));
}
