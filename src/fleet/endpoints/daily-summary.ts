// GET /daily_summary/: figures of use per vehicle or driver, day by day or over the whole period.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { includesOf, moment, periodRule, recordIds, withRules } from '../request-fields.ts';
import { decimal, name } from '../wire.ts';

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
  identity: 'title',
  record: z.looseObject({
    /** The plate of the vehicle or the label of the driver: the only identity that a row has. */
    title: name,
    count: decimal,
    count_travel: decimal,
    count_in_moviment: decimal,
    count_ignition_on: decimal,
    count_ignition_off: decimal,
    count_out_of_work: decimal,
    count_high_speed: decimal,
    count_high_speed_range_1: decimal,
    count_high_speed_range_2: decimal,
    total_distance: decimal,
    total_distance_out_of_work: decimal,
    total_time_in_moviment: decimal,
    total_time_in_ignition_on: decimal,
    total_time_in_ignition_off: decimal,
    total_time_out_of_work: decimal,
    total_time_in_high_speed: decimal,
    total_time_rpm_economy: decimal,
    total_time_rpm_high: decimal,
    total_time_rpm_neutral: decimal,
    total_time_rpm_max: decimal,
    speed_max: decimal,
    speed_average: decimal,
  }),
});
