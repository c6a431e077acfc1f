// Joins the modules of the page and its packages into one script, so that a cold load takes one request and not thirty.
// There is no build step: the server does this once, when it reads the files. Each module becomes a function that returns
// its exports. A module begins with its imports; its exports stand at the start of a line, as the
// formatter writes them. A package lists its exports at its end, or has a default one.
import { readFileSync } from 'node:fs';

const DECLARED = /^export (?<words>(?:const|let|class|(?:async )?function\*?) (?<name>\w+))/gm;
const LIST = 'export{';
const DEFAULT = 'export default ';

/** The script of `entry` and of everything that it imports. Its default export has those of `entry`. */
export function bundle(entry: URL): string {
  const numbers = new Map<string, number>();
  const functions: string[] = [];

  function add(url: URL): number {
    const known = numbers.get(url.href);
    if (known !== undefined) return known;
    const { imports, rest } = splitImports(onlyCode(readFileSync(url, 'utf8')));
    const declarations = imports.map(({ names, from }) => {
      const target = from.startsWith('.') ? new URL(from, url) : new URL(import.meta.resolve(from));
      return imported(names, `module${add(target)}`);
    });
    const { body, exported } = splitExports(rest);
    const number = functions.length;
    numbers.set(url.href, number);
    const text = [...declarations, body, `return { ${exported.join(', ')} };`].join('\n');
    functions.push(`const module${number} = (() => {\n${text}\n})();\n`);
    return number;
  }

  const last = add(entry);
  return `${functions.join('')}export default module${last};\n`;
}

/** Of a type, within a line. */
const TYPE = /\/\*\* @type \{[^*]*\} \*\/ /g;

/** Without comments and indentation: the browser need not receive them. No text of the page depends on its indentation. */
function onlyCode(text: string): string {
  let isInside = false;
  const isCode = (line: string): boolean => {
    const words = line.trim();
    const isComment =
      isInside || words.startsWith('//') || (words.startsWith('/*') && !words.slice(0, -2).includes('*/'));
    if (isInside || words.startsWith('/*')) isInside = !words.includes('*/');
    return !isComment;
  };
  return text
    .split('\n')
    .filter(isCode)
    .map((line) => line.trimStart().replaceAll(TYPE, ''))
    .join('\n');
}

function splitImports(text: string) {
  const imports: { names: string; from: string }[] = [];
  let rest = text;
  while (rest.startsWith('import')) {
    const end = rest.indexOf(';');
    const statement = rest.slice('import'.length, end);
    const at = statement.lastIndexOf('from');
    imports.push({
      names: statement.slice(0, at).trim(),
      from: statement
        .slice(at + 4)
        .trim()
        .slice(1, -1),
    });
    rest = rest.slice(end + 1).trimStart();
  }
  return { imports, rest };
}

function splitExports(text: string) {
  const exported: string[] = [];
  let body = text.replaceAll(DECLARED, (_, words: string, name: string) => {
    exported.push(name);
    return words;
  });
  const list = body.lastIndexOf(LIST);
  if (list !== -1) {
    const end = body.indexOf('}', list);
    const names = body.slice(list + LIST.length, end).split(',');
    exported.push(...names.map((name) => name.split(' as ').toReversed().join(': ')));
    body = body.slice(0, list);
  }
  if (body.includes(DEFAULT)) exported.push('default: defaultExport');
  return { body: body.replace(DEFAULT, 'const defaultExport = '), exported };
}

/** The declaration that takes the place of an import. */
function imported(names: string, from: string): string {
  if (names.startsWith('{')) return `const ${names.replaceAll(' as ', ': ')} = ${from};`;
  return `const ${names} = ${from}.default;`;
}
