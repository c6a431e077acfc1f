// GET /event/: tracked events of one category, by vehicle or driver and period.
import { z } from 'zod';
import { EVENT_CATEGORIES } from '../../core/code-lists.ts';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { EVENT_FORMS, EVENT_GROUPING } from '../interpretations.ts';
import { dateTime, includesOf, listedId, nonEmptyText, oneOfRule, periodRule, recordIds } from '../request-fields.ts';

export const events = listEndpoint({
  name: 'events',
  path: '/event/',
  query: withRules(
    z.strictObject({
      periods: z
        .array(withRules(z.strictObject({ begin: dateTime, end: dateTime }), periodRule('begin', 'end')))
        .min(1),
      event_category: listedId(EVENT_CATEGORIES),
      vehicles_id: recordIds.optional(),
      driver_ids: recordIds.optional(),
      /** Minimum, in metres. */
      distance: z.int().nonnegative().optional(),
      [EVENT_GROUPING]: nonEmptyText.optional(),
      includes: includesOf([
        'position_start',
        'position_end',
        'location_start',
        'location_end',
        'position_start.virtual_area',
        'position_end.virtual_area',
        'device',
        'vehicle',
        'vehicle.vehicle_color',
        'driver',
        'poi_start',
        'poi_end',
      ]).optional(),
    }),
    oneOfRule('vehicles_id', 'driver_ids'),
  ),
  forms: EVENT_FORMS,
});
