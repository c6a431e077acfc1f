// What a day of a fleet of some size leaves in the warehouse: rows of each table, from a few figures that whoever
// plans an installation knows or can guess.

/** Figures of a vehicle and day, but for `vehicles`. */
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

/** As the sandbox has them: parts of a stop and of a checklist. */
const ITEMS_A_STOP = 1.5;
const ANSWERS_A_CHECKLIST = 10;
/** First sight, start and end of a plan; first sight and outcome of a stop. */
const CHANGES_A_PLAN = 3;
const CHANGES_A_STOP = 2;

/** Rows that a day adds, by table; those of the outbox and of single vehicles are too few to count. */
export function rowsADay(day: FleetDay): Record<string, number> {
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
    // A row of the vehicle and one of its driver.
    daily_summary: 2 * day.vehicles,
    checklist: checklists,
    checklist_answer: checklists * ANSWERS_A_CHECKLIST,
    image: day.vehicles * day.picturesADay,
  };
}
