// Declarations of other layers for tests: two engines and two jobs.
import { z } from 'zod';
import { ConfigError } from '../../../src/config/faults.ts';
import { type LoadedConfig, parseConfig } from '../../../src/config/load.ts';
import type { ConfigDeclarations } from '../../../src/config/schema.ts';
import { durationOption } from '../../../src/core/time/duration-option.ts';
import { feedIssues } from '../../../src/erp/sources.ts';

export const declarations: ConfigDeclarations = {
  jobs: {
    'pull-vehicles': { schedule: '0 */6 * * *', options: z.object({}) },
    'pull-events': {
      schedule: '*/10 * * * *',
      options: z
        .object({
          lookback: durationOption('6h', 'How far behind the edge each run reads again (default 6h).'),
          since: durationOption('30d', 'How far back a first run reads (default 30d).', { min: '1h' }),
          batch: z.int().min(1).max(500).default(100).describe('Records a batch (default 100).'),
          ratio: z.number().multipleOf(0.5).default(0.5).describe('Share (default 0.5).'),
          strict: z.boolean().default(false).describe('Rejects unknown categories (default false).'),
          categories: z
            .union([z.literal('all'), z.array(z.int()).min(1)])
            .default('all')
            .describe('All, or a list of category numbers (default all).'),
        })
        .refine(({ lookback, since }) => lookback <= since, {
          path: ['lookback'],
          message: 'must not be longer than `since`',
        }),
    },
  },
  engines: {
    postgres: z.object({
      url: z.string().min(1).describe('Address of the database.'),
      schema: z.string().default('fleet').describe('Schema of the tables (default fleet).'),
    }),
    sqlite: z.object({ file: z.string().default('data/warehouse.db').describe('The database file.') }),
  },
  queueEngines: ['postgres'],
  feedIssues,
  personal: {
    'driver.cpf': { allowed: ['keep', 'mask', 'hash', 'drop'], default: 'hash' },
    'driver.date_of_birth': { allowed: ['keep', 'drop'], default: 'keep' },
  },
};

export const FILE = 'config/roadbook.yaml';

export function parse(
  text: string,
  env: Record<string, string | undefined> = {},
  declared: ConfigDeclarations = declarations,
): LoadedConfig {
  return parseConfig(text, FILE, declared, env);
}

export function rejection(
  text: string,
  env: Record<string, string | undefined> = {},
  declared: ConfigDeclarations = declarations,
): ConfigError {
  try {
    parse(text, env, declared);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The configuration was accepted.');
}
