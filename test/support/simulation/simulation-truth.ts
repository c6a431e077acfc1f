// The rows of a simulated warehouse against the sandbox's own state: full listings, and the periods that a job marks as
// covered.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/core/time/clock.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { checklist } from '../../../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import { dailySummary } from '../../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../../src/warehouse/tables/driver.ts';
import { event } from '../../../src/warehouse/tables/event.ts';
import { itinerary } from '../../../src/warehouse/tables/itinerary.ts';
import { pointOfInterest } from '../../../src/warehouse/tables/point-of-interest.ts';
import { routePlan } from '../../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../../src/warehouse/tables/route-point-execution.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';
import { byKey, expectedRow, storedRow } from '../pull/projection.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Fields = Record<string, unknown>;
export type Rows = (text: string) => Promise<Fields[]>;

export interface TruthScene {
  sandbox: Sandbox;
  clock: Pick<Clock, 'now'>;
  startMs: number;
  /** The days of the daemon's zone are not those of the simulated company, so daily figures cannot be compared. */
  hasOtherDays?: boolean;
}

interface Period {
  from: string;
  to: string;
}

interface Comparison {
  rows: Rows;
  truth(resource: string, period?: Period): Promise<Fields[]>;
  /** Rows that the service still shows. */
  listed(table: Table, where?: string): Promise<Fields[]>;
  /** The period that the job has marked as covered, except the last half day. */
  readBy(job: string): Promise<Period>;
  /** `mayBeNone`: a short life may have none. */
  check(table: Table, stored: Fields[], expected: Fields[], mayBeNone?: boolean): void;
}

/** How many rows were compared, and the tables that differ, in words. */
export async function compareWithTruth(scene: TruthScene, rows: Rows) {
  const found = { rows: 0, wrong: [] as string[] };
  const comparison: Comparison = {
    rows,
    truth: async (resource, period) =>
      (
        await fetch(`${scene.sandbox.url}/_sandbox/truth/${resource}?${new URLSearchParams({ ...period })}`)
      ).json() as never,
    listed: (table, where = 'true') => rows(`select * from "${table.name}" where _missing_since is null and ${where}`),
    readBy: async (job) => ({
      from: await reachOf(job, scene.startMs, rows),
      to: new Date(scene.clock.now() - 12 * HOUR).toISOString(),
    }),
    check(table, stored, expected, mayBeNone = false) {
      found.rows += expected.length;
      if (expected.length === 0 && !mayBeNone) found.wrong.push(`${table.name}: nothing to compare`);
      const words = differences(table, stored, expected);
      if (words.length > 0) found.wrong.push(`${table.name}: ${words.join(', ')}`);
    },
  };
  const daily = scene.hasOtherDays === true ? [] : [days];
  for (const kind of [listings, events, plans, ...daily, itineraries, checklists]) await kind(comparison);
  return found;
}

/**
 * As far back as the job has marked covered: later runs do not read it again. At least the day before the start; where the
 * first run failed, the days before that may have passed by.
 */
async function reachOf(job: string, startMs: number, rows: Rows): Promise<string> {
  const begins = await rows(`select min(begin_at) as at from sync_coverage where job = '${job}' group by scope`);
  const [far, near] = [startMs - 4 * DAY, startMs - DAY];
  const latest = Math.max(far, ...begins.map(({ at }) => Date.parse(String(at))));
  return new Date(begins.length === 0 ? near : Math.min(near, latest)).toISOString();
}

const isWithin = ({ from, to }: Period, at: unknown): boolean => {
  const iso = new Date(String(at)).toISOString();
  return iso >= from && iso < to;
};
const within = (column: string, { from, to }: Period): string => `${column} >= '${from}' and ${column} < '${to}'`;

const knownVehicles = async (rows: Rows) => new Set((await rows('select id from vehicle')).map(({ id }) => id));

async function listings({ check, listed, truth }: Comparison): Promise<void> {
  check(vehicle, await listed(vehicle), await truth('vehicles'));
  check(driver, await listed(driver), await truth('drivers'));
  check(pointOfInterest, await listed(pointOfInterest), await truth('points_of_interest'));
}

async function events({ check, listed, truth, rows, readBy }: Comparison): Promise<void> {
  const period = await readBy('pull-events');
  const known = await knownVehicles(rows);
  const expected = (await truth('events', period)).filter(
    ({ begin_date, vehicle: of }) => isWithin(period, begin_date) && known.has((of as Fields).id),
  );
  check(event, await listed(event, within('begin_date', period)), expected);
}

async function plans({ check, listed, truth, rows, readBy }: Comparison): Promise<void> {
  const period = await readBy('pull-route-plans');
  const expected = (await truth('route_plans', period)).filter((plan) => isWithin(period, plan.date_time_start));
  const points = expected.flatMap((plan) =>
    (plan.route_points as Fields[]).map((point): Fields => ({ ...point, route_plan_id: plan.id })),
  );
  const executions = points.flatMap((point) =>
    ((point.routes_info ?? []) as Fields[]).map((record): Fields => ({ ...record, route_point_id: point.id })),
  );
  const bare = expected.map((plan) => ({
    ...plan,
    vehicle: { ...(plan.vehicle as object), device: undefined },
  }));
  const mine = `select id from route_plan where ${within('date_time_start', period)}`;
  check(routePlan, await rows(`select * from route_plan where id in (${mine})`), bare);
  check(routePoint, await listed(routePoint, `route_plan_id in (${mine})`), points);
  const ofMine = `route_point_id in (select id from route_point where route_plan_id in (${mine}))`;
  check(routePointExecution, await listed(routePointExecution, ofMine), executions);
}

/** Whole days of vehicles: the figures of drivers are the same ones, summed another way. */
async function days({ check, listed, truth, rows, readBy }: Comparison): Promise<void> {
  const period = await readBy('pull-daily-summaries');
  const [first, last] = [period.from.slice(0, 10), period.to.slice(0, 10)];
  const known = await knownVehicles(rows);
  const expected = (await truth('daily_summaries', period))
    .map((row): Fields => ({ ...row, subject: 'vehicle', vehicle_id: (row.vehicle as Fields).id }))
    .filter(({ day, vehicle_id }) => String(day) > first && String(day) < last && known.has(vehicle_id));
  const mine = `subject = 'vehicle' and day > '${first}' and day < '${last}'`;
  check(dailySummary, await listed(dailySummary, mine), expected, true);
}

async function itineraries({ check, listed, truth, readBy }: Comparison): Promise<void> {
  const period = await readBy('pull-itineraries');
  const expected = (await truth('itineraries', period)).filter((one) => isWithin(period, one.date_time_start));
  check(itinerary, await listed(itinerary, within('date_time_start', period)), expected, true);
}

async function checklists({ check, listed, truth, readBy }: Comparison): Promise<void> {
  const period = await readBy('pull-checklists');
  const expected = (await truth('checklists', period)).filter((one) => isWithin(period, one.date_executed));
  const mine = within('date_executed', period);
  check(checklist, await listed(checklist, mine), expected, true);
  const ofMine = `checklist_id in (select id from checklist where ${mine})`;
  const answers = expected.flatMap((one) => (one.answers as Fields[]).map(withFlags));
  check(checklistAnswer, await listed(checklistAnswer, ofMine), answers, true);
}

/** The flags of a form's field are numbers at the service. */
function withFlags(answer: Fields): Fields {
  const field = answer.checklist_form_field as Fields;
  const [can_photo, can_additional_data] = [field.can_photo === 1, field.can_additional_data === 1];
  return { ...answer, checklist_form_field: { ...field, can_photo, can_additional_data } };
}

function differences(table: Table, stored: Fields[], expected: Fields[]): string[] {
  const mine = byKey(
    table,
    stored.map((row) => storedRow(table, row)),
  );
  const theirs = byKey(
    table,
    expected.map((record) => expectedRow(table, record)),
  );
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])]
    .filter((key) => !isDeepStrictEqual(mine[key], theirs[key]))
    .map((key) => difference(key, mine[key], theirs[key]));
}

function difference(key: string, mine: Fields | undefined, theirs: Fields | undefined): string {
  if (mine === undefined) return `${key} is missing`;
  if (theirs === undefined) return `${key} should not be there`;
  const fields = Object.keys(mine).filter((name) => !isDeepStrictEqual(mine[name], theirs[name]));
  return `${key} differs in ${fields.map((name) => `${name} (${mine[name]}, not ${theirs[name]})`).join(', ')}`;
}
