// The plans of a local day, one row each: what the ERP offered and what the service has of it. Those that the service does
// not have as the ERP offers them, and those that need a person, come first. Pure.
import { shownState } from '../../warehouse/outbox/entry.ts';
import type { DayStop, EntryOfDay, PlanOfDay, plansOnBothSides } from '../../warehouse/queries/delivery-day.ts';
import { isDone, isLateNow, isReturned, type LateRule, lateSeconds } from './day-chart.ts';
import type { EntryFacts } from './plans.ts';

/**
 * `received`: not sent yet; `in`: at the service; `partial`: there without some of its stops; `differs`: there with other
 * content than the ERP offers; `gone`: it was there, and the service no longer returns it; `foreign`: at the service, and not offered
 * by the ERP.
 */
type Step = (typeof STEPS)[keyof typeof STEPS] | 'gone' | 'foreign';

const STEPS = {
  ready: 'received',
  sending: 'received',
  confirmed: 'in',
  partial: 'partial',
  differs: 'differs',
  unknown: 'unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
} as const;

/** Steps of plans that the service does not have as the ERP offers them, or may not have. They come first. */
const FIRST_STEPS: readonly Step[] = ['rejected', 'gone', 'unknown', 'received', 'partial', 'differs'];

type BothSides = Awaited<ReturnType<typeof plansOnBothSides>>;

/** What a person has to know of an entry. */
type FactsOf = (entry: EntryOfDay) => EntryFacts;

const stepOf = (entry: EntryOfDay, plan: PlanOfDay | undefined): Step =>
  entry.state === 'confirmed' && plan !== undefined && plan.missing_since !== null ? 'gone' : STEPS[shownState(entry)];

export function dayPlanRows({ entries, plans, stops }: BothSides, rule: LateRule, factsOf: FactsOf) {
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  const byPlan = Map.groupBy(stops, ({ route_plan_id }) => route_plan_id);
  const owned = new Set(entries.map(({ remote_id }) => remote_id));
  const shownPlan = (plan: PlanOfDay | undefined) =>
    plan === undefined ? null : { ...plan, ...progress(byPlan.get(plan.id) ?? [], rule) };
  const rows = [
    ...entries.map((entry) => {
      const plan = entry.remote_id === null ? undefined : byId.get(entry.remote_id);
      return {
        code: entry.external_code as string | null,
        step: stepOf(entry, plan),
        start: entry.period_start,
        entry: shownEntry(entry, factsOf),
        plan: shownPlan(plan),
      };
    }),
    ...plans
      .filter(({ id }) => !owned.has(id))
      .map((plan) => ({
        code: plan.external_code,
        step: 'foreign' as Step,
        start: plan.date_time_start,
        entry: null,
        plan: shownPlan(plan),
      })),
  ];
  const order = ({ step, start, code, entry }: (typeof rows)[number]): string =>
    `${FIRST_STEPS.includes(step) || entry?.needs_person ? 0 : 1} ${start} ${code}`;
  return rows.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** Without the content, which may hold anything; only the plate of its vehicle is shown. */
function shownEntry(known: EntryOfDay, factsOf: FactsOf) {
  const { payload: _, ...entry } = known;
  const { vehicle: vehicle_plate, ...facts } = factsOf(known);
  return { ...entry, vehicle_plate, ...facts };
}

/** Of the stops at customers. */
function progress(stops: readonly DayStop[], rule: LateRule) {
  const late = stops.filter((stop) => lateSeconds(stop, rule) !== null);
  return {
    stops: stops.length,
    stops_done: stops.filter(isDone).length,
    stops_returned: stops.filter(isReturned).length,
    /** Done late or late and still open. */
    stops_late: late.length,
    stops_late_open: late.filter(isLateNow).length,
  };
}
