// Pushes route plans. A plan is listed by its period, matched by external_code, and created, never changed. The answer to
// an import has no plan id, so the identifier is read back afterwards.
import type { Json, JsonObject } from '../../../core/json.ts';
import { type ImportedPlan, importRoutePlan } from '../../../fleet/endpoints/import-route-plan.ts';
import { routePlan } from '../../../fleet/endpoints/route-plan.ts';
import { routePlans } from '../../../fleet/endpoints/route-plans.ts';
import type { Period } from '../../../warehouse/outbox/queries.ts';
import type { PushKind, Verdict } from '../kind.ts';
import { fieldText, isSameValue, notAListing, periodBetween, remoteRecords } from './answers.ts';

const codeOf = (record: JsonObject): string | undefined => fieldText(record.external_code);

const periodOf = ({ date_time_start, date_time_end }: JsonObject) => periodBetween(date_time_start, date_time_end);

export const routePlanKind: PushKind = {
  feed: 'route_plans',
  noun: 'plan',
  failed: { status: 'I', message: 'The service could not optimise the plan' },
  keyOf: (data) => codeOf(data) ?? '',
  periodOf,
  list: async (call, { start, end }: Period) =>
    remoteRecords(await call(routePlans, { begin_date: start, end_date: end }), codeOf, periodOf),
  create: async (call, { data, options }) =>
    judgeImport(await call(importRoutePlan, { ...options, data } as never), codeOf(data)),
  // The service computes its own times and stops, so only the period can be compared.
  isSame: (record, { date_time_start, date_time_end }) =>
    isSameValue(record.date_time_start, date_time_start ?? null) &&
    isSameValue(record.date_time_end, date_time_end ?? null),
  async missing(call, id, { route_points }) {
    const records = await call(routePlan, { route_plan_id: id, includes: ['route_points'] });
    const plan = remoteRecords(records, codeOf).find((each) => each.id === id);
    if (plan === undefined) throw notAListing();
    const there = plan.record.route_points;
    if (!Array.isArray(there)) return undefined;
    return absentFrom(there, route_points as Json[]).map((point) => `point not at the service: ${nameOf(point)}`);
  },
};

/** The sent points that are not there: by code, or by name if the point has no code. Equal ones have to be there as often. */
function absentFrom(there: readonly Json[], sent: readonly Json[]): Json[] {
  const byCode = Map.groupBy(there, stopCodeOf);
  const uncoded = sent.filter((point) => stopCodeOf(point) === '');
  const absent = sent.filter((point) => stopCodeOf(point) !== '' && byCode.get(stopCodeOf(point))?.pop() === undefined);
  const byName = Map.groupBy([...byCode.values()].flat(), nameOnly);
  return [...absent, ...uncoded.filter((point) => byName.get(nameOnly(point))?.pop() === undefined)];
}

const textOf = (point: unknown, field: string): string =>
  (fieldText(((point ?? {}) as JsonObject)[field]) ?? '').trim();
const stopCodeOf = (point: unknown): string => textOf(point, 'external_code');
const nameOnly = (point: unknown): string => textOf(point, 'name');

/** `code` is that of the plan; its reasons do not repeat it. */
export function judgeImport(answer: ImportedPlan, code?: string): Verdict {
  const { routePoints, wrongLines, wrongRoutePlans, unassignedPoints, id } = answer;
  const reasons = [
    ...wrongRoutePlans.map((wrong) => wordsOf(wrong, code)),
    ...wrongLines.map((wrong) => `point rejected: ${wordsOf(wrong)}`),
    ...unassignedPoints.map((point) => `point not assigned: ${nameOf(point)}`),
  ];
  if (routePoints !== undefined && routePoints > 0) return { is: 'accepted', id, reasons };
  if (wrongRoutePlans.length > 0 || (routePoints === 0 && reasons.length > 0)) return { is: 'rejected', reasons };
  return { is: 'unclear', message: 'The answer does not say whether the plan was accepted' };
}

const nameOf = (point: unknown): string => stopCodeOf(point) || nameOnly(point) || wordsOf(point);

/** The service's text of a rejection, then its other fields; its format is not documented. */
function wordsOf(wrong: unknown, code?: string): string {
  if (typeof wrong !== 'object' || wrong === null) return String(wrong);
  const { message, ...others } = wrong as JsonObject;
  const hasMessage = typeof message === 'string' && message !== '';
  const fields = Object.entries(hasMessage ? others : wrong)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .filter(([name, value]) => name !== 'external_code' || value !== code)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
  if (!hasMessage) return fields === '' ? 'The service gave no reason' : fields;
  return fields === '' ? message : `${message} (${fields})`;
}
