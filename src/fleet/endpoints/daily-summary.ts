// GET /daily_summary/: usage figures per vehicle or driver, for each day or for the period.
import { z } from 'zod';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { dateTime, includesOf, periodRule, recordIds } from '../request-fields.ts';

export const dailySummary = listEndpoint({
  name: 'daily-summary',
  path: '/daily_summary/',
  query: withRules(
    z.strictObject({
      initial_date: dateTime,
      end_date: dateTime,
      daily_type: z.enum(['analytical', 'aggregate']).default('aggregate'),
      /** The service does not document when it is required, so it is optional here. */
      aggregated_fields: z.array(z.enum(['vehicle', 'driver'])).optional(),
      vehicles_id: recordIds.min(1),
      driver_ids: recordIds.optional(),
      includes: includesOf(['driver', 'vehicle', 'vehicle.device']).optional(),
    }),
    periodRule('initial_date', 'end_date'),
  ),
  /** The plate of the vehicle or the label of the driver: a row has no other identity. */
  identity: 'title',
});
