// POST /import/route_plan: creates a plan for execution. Not repeatable: a plan that is sent twice exists twice, and no call
// changes it.
import { z } from 'zod';
import { isJsonObject, type Json } from '../../core/json.ts';
import { documentOf, idOf } from '../answer.ts';
import { type Written, writeEndpoint } from '../endpoint.ts';
import { itemData, nonEmptyText } from '../request-fields.ts';
import type { WireAnswer } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';

export interface ImportedPlan extends Written {
  /** Number of routed points; undefined if the answer does not contain it. */
  routePoints: number | undefined;
  wrongLines: unknown[];
  wrongRoutePlans: unknown[];
  unassignedPoints: unknown[];
}

export const importRoutePlan = writeEndpoint({
  name: 'import-route-plan',
  method: 'POST',
  path: '/import/route_plan',
  request: z.strictObject({
    optimize: z.boolean().default(true),
    geocoding: z.boolean().default(true),
    source: nonEmptyText.default('G'),
    has_time_window: z.boolean().default(false),
    is_async: z.boolean().default(false),
    data: itemData,
  }),
  read: readImported,
});

function readImported(answer: WireAnswer): ImportedPlan {
  const raw = documentOf(answer);
  if (!isJsonObject(raw)) throw new TransportFault('bad_answer', 'not an object');
  const result = isJsonObject(raw.data) ? raw.data : raw;
  return {
    routePoints: countOf(result.route_points),
    wrongLines: listOf(result.wrong_lines),
    wrongRoutePlans: listOf(result.wrong_route_plans),
    unassignedPoints: listOf(result.unassigned_points),
    id: idOf(raw),
    raw: raw as Json,
  };
}

function countOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : undefined;
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
