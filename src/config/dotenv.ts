// The `.env` file in the working directory. The process environment takes precedence: the caller spreads it over the result.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseEnv } from 'node:util';
import { Fatal } from '../core/errors.ts';
import { ConfigError, fileFault } from './faults.ts';

/** The variables of `dir`/.env; none if the file does not exist. */
export function readDotenv(dir: string): Record<string, string> {
  const file = join(dir, '.env');
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')) } as Record<string, string>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return {};
    throw new ConfigError([fileFault(file, `cannot be read (${code})`, 'make it readable, or remove it')], error);
  }
}

/** The text with these variables set. The other lines stay as they are. */
export function withVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const lines = text.split('\n');
  for (const [name, value] of Object.entries(variables)) {
    const quote =
      ["'", '"', '`'].find((mark) => !value.includes(mark) && (mark !== '"' || !value.includes('\\'))) ?? "'";
    const line = `${name}=${quote}${value}${quote}`;
    const known = lines.findIndex((each) => /^\s*(?:export\s+)?(\w+)\s*=/.exec(each)?.[1] === name);
    if (known === -1) lines.splice(lines.at(-1) === '' ? -1 : lines.length, 0, line);
    else lines[known] = line;
  }
  const changed = `${lines.join('\n').trimEnd()}\n`;
  // A value of several lines, or with every kind of quotation mark.
  if (!isDeepStrictEqual({ ...parseEnv(changed) }, { ...parseEnv(text), ...variables }))
    throw new Fatal('.env cannot be changed without changing another of its values', {
      code: 'usage',
      hint: `Set ${Object.keys(variables).join(', ')} in it by hand.`,
    });
  return changed;
}
