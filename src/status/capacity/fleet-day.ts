// Rows that one day of a fleet adds to each table, computed from a few figures that an operator knows or can estimate.

/** All figures except `vehicles` are per vehicle and day. */
export interface FleetDay {
  vehicles: number;
  eventsADay: number;
  plansADay: number;
  stopsAPlan: number;
  checklistsADay: number;
  picturesADay: number;
}

export const usualFleetDay: Omit<FleetDay, 'vehicles'> = {
  eventsADay: 200,
  plansADay: 1,
  stopsAPlan: 12,
  checklistsADay: 1,
  picturesADay: 1,
};

/** Items of a stop and answers of a checklist, as in the sandbox. */
const ITEMS_A_STOP = 1.5;
const ANSWERS_A_CHECKLIST = 10;
/** Status changes: first read, start and end of a plan; first read and outcome of a stop. */
const CHANGES_A_PLAN = 3;
const CHANGES_A_STOP = 2;

export type SizedTable = keyof ReturnType<typeof rowsADay>;

/** Rows that a day adds, by table. Tables with few rows, such as the outbox and the vehicles, are left out. */
export function rowsADay(day: FleetDay) {
  const plans = day.vehicles * day.plansADay;
  const stops = plans * day.stopsAPlan;
  const checklists = day.vehicles * day.checklistsADay;
  return {
    event: day.vehicles * day.eventsADay,
    route_plan: plans,
    route_point: stops,
    route_point_execution: stops,
    route_point_item: stops * ITEMS_A_STOP,
    status_change: plans * CHANGES_A_PLAN + stops * CHANGES_A_STOP,
    // One row for the vehicle and one for its driver.
    daily_summary: 2 * day.vehicles,
    checklist: checklists,
    checklist_answer: checklists * ANSWERS_A_CHECKLIST,
    image: day.vehicles * day.picturesADay,
  };
}
