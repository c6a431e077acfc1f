// What a simulated life has to leave behind: tables equal to the sandbox's own state, everything that was dropped
// accepted exactly once and told, no run lost count, no tick run twice.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ManualClock } from '../../src/core/manual-clock.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { tables } from '../../src/warehouse/catalog.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
import type { Table } from '../../src/warehouse/table.ts';
import { checklist } from '../../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../src/warehouse/tables/checklist-answer.ts';
import { dailySummary } from '../../src/warehouse/tables/daily-summary.ts';
import { driver } from '../../src/warehouse/tables/driver.ts';
import { event } from '../../src/warehouse/tables/event.ts';
import { itinerary } from '../../src/warehouse/tables/itinerary.ts';
import { pointOfInterest } from '../../src/warehouse/tables/point-of-interest.ts';
import { routePlan } from '../../src/warehouse/tables/route-plan.ts';
import { routePoint } from '../../src/warehouse/tables/route-point.ts';
import { routePointExecution } from '../../src/warehouse/tables/route-point-execution.ts';
import { vehicle } from '../../src/warehouse/tables/vehicle.ts';
import { rowsOf } from './engines.ts';
import { byKey, expectedRow, storedRow } from './projection.ts';

const HOUR = 3_600_000;

type Fields = Record<string, unknown>;

export interface Findings {
  /** Rows that were compared with the sandbox's state. */
  compared: number;
  /** Tables that differ from it, and how. */
  wrong: string[];
  things: number;
  /** By the ledger, those that are left to a person too. */
  twice: number;
  lost: number;
  /** Sends whose answer did not tell what became of them. */
  unclear: number;
  /** Sent five times without a clear answer: left to a person, and said so. Neither lost nor open. */
  parked: number;
  /** Other entries of the outbox that are not confirmed, or not told. */
  open: number;
  completed: number;
  doubledTicks: number;
  /** Runs whose counts do not add up. */
  miscounted: number;
  /** Of everything the warehouse holds. */
  contentDigest: string;
}

/** Five unclear answers to one thing are rare: more than one thing in twenty would be a push that gives up. */
export const mostParked = (things: number): number => Math.max(1, Math.floor(things / 20));

export const isSound = (found: Findings): boolean =>
  found.wrong.length + found.twice + found.lost + found.open + found.doubledTicks + found.miscounted === 0 &&
  found.parked <= mostParked(found.things);

export interface Scene {
  engine: Engine;
  sandbox: Sandbox;
  clock: ManualClock;
  things: number;
  startMs: number;
}

export async function findingsOf(scene: Scene): Promise<Findings> {
  const rows = (text: string) => scene.engine.read((sql) => rowsOf<Fields>(sql, text));
  const count = async (text: string) => Number((await rows(`select count(*) as n from ${text}`))[0]?.n);
  const ledger = scene.sandbox.ledger();
  const accepted = { ...ledger.plans, ...ledger.points_of_interest };
  const parked = new Set((await rows(`select external_code from push_outbox where ${PARKED}`)).map(codeIn));
  const dropped = Array.from({ length: scene.things }, (_, n) => `T${String(n).padStart(4, '0')}`);
  const counts = [...new Set([...dropped, ...parked])].map((code) => ({ code, times: accepted[code] ?? 0 }));
  const differing = await compared(scene, rows);
  return {
    compared: differing.rows,
    wrong: differing.wrong,
    things: scene.things,
    twice: counts.filter(({ times }) => times > 1).length,
    lost: counts.filter(({ code, times }) => times === 0 && !parked.has(code)).length,
    unclear: await count(`push_attempt where outcome = 'unclear'`),
    parked: parked.size,
    open: await count(`push_outbox where (state <> 'confirmed' or told_at is null) and not (${PARKED})`),
    completed: await count(`sync_run where status in ('ok', 'partial')`),
    doubledTicks: await count(
      `(select job, tick_at from sync_run where status in ('ok', 'partial') and tick_at is not null group by 1, 2 having count(*) > 1) as twice`,
    ),
    miscounted: await count(
      `sync_run where job like 'pull-%' and status in ('ok', 'partial') and records <> inserted + updated + unchanged + quarantined`,
    ),
    contentDigest: await contentOf(rows),
  };
}

/** As promised: a person has to look, and is told. */
const PARKED = `state = 'unknown' and unclear_sends >= 5 and told_at is not null`;
const codeIn = ({ external_code }: Fields): string => String(external_code);

type Rows = (text: string) => Promise<Fields[]>;

async function compared({ sandbox, clock, startMs }: Scene, rows: Rows) {
  // As far back as the first run has to read, but for a day: what was loaded once is not read again.
  const from = new Date(startMs - 4 * 24 * HOUR).toISOString();
  const edge = new Date(clock.now() - 12 * HOUR).toISOString();
  const truth = async (resource: string, query: Record<string, string> = {}): Promise<Fields[]> =>
    (await fetch(`${sandbox.url}/_sandbox/truth/${resource}?${new URLSearchParams(query)}`)).json() as never;
  const wrong: string[] = [];
  let total = 0;
  const check = (table: Table, stored: Fields[], told: Fields[], mayBeNone = false): void => {
    const mine = byKey(
      table,
      stored.map((row) => storedRow(table, row)),
    );
    const theirs = byKey(
      table,
      told.map((record) => expectedRow(table, record)),
    );
    total += told.length;
    const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
    const different = [...keys].filter((key) => !isDeepStrictEqual(mine[key], theirs[key]));
    if (told.length === 0 && !mayBeNone) wrong.push(`${table.name}: nothing to compare`);
    if (different.length > 0)
      wrong.push(
        `${table.name}: ${different.map((key) => difference(key, mine[key], theirs[key])).join(', ')}`,
      );
  };
  const listed = (table: Table, where = 'true') =>
    rows(`select * from "${table.name}" where _missing_since is null and ${where}`);
  const within = (at: unknown): boolean => {
    const iso = new Date(String(at)).toISOString();
    return iso >= from && iso < edge;
  };

  check(vehicle, await listed(vehicle), await truth('vehicles'));
  check(driver, await listed(driver), await truth('drivers'));
  check(pointOfInterest, await listed(pointOfInterest), await truth('points_of_interest'));
  const known = new Set((await rows('select id from vehicle')).map(({ id }) => id));
  const events = (await truth('events', { from, to: edge })).filter(
    ({ begin_date, vehicle: of }) => within(begin_date) && known.has((of as Fields).id),
  );
  check(event, await listed(event, `begin_date >= '${from}' and begin_date < '${edge}'`), events);

  const plans = (await truth('route_plans', { from, to: edge })).filter((plan) =>
    within(plan.date_time_start),
  );
  const mine = `select id from route_plan where date_time_start >= '${from}' and date_time_start < '${edge}'`;
  const points = plans.flatMap((plan) =>
    (plan.route_points as Fields[]).map((point): Fields => ({ ...point, route_plan_id: plan.id })),
  );
  const executions = points.flatMap((point) =>
    ((point.routes_info ?? []) as Fields[]).map(
      (record): Fields => ({ ...record, route_point_id: point.id }),
    ),
  );
  const bare = plans.map((plan) => ({
    ...plan,
    vehicle: { ...(plan.vehicle as object), device: undefined },
  }));
  check(routePlan, await rows(`select * from route_plan where id in (${mine})`), bare);
  check(routePoint, await listed(routePoint, `route_plan_id in (${mine})`), points);
  const ofMine = `route_point_id in (select id from route_point where route_plan_id in (${mine}))`;
  check(routePointExecution, await listed(routePointExecution, ofMine), executions);

  const [firstDay = '', lastDay = ''] = [from, edge].map((at) => at.slice(0, 10));
  const days = (await truth('daily_summaries', { from, to: edge }))
    .map((told): Fields => ({ ...told, subject: 'vehicle', vehicle_id: (told.vehicle as Fields).id }))
    .filter(
      ({ day, vehicle_id }) => String(day) > firstDay && String(day) < lastDay && known.has(vehicle_id),
    );
  const ofVehicles = `subject = 'vehicle' and day > '${firstDay}' and day < '${lastDay}'`;
  check(dailySummary, await listed(dailySummary, ofVehicles), days);

  const weeks = await truth('itineraries', { from, to: edge });
  const started = `date_time_start >= '${from}' and date_time_start < '${edge}'`;
  // Not every vehicle has one.
  check(
    itinerary,
    await listed(itinerary, started),
    weeks.filter((week) => within(week.date_time_start)),
    true,
  );

  const filled = await truth('checklists', { from, to: edge });
  const executed = `date_executed >= '${from}' and date_executed <= '${edge}'`;
  check(checklist, await listed(checklist, executed), filled, true);
  const ofThese = `checklist_id in (select id from checklist where ${executed})`;
  const answers = filled.flatMap((one) => (one.answers as Fields[]).map(withFlags));
  check(checklistAnswer, await listed(checklistAnswer, ofThese), answers, true);
  return { rows: total, wrong };
}

/** The flags of a form's field are numbers at the service. */
function withFlags(answer: Fields): Fields {
  const field = answer.checklist_form_field as Fields;
  const [can_photo, can_additional_data] = [field.can_photo === 1, field.can_additional_data === 1];
  return { ...answer, checklist_form_field: { ...field, can_photo, can_additional_data } };
}

function difference(key: string, mine: Fields | undefined, theirs: Fields | undefined): string {
  if (mine === undefined) return `${key} is missing`;
  if (theirs === undefined) return `${key} should not be there`;
  const fields = Object.keys(mine).filter((name) => !isDeepStrictEqual(mine[name], theirs[name]));
  return `${key} differs in ${fields.map((name) => `${name} (${mine[name]}, not ${theirs[name]})`).join(', ')}`;
}

/** Everything in the warehouse, save what the machine drew at random. */
async function contentOf(rows: Rows): Promise<string> {
  const digest = createHash('sha256');
  for (const { name, columns } of tables) {
    if (['sync_lease', 'sync_state'].includes(name)) continue;
    const kept = columns
      .map((column) => column.name)
      .filter((column) => !/run_id$|^pid$|^host$/.test(column));
    const listed = kept.map((column) => `"${column}"`).join(', ');
    const all = (await rows(`select ${listed} from "${name}"`)).map((row) => JSON.stringify(row)).sort();
    digest.update(`${name}\n${all.join('\n')}\n`);
  }
  return digest.digest('hex');
}
