// The options of push jobs.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';

export const commonOptions = {
  settle: durationOption(
    '2m',
    'How long read-backs must not show an item before it counts as absent and is sent again; doubles with each unclear send, and must be longer than service.timeout (default 2m).',
  ),
  reuse_codes: z
    .boolean()
    .default(false)
    .describe(
      'Whether the ERP reuses a code on another day: false rejects the second use, true identifies an item by code and local start day (default false).',
    ),
  keep_rejected: durationOption(
    '7d',
    'How long the content of a rejected item is kept for `outbox retry` (default 7d).',
  ),
  keep_confirmed: durationOption(
    '400d',
    'How long a finished entry and its history are kept after its period and after the ERP last offered it (default 400d).',
  ),
};

/** For kinds that the service cannot change. */
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
    'Local time, such as `"18:00"`, by which every plan that starts tomorrow must be confirmed; an alert is sent if one is not (default none).',
  );

/** The options of a run; an option that the job does not have is absent. */
export type PushSettings = z.output<z.ZodObject<typeof commonOptions>> & {
  after_confirmation?: z.output<typeof after_confirmation>;
  deadline?: z.output<typeof deadline>;
};
