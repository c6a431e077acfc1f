// GET /vehicle/: the vehicles of the account.
import { z } from 'zod';
import { VEHICLE_STATUSES } from '../../core/code-lists.ts';
import { withRules } from '../../core/field-rules.ts';
import { listEndpoint } from '../endpoint.ts';
import { codeOf, dateTime, includesOf, nonEmptyText, periodRule, recordIds } from '../request-fields.ts';
import { list } from '../wire.ts';

export const vehicles = listEndpoint({
  name: 'vehicles',
  path: '/vehicle/',
  query: withRules(
    z.strictObject({
      /** 0 not visible, 1 visible, 2 all. */
      visible: z.literal([0, 1, 2]).optional(),
      title: nonEmptyText.optional(),
      cost_center_ids: recordIds.optional(),
      status: codeOf(VEHICLE_STATUSES).optional(),
      date_created_begin: dateTime.optional(),
      date_created_end: dateTime.optional(),
      plate: nonEmptyText.optional(),
      chassi: nonEmptyText.optional(),
      includes: includesOf(['fleet', 'vehicle_model', 'fuel_category', 'vehicle_color', 'vehicle_category']).min(1),
    }),
    periodRule('date_created_begin', 'date_created_end'),
  ),
  fields: { vehicle_virtual_areas: list(z.unknown()), daily_summary: list(z.unknown()) },
});
