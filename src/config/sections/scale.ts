// `scale`: how the slices of a run are shared out.
import { z } from 'zod';
import { section } from './section.ts';

export const scaleSection = section(
  z.strictObject({
    dispatcher: z
      .enum(['local', 'pg-boss'])
      .default('local')
      .describe(
        'Who works the slices of a pull: `local`, the process that planned it; `pg-boss`, all daemons on one PostgreSQL warehouse (default local).',
      ),
    workers: z
      .int()
      .min(1)
      .max(64)
      .default(4)
      .describe('Slices that one daemon works at once with pg-boss (default 4).'),
  }),
).describe('How many daemons share the work; a change needs a restart.');
