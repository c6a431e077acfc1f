// GET /daily_summary/: figures of use per vehicle or driver, day by day or over the whole period.
import { z } from 'zod';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { includesOf, moment, periodRule, recordIds } from '../request-fields.ts';

export const dailySummary = listEndpoint({
  name: 'daily-summary',
  path: '/daily_summary/',
  query: withRules(
    z.strictObject({
      initial_date: moment,
      end_date: moment,
      daily_type: z.enum(['analytical', 'aggregate']).default('aggregate'),
      /** When it is required is not documented, so it never is here. */
      aggregated_fields: z.array(z.enum(['vehicle', 'driver'])).optional(),
      vehicles_id: recordIds.min(1),
      driver_ids: recordIds.optional(),
      includes: includesOf(['driver', 'vehicle', 'vehicle.device']).optional(),
    }),
    periodRule('initial_date', 'end_date'),
  ),
  /** The plate of the vehicle or the label of the driver: the only identity that a row has. */
  identity: 'title',
});
