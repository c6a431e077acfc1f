// `${NAME}`, `${NAME:-default}`, `${file:PATH}` inside one text of the file; `$${` is a literal `${`. Works on
// parsed texts only, so a value can never change the structure, and no problem ever quotes what was read.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hints show the syntax of references.
import { readFileSync, statSync } from 'node:fs';
import { nearest } from '../../core/text/near-word.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Problem {
  message: string;
  hint: string;
}

export interface Expansion {
  text: string;
  /** What came from outside, one for each reference; empty where the text held none. */
  pieces: string[];
  problems: Problem[];
}

const REFERENCE = /\$\$\{|\$\{([^{}]*)\}|\$\{/g;
const VARIABLE = /^([A-Za-z_]\w*)(?::-(.*))?$/s;
const LARGEST_SECRET_FILE = 64 * 1_024;

export function expandReferences(text: string, env: Environment): Expansion {
  const pieces: string[] = [];
  const problems: Problem[] = [];
  const expanded = text.replace(REFERENCE, (match, body: string | undefined) => {
    if (match === '$${') return '${';
    const found = body === undefined ? UNCLOSED : resolve(body, env);
    if (typeof found !== 'string') {
      problems.push(found);
      return match;
    }
    pieces.push(found);
    return found;
  });
  // What follows an open brace is read wrongly, so the other problems are echoes.
  return { text: expanded, pieces, problems: problems.includes(UNCLOSED) ? [UNCLOSED] : problems };
}

const UNCLOSED: Problem = {
  message: '`${` is not closed by `}`, or holds another brace',
  hint: 'write `${NAME}` or `${NAME:-default}`; for a literal `${` write `$${`',
};

/** The secret files that a text names, whether they can be read or not. */
export const secretFilesIn = (text: string): string[] =>
  [...text.matchAll(/\$\{file:([^{}]+)\}/g)].map(([, path = '']) => path.trim());

function resolve(body: string, env: Environment): string | Problem {
  if (body.startsWith('file:')) return readSecretFile(body.slice('file:'.length).trim());
  const [, name, fallback] = VARIABLE.exec(body) ?? [];
  if (name === undefined) {
    return {
      message: '`${…}` does not hold the name of a variable',
      hint: 'write `${NAME}`, `${NAME:-default}` or `${file:PATH}`; for a literal `${` write `$${`',
    };
  }
  const value = env[name];
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
  return value ?? missingVariable(name, env);
}

function missingVariable(name: string, env: Environment): Problem {
  const near = nearest(name, Object.keys(env));
  const other = near === undefined ? '' : `did you mean \`${near}\`? Else `;
  return {
    message: `the environment variable ${name} is not set`,
    hint: `${other}set ${name} in the environment or in .env, or give a default: \`\${${name}:-default}\``,
  };
}

function readSecretFile(path: string): string | Problem {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return secretFileProblem(path, 'is not a file');
    if (stat.size > LARGEST_SECRET_FILE) return secretFileProblem(path, 'is larger than 64 KiB');
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return secretFileProblem(path, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}

function secretFileProblem(path: string, what: string): Problem {
  return {
    message: `the secret file ${path === '' ? '(no path)' : path} ${what}`,
    hint: 'name a readable file; a relative path starts at the folder the command runs in',
  };
}
