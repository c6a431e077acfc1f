// Every regular expression of the product against texts that make a careless one take quadratic time or worse: each
// character that it knows, and pairs of them, repeated without the end that it waits for. Those that are put together at
// run time are tried as what they come to. A process of its own, told by its arguments which folders to read, prints
// what was too dear; a linear one takes a thousandth of the limit.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

interface Found {
  where: string;
  source: string;
  flags: string;
}

const LENGTH = 16_000;
const MOST_CPU_MS = 100;
/** What the expressions that are put together at run time come to, by the end of their file's name. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  // A scope with one `%` in it, or none.
  'sync/pull/pull-job.ts': ['^.*$', '^.*categories all$', '^plans$'],
  // The names of the values of a statement.
  'erp/sources/sql.ts': ['::(?=(?:external_code|state|remote_id|message)\\b)'],
};
/** Letters that are tried in pairs. */
const PAIRED = 6;

function expressionsIn(folder: string): Found[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:ts|js)$/.test(name),
  );
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

/** Throws where nobody has said what it comes to. */
function madeIn(where: string): Found[] {
  const [, sources] = Object.entries(MADE).find(([file]) => where.endsWith(file)) ?? [];
  if (sources === undefined) throw new Error(`${where} puts an expression together: add what it comes to`);
  return sources.map((source) => ({ where, source, flags: '' }));
}

/** One character of each class, and those that the expression itself names. */
function lettersOf(source: string): string[] {
  const named = source.replace(/\\[a-zA-Z]/g, '').match(/[^\\^$.*+?()[\]{}|]/g) ?? [];
  return [...new Set(['a', 'Z', '0', ' ', '\n', '.', '-', '"', '\\', '/', ',', ...named])].slice(0, 20);
}

function* pumpsFor(source: string): Generator<string> {
  const letters = lettersOf(source);
  const starts = ['', ...letters.slice(-4)];
  for (const letter of letters) {
    for (const start of starts) yield `${start}${letter.repeat(LENGTH)}\u0001`;
  }
  for (const first of letters.slice(-PAIRED)) {
    for (const second of letters.slice(-PAIRED)) {
      if (first !== second) yield `${(first + second).repeat(LENGTH / 2)}\u0001`;
    }
  }
}

function dearest({ source, flags }: Found): number {
  let most = 0;
  for (const text of pumpsFor(source)) {
    const expression = new RegExp(source, flags);
    const before = process.cpuUsage();
    expression.test(text);
    const { user, system } = process.cpuUsage(before);
    most = Math.max(most, (user + system) / 1_000);
    if (most > MOST_CPU_MS) break;
  }
  return most;
}

if (import.meta.main) {
  const expressions = process.argv.slice(2).flatMap(expressionsIn);
  const dear = expressions
    .map((each) => ({ ...each, ms: Math.round(dearest(each)) }))
    .filter(({ ms }) => ms > MOST_CPU_MS);
  process.stdout.write(JSON.stringify({ expressions: expressions.length, dear }));
}
