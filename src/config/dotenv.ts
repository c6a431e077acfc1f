// The `.env` file in the working directory. The process environment takes precedence: the caller spreads it over the result.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
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
