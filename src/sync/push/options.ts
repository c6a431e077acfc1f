// The options of push jobs.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';

export const commonOptions = {
  settle: durationOption(
    '2m',
    'How long a read-back must not show an item before it is believed absent and sent again; doubles with each unclear send, and is longer than service.timeout (default 2m).',
  ),
  reuse_codes: z
    .boolean()
    .default(false)
    .describe(
      'Whether the ERP uses a code again on another day: false rejects the second use, true takes code and local start day as identity (default false).',
    ),
  keep_refused: durationOption(
    '7d',
    'How long the content of a rejected item is kept for `outbox retry` (default 7d).',
  ),
  keep_confirmed: durationOption(
    '400d',
    'How long a finished entry and its history are kept after the ERP last offered it (default 400d).',
  ),
};

/** For kinds that no call can change. */
export const after_confirmation = z
  .enum(['flag', 'ignore'])
  .default('flag')
  .describe('What a change in the ERP does once the service has the item: flag or ignore (default flag).');

export const deadline = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .meta({ title: 'time of day', examples: ['18:00'] })
  .optional()
  .describe(
    'Local time by which everything that starts tomorrow has to be confirmed; alerts when it is not (default none).',
  );

/** What a run works with; an option that the job does not have is absent. */
export type PushSettings = z.output<z.ZodObject<typeof commonOptions>> & {
  after_confirmation?: z.output<typeof after_confirmation>;
  deadline?: z.output<typeof deadline>;
};
