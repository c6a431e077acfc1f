// `scale`: how the slices of a run are distributed.
import { z } from 'zod';
import { section } from './section.ts';

export const scaleSection = section(
  z.strictObject({
    dispatcher: z
      .enum(['local', 'pg-boss'])
      .default('local')
      .describe(
        'Which processes work on the slices of a pull: `local`, only the one that planned it; `pg-boss`, all daemons on one PostgreSQL warehouse (default local).',
      ),
    workers: z
      .int()
      .min(1)
      .max(64)
      .default(4)
      .describe('Slices that one daemon processes at the same time with pg-boss (default 4).'),
  }),
).describe('How daemons share the work; a change needs a restart.');
