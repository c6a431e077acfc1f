// GET /vehicle/: the vehicles of the account.
import { z } from 'zod';
import { VEHICLE_STATUSES } from '../../core/code-lists.ts';
import { listEndpoint } from '../endpoint.ts';
import { codeOf, includesOf, moment, periodRule, recordIds, withRules, word } from '../request-fields.ts';
import { decimal, id, instant, integer, list, object, text } from '../wire.ts';

const named = object({ id: integer, name: text });

export const vehicles = listEndpoint({
  name: 'vehicles',
  path: '/vehicle/',
  query: withRules(
    z.strictObject({
      /** 0 not visible, 1 visible, 2 all. */
      visible: z.literal([0, 1, 2]).optional(),
      title: word.optional(),
      cost_center_ids: recordIds.optional(),
      status: codeOf(VEHICLE_STATUSES).optional(),
      date_created_begin: moment.optional(),
      date_created_end: moment.optional(),
      plate: word.optional(),
      chassi: word.optional(),
      includes: includesOf([
        'fleet',
        'vehicle_model',
        'fuel_category',
        'vehicle_color',
        'vehicle_category',
      ]).min(1),
    }),
    periodRule('date_created_begin', 'date_created_end'),
  ),
  record: z.looseObject({
    id,
    title: text,
    plate: text,
    chassi: text,
    renavam: text,
    status: text,
    year: integer,
    model_year: integer,
    seats: integer,
    capacity: integer,
    axles: integer,
    fuel_capacity: integer,
    fuel_average_intended: decimal,
    hodometer: integer,
    hourimeter: decimal,
    speed_max: integer,
    speed_max_range_1: integer,
    speed_max_rain: integer,
    rpm_high: integer,
    min_temperature: integer,
    responsible_name: text,
    driver_id: integer,
    driver: named,
    date_created: instant,
    fleet: named,
    cost_center: named,
    vehicle_color: named,
    vehicle_model: object({ id: integer, name: text, vehicle_model_manufacturer: named }),
    fuel_category: named,
    vehicle_category: named,
    vehicle_virtual_areas: list(z.unknown()),
    daily_summary: list(z.unknown()),
  }),
});
