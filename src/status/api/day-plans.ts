// The plans of a local day, one row each: what the ERP offered and what the service has of it. Those that are not, or
// not completely, at the service come first. Pure.
import { type Language, reasonIn } from '../../erp/files/result-words.ts';
import { reasonsOf, shownState } from '../../warehouse/outbox/entry.ts';
import type { DayStop, EntryOfDay, PlanOfDay } from '../../warehouse/queries/delivery-day.ts';
import { isDone, isLateNow, isReturned, type LateRule, lateness } from './day-chart.ts';

/**
 * `received`: not sent yet; `in`: at the service; `partial`: there without some of its stops; `foreign`: at the service, and
 * not offered by the ERP.
 */
const STEPS = {
  ready: 'received',
  sending: 'received',
  confirmed: 'in',
  partial: 'partial',
  unknown: 'unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
} as const;

/** Steps of plans that the service should have and does not, may not, or not completely. */
const EXPECTED: readonly string[] = ['rejected', 'unknown', 'received', 'partial'];

export interface BothSides {
  entries: readonly EntryOfDay[];
  plans: readonly PlanOfDay[];
  stops: readonly DayStop[];
}

interface Shown {
  language: Language;
  /** The vehicle in the content of an entry. */
  vehicleOf(entry: EntryOfDay): string | null;
}

export function dayPlanRows({ entries, plans, stops }: BothSides, rule: LateRule, shown: Shown) {
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  const byPlan = Map.groupBy(stops, ({ route_plan_id }) => route_plan_id);
  const owned = new Set(entries.map(({ remote_id }) => remote_id));
  const shownPlan = (plan: PlanOfDay | undefined) =>
    plan === undefined ? null : { ...plan, ...progress(byPlan.get(plan.id) ?? [], rule) };
  const rows = [
    ...entries.map((entry) => ({
      code: entry.external_code as string | null,
      step: STEPS[shownState(entry)] as (typeof STEPS)[keyof typeof STEPS] | 'foreign',
      start: entry.period_start,
      entry: shownEntry(entry, shown),
      plan: entry.remote_id === null ? null : shownPlan(byId.get(entry.remote_id)),
    })),
    ...plans
      .filter(({ id }) => !owned.has(id))
      .map((plan) => ({
        code: plan.external_code,
        step: 'foreign' as const,
        start: plan.date_time_start,
        entry: null,
        plan: shownPlan(plan),
      })),
  ];
  const order = ({ step, start, code }: (typeof rows)[number]): string =>
    `${EXPECTED.includes(step) ? 0 : 1} ${start} ${code}`;
  return rows.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** Without the content, which may hold anything; only the plate of its vehicle is shown. */
function shownEntry(known: EntryOfDay, { language, vehicleOf }: Shown) {
  const { payload: _, ...entry } = known;
  return {
    ...entry,
    vehicle_plate: vehicleOf(known),
    reasons: reasonsOf(entry).map((reason) => reasonIn(language, reason)),
  };
}

/** Of the stops at customers. */
function progress(stops: readonly DayStop[], rule: LateRule) {
  const late = stops.filter((stop) => lateness(stop, rule) !== null);
  return {
    stops: stops.length,
    stops_done: stops.filter(isDone).length,
    stops_returned: stops.filter(isReturned).length,
    /** Done late or late and still open. */
    stops_late: late.length,
    stops_late_open: late.filter(isLateNow).length,
  };
}
