// `stops`: when a stop counts as late, on the page and in the views alike.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';
import { section } from './section.ts';

export const stopsSection = section(
  z.strictObject({
    late_after: durationOption('15m', 'How long after its planned time a stop is late (default 15m).', { max: '1d' }),
  }),
)
  .transform(({ late_after }) => ({ lateAfterMs: late_after }))
  .describe('When a stop is late: for is_on_time, stops_on_time, stops_late and the page.');
