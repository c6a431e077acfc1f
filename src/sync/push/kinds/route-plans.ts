// How route plans are pushed: searched by their period, found by external_code, created, never changed. The
// answer to an import names no plan, so its identifier is looked up afterwards.
import { Skippable } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/glossary.ts';
import { type ImportedPlan, importRoutePlan } from '../../../fleet/endpoints/import-route-plan.ts';
import { routePlans } from '../../../fleet/endpoints/route-plans.ts';
import { toInstant } from '../../../fleet/instants.ts';
import type { PushKind, Verdict } from '../push-kind.ts';
import { fieldText, seenRecords } from '../push-listing.ts';

const codeOf = (record: JsonObject): string | undefined => fieldText(record.external_code);

export const routePlanKind: PushKind = {
  feed: 'route_plans',
  noun: 'plan',
  unfinished: ['W', 'R'],
  failed: { status: 'I', message: 'The service could not optimise the plan' },
  keyOf: (data) => codeOf(data) ?? '',
  periodOf: (data) => ({
    start: toInstant(String(data.date_time_start)) ?? '',
    end: toInstant(String(data.date_time_end)) ?? '',
  }),
  async list(call, period) {
    const request = period === undefined ? {} : { begin_date: period.start, end_date: period.end };
    return seenRecords(await call(routePlans, request), codeOf);
  },
  async seek(call, key) {
    try {
      return seenRecords(await call(routePlans, { route_plan_code: key }), codeOf);
    } catch (error) {
      // A service that does not take the code says nothing about the plan.
      if (error instanceof Skippable) return [];
      throw error;
    }
  },
  async create(call, { data, options }) {
    // The call holds the request against its own schema before anything leaves.
    return judgeImport(await call(importRoutePlan, { ...options, data } as never));
  },
};

export function judgeImport(answer: ImportedPlan): Verdict {
  const { routePoints, wrongLines, wrongRoutePlans, unassignedPoints, id } = answer;
  const reasons = [
    ...wrongRoutePlans.map((wrong) => `plan refused: ${told(wrong)}`),
    ...wrongLines.map((wrong) => `point refused: ${told(wrong)}`),
    ...unassignedPoints.map((point) => `point not assigned: ${nameOf(point)}`),
  ];
  if (routePoints !== undefined && routePoints > 0) return { is: 'accepted', id, reasons };
  if (wrongRoutePlans.length > 0 || (routePoints === 0 && reasons.length > 0))
    return { is: 'refused', reasons };
  return { is: 'unclear', message: 'The answer does not tell whether the plan was accepted' };
}

const nameOf = (point: unknown): string => {
  const { external_code, name } = (point ?? {}) as JsonObject;
  return fieldText(external_code) ?? fieldText(name) ?? told(point);
};

/** A refusal in the service's words; its form is not documented. */
function told(wrong: unknown): string {
  if (typeof wrong !== 'object' || wrong === null) return String(wrong);
  return Object.entries(wrong)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
