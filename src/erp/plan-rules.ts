// What a route plan must keep to before it is sent. The service documents no form for a time window: one with
// `start` and `end` is checked, any other is sent as it is.
import { isJsonObject, type Json, type JsonObject } from '../core/glossary.ts';
import { fieldReasons, isAbsent, onlyOneReasons, orderReasons } from './field-rules.ts';
import {
  ENTITY_FIELDS,
  ITEM_FIELDS,
  OPTION_FIELDS,
  PLAN_FIELDS,
  POINT_FIELDS,
  WINDOW_FIELDS,
} from './fields.ts';
import { momentMs } from './moments.ts';

export function planReasons(data: JsonObject, options: JsonObject = {}): string[] {
  return [
    ...fieldReasons(data, {
      fields: PLAN_FIELDS,
      required: ['external_code', 'date_time_start', 'date_time_end'],
      parts: ['route_points', 'entity'],
    }),
    ...orderReasons(data, 'date_time_start', 'date_time_end'),
    ...onlyOneReasons(data, 'vehicle_plates', 'document_numbers'),
    ...eachReasons(data.entity, 'entity', entityReasons),
    ...pointsReasons(data),
    ...fieldReasons(options, { fields: OPTION_FIELDS, required: [] }, 'options.'),
  ];
}

const entityReasons = (entity: JsonObject, at: string): string[] =>
  fieldReasons(entity, { fields: ENTITY_FIELDS, required: ['document_number', 'vehicle_plate'] }, at);

function pointsReasons(data: JsonObject): string[] {
  const points = data.route_points;
  if (isAbsent(points) || (Array.isArray(points) && points.length === 0)) {
    return ['route_points: at least one is required'];
  }
  return [
    ...eachReasons(points, 'route_points', (point, at) => pointReasons(point, at, data)),
    ...duplicateReasons(points),
  ];
}

function pointReasons(point: JsonObject, at: string, plan: JsonObject): string[] {
  return [
    ...fieldReasons(
      point,
      { fields: POINT_FIELDS, required: ['name'], parts: ['time_window', 'route_point_items'] },
      at,
    ),
    ...placeReasons(point, at),
    ...windowReasons(point.time_window, `${at}time_window.`, plan),
    ...eachReasons(point.route_point_items, `${at}route_point_items`, (item, itemAt) =>
      fieldReasons(item, { fields: ITEM_FIELDS, required: ['external_code'] }, itemAt),
    ),
  ];
}

function placeReasons({ address, latitude, longitude }: JsonObject, at: string): string[] {
  if (isAbsent(latitude) !== isAbsent(longitude)) {
    return [`${at}${isAbsent(latitude) ? 'latitude' : 'longitude'}: give both coordinates or none`];
  }
  return isAbsent(address) && isAbsent(latitude) ? [`${at}address: give an address or coordinates`] : [];
}

function windowReasons(window: Json | undefined, at: string, plan: JsonObject): string[] {
  if (!isJsonObject(window) || !('start' in window || 'end' in window)) return [];
  const reasons = [
    ...fieldReasons(window, { fields: WINDOW_FIELDS, required: ['start', 'end'] }, at),
    ...orderReasons(window, 'start', 'end', at),
  ];
  const [fromMs, toMs] = [momentMs(plan.date_time_start), momentMs(plan.date_time_end)];
  for (const name of ['start', 'end']) {
    const ms = momentMs(window[name]);
    if (ms === undefined || fromMs === undefined || toMs === undefined) continue;
    if (ms < fromMs || ms > toMs) reasons.push(`${at}${name}: lies outside the plan`);
  }
  return reasons;
}

/** An outcome is brought back by the point's code, so a code means one point. */
function duplicateReasons(points: Json | undefined): string[] {
  const first = new Map<string, number>();
  const reasons: string[] = [];
  for (const [i, point] of (Array.isArray(points) ? points : []).entries()) {
    const code = isJsonObject(point) ? point.external_code : undefined;
    if (typeof code !== 'string') continue;
    const before = first.get(code);
    if (before === undefined) first.set(code, i);
    else reasons.push(`route_points[${i}].external_code: is also that of route_points[${before}]`);
  }
  return reasons;
}

function eachReasons(
  list: Json | undefined,
  name: string,
  reasonsOf: (entry: JsonObject, at: string) => string[],
): string[] {
  if (isAbsent(list)) return [];
  if (!Array.isArray(list)) return [`${name}: is not a list`];
  return list.flatMap((entry, i) =>
    isJsonObject(entry) ? reasonsOf(entry, `${name}[${i}].`) : [`${name}[${i}]: is not an object`],
  );
}
