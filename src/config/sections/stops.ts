// What a stop is judged by, on the page and in the views alike. `stops`: when it is late. `proof`: which evidence it must have;
// the service does not return that, only where a picture is waived.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';
import { section, setting } from './section.ts';

export const stopsSection = section(
  z.strictObject({
    late_after: durationOption('15m', 'How long after its planned time a stop is late (default 15m).', { max: '1d' }),
  }),
)
  .transform(({ late_after }) => ({ lateAfterMs: late_after }))
  .describe('When a stop is late: for is_on_time, stops_on_time, stops_late and the page.');

export const proofSection = section(
  z.strictObject({
    picture: setting(
      z.boolean(),
      true,
      'Whether a stop needs a picture, unless its plan waives it with disable_picture',
    ),
    signature: setting(z.boolean(), false, 'Whether a stop needs a signature'),
    checklists: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Names of checklist forms: on a day with executed stops the agent has to fill in each of them (default empty).',
      ),
  }),
).describe('Which evidence an executed stop must have, for bi_missing_proof.');
