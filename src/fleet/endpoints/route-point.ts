// GET /import/route_point: the execution data of one point of a plan.
import { z } from 'zod';
import { listEndpoint } from '../endpoint.ts';
import { anyIncludes, recordId, word } from '../request-fields.ts';
import { decimal, flag, id, instant, integer, list, text } from '../wire.ts';

export const executionRecord = z.looseObject({
  id,
  latitude: decimal,
  longitude: decimal,
  return_date: instant,
  pictures: text,
  signature_img: text,
  hodometer_picture: text,
  route_return_reason_id: integer,
  route_executed_reason_id: integer,
});

export const itemRecord = z.looseObject({
  external_code: text,
  value: decimal,
  description: text,
  quantity: decimal,
  capacity: integer,
});

/** The forms of address, time_window and the reasons are not documented: they pass as they come. */
export const routePointRecord = z.looseObject({
  id,
  name: text,
  type: text,
  order: integer,
  optimized_order: integer,
  latitude: decimal,
  longitude: decimal,
  status: text,
  time_scheduled: instant,
  duration: integer,
  distance: decimal,
  external_code: text,
  capacity: integer,
  disable_picture: flag,
  routes_info: list(executionRecord),
  route_point_items: list(itemRecord),
});

export const routePoint = listEndpoint({
  name: 'route-point',
  path: '/import/route_point',
  query: z.strictObject({
    route_plan_id: recordId,
    external_code: word,
    includes: anyIncludes.min(1).default(['routes_info']),
  }),
  record: routePointRecord,
});
