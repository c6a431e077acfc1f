// The `.env` file beside package.json. The process environment wins: spread it over what this returns.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError, fileFault } from './faults.ts';

/** The variables of `dir`/.env; none where there is no such file. */
export function readDotenv(dir: string): Record<string, string> {
  const file = join(dir, '.env');
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')) } as Record<string, string>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return {};
    throw new ConfigError(
      [fileFault(file, `cannot be read (${code})`, 'make it readable, or remove it')],
      error,
    );
  }
}
