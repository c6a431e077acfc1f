// Everything that the service would show now, without filters and without an envelope. Tests compare their tables with
// it. Records are in wire format, with all related objects.
import { Hono } from 'hono';
import { summaryRow } from './routes/daily-summaries.ts';
import { arrivedEvents, eventRecord } from './routes/event-records.ts';
import { planRecord } from './routes/plan-records.ts';
import { VEHICLE_INCLUDES, vehicleRecord } from './routes/vehicle-records.ts';
import { answerRecord, checklistRecord, checklistsBetween } from './world/checklists.ts';
import { dateText, dayOf, FOUNDING_DAY, startOfDay } from './world/company-time.ts';
import { summaryOf } from './world/daily-summaries.ts';
import { allDrivers } from './world/drivers.ts';
import { itinerariesBetween, itineraryRecord } from './world/itineraries.ts';
import { allPointsOfInterest, pointOfInterestRecord } from './world/points-of-interest.ts';
import { searchPlans } from './world/route-plans.ts';
import { transitionsBetween } from './world/transitions.ts';
import type { World } from './world/world.ts';

const PLAN_INCLUDES = ['vehicle.device', 'user', 'route_points.routes_info', 'route_points.route_point_items'];
const EVENT_OBJECTS = ['vehicle', 'driver', 'location_start', 'location_end'];
const ITINERARY_INCLUDES = ['vehicle', 'driver', 'position_start', 'position_end'];
const ANSWER_INCLUDES = ['checklist_form_field.table.items'];

interface Range {
  from: number;
  to: number;
}

type ReadTruth = (world: World, range: Range) => unknown[];

const TRUTHS: Record<string, ReadTruth> = {
  vehicles: (world) => world.roster.listed(world.now()).map((index) => vehicleRecord(world, index, VEHICLE_INCLUDES)),
  drivers: (world) => allDrivers(world, ['department', 'cost_center', 'work_shift']),
  points_of_interest: (world) =>
    allPointsOfInterest(world).map((point) => pointOfInterestRecord(point, ['point_of_interest_category'])),
  route_plans: (world, { from, to }) =>
    searchPlans(world, { from, to }).map((run) => planRecord(world, run, PLAN_INCLUDES)),
  events: (world, { from, to }) => allEvents(world, from, to),
  daily_summaries: (world, range) => allSummaries(world, range),
  itineraries: (world, { from, to }) =>
    itinerariesBetween(world, from, to).map((one) => itineraryRecord(world, one, ITINERARY_INCLUDES)),
  checklists: (world, { from, to }) =>
    checklistsBetween(world, from, to).map((one) => ({
      ...checklistRecord(world, one, ['user', 'checklist_form']),
      answers: one.answers.map((answer) => answerRecord(world, one, answer, ANSWER_INCLUDES)),
    })),
  transitions: (world, { from, to }) =>
    transitionsBetween(world, from, to).map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
};

/** GET /<resource>?from&to, or ?day for one local day. Default: from the founding day up to a week ahead. */
export function createTruth(world: World): Hono {
  const app = new Hono();
  app.get('/:resource', (c) => {
    const resource = c.req.param('resource');
    const read = Object.hasOwn(TRUTHS, resource) ? TRUTHS[resource] : undefined;
    if (read === undefined) return c.json({ message: `Known: ${Object.keys(TRUTHS).join(', ')}` }, 404);
    const range = rangeOf(world, c.req.query());
    return range === undefined ? c.json({ message: 'from, to, day: not dates' }, 422) : c.json(read(world, range));
  });
  return app;
}

function rangeOf(world: World, query: Record<string, string>): Range | undefined {
  const day = query.day === undefined ? undefined : Date.parse(`${query.day}T12:00:00Z`);
  const from = day === undefined ? Date.parse(query.from ?? dateText(FOUNDING_DAY)) : startOfDay(dayOf(day));
  const to =
    day === undefined ? Date.parse(query.to ?? dateText(dayOf(world.now()) + 7)) : startOfDay(dayOf(day) + 1) - 1;
  return Number.isNaN(from) || Number.isNaN(to) ? undefined : { from, to };
}

function allEvents(world: World, from: number, to: number): unknown[] {
  const vehicles = world.roster.listedBetween(from, Math.min(to, world.now()));
  return vehicles
    .flatMap((index) => arrivedEvents(world, index, from, to))
    .map((event) => eventRecord(world, event, EVENT_OBJECTS));
}

function allSummaries(world: World, { from, to }: Range): unknown[] {
  const rows: unknown[] = [];
  for (let day = dayOf(from); day <= Math.min(dayOf(to), dayOf(world.now())); day++) {
    for (const index of world.roster.listedBetween(startOfDay(day), startOfDay(day + 1))) {
      const summary = summaryOf(world, index, day);
      if (summary === undefined) continue;
      rows.push({ day: dateText(day), ...summaryRow(world, index, summary, false, ['vehicle', 'driver']) });
    }
  }
  return rows;
}
