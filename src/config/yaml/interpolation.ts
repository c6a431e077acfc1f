// Expands `${NAME}`, `${NAME:-default}` and `${file:PATH}` in one text of the file; `$${` is a literal `${`. Works on parsed
// texts only, so a value can never change the structure. No problem ever quotes a value.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hints show the syntax of references.
import { readFileSync, statSync } from 'node:fs';
import { nearest } from '../../core/text/near-word.ts';
import type { OffsetIssue } from '../faults.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Problem = Required<Pick<OffsetIssue, 'message' | 'hint'>>;

const REFERENCE = /\$\$\{|\$\{([^{}]*)\}|\$\{/g;
const VARIABLE = /^([A-Za-z_]\w*)(?::-(.*))?$/s;
const MAX_SECRET_FILE_BYTES = 64 * 1_024;

/** `referenced` has the values of the references, one each. */
export function expandReferences(text: string, env: Environment) {
  const referenced: string[] = [];
  const problems: Problem[] = [];
  const expanded = text.replace(REFERENCE, (match, body: string | undefined) => {
    if (match === '$${') return '${';
    const found = body === undefined ? UNCLOSED : resolve(body, env);
    if (typeof found !== 'string') {
      problems.push(found);
      return match;
    }
    referenced.push(found);
    return found;
  });
  // Text after an unclosed brace is misread, so other problems are only consequences.
  return { text: expanded, referenced, problems: problems.includes(UNCLOSED) ? [UNCLOSED] : problems };
}

const UNCLOSED: Problem = {
  message: '`${` is not closed by `}`, or contains another brace',
  hint: 'write `${NAME}` or `${NAME:-default}`; for a literal `${` write `$${`',
};

/** The secret files that a text names, readable or not. */
export const secretFilesIn = (text: string): string[] =>
  [...text.matchAll(/\$\{file:([^{}]+)\}/g)].map(([, path = '']) => path.trim());

function resolve(body: string, env: Environment): string | Problem {
  if (body.startsWith('file:')) return readSecretFile(body.slice('file:'.length).trim());
  const [, name, fallback] = VARIABLE.exec(body) ?? [];
  if (name === undefined) {
    return {
      message: '`${…}` does not contain the name of a variable',
      hint: 'write `${NAME}`, `${NAME:-default}` or `${file:PATH}`; for a literal `${` write `$${`',
    };
  }
  const value = env[name];
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
  return value ?? missingVariable(name, env);
}

function missingVariable(name: string, env: Environment): Problem {
  const near = nearest(name, Object.keys(env));
  const other = near === undefined ? '' : `did you mean \`${near}\`? Otherwise `;
  return {
    message: `the environment variable ${name} is not set`,
    hint: `${other}set ${name} in the environment or in .env, or add a default: \`\${${name}:-default}\``,
  };
}

function readSecretFile(path: string): string | Problem {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return secretFileProblem(path, 'is not a file');
    if (stat.size > MAX_SECRET_FILE_BYTES) return secretFileProblem(path, 'is larger than 64 KiB');
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return secretFileProblem(path, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}

function secretFileProblem(path: string, what: string): Problem {
  return {
    message: `the secret file ${path === '' ? '(no path)' : path} ${what}`,
    hint: 'name a readable file; a relative path starts at the working directory of the command',
  };
}
