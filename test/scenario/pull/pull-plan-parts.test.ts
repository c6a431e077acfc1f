// When plans and points vanish, the rows below them are marked too, and unmarked when they return.
import { describe, expect, it } from 'vitest';
import { HOUR, openRig, putBefore } from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';

const JOB = 'pull-route-plans';
const START = '2026-03-10T15:00:00.000Z';
const MINUTES = 5 * 60_000;

interface Plan {
  id: number;
  route_points?: { id: number }[];
}

/** Rows and missing rows of each level below these points, and of the points themselves. */
async function levels(rig: Rig, points: string): Promise<Record<string, [number, number]>> {
  const below = `route_point_id in (select id from route_point where ${points})`;
  const from = {
    route_point: points,
    route_point_execution: below,
    route_point_item: below,
  };
  const counts = Object.entries(from).map(async ([table, where]) => {
    const rows = await rig.rows(`select _missing_since from ${table} where ${where}`);
    const gone = rows.filter(({ _missing_since }) => _missing_since !== null);
    return [table, [rows.length, gone.length]] satisfies [string, [number, number]];
  });
  return Object.fromEntries(await Promise.all(counts));
}

const allOf = (found: Record<string, [number, number]>) =>
  Object.fromEntries(Object.entries(found).map(([table, [rows]]) => [table, [rows, rows]]));
const noneOf = (found: Record<string, [number, number]>) =>
  Object.fromEntries(Object.entries(found).map(([table, [rows]]) => [table, [rows, 0]]));

describe('the rows below a plan', () => {
  it('are marked with a completed plan that vanished, and unmarked with it when the search lists it again', async () => {
    const rig = await openRig(START, { vehicles: 4, churn: false });
    const run = async () => {
      await rig.clock.advance(MINUTES);
      expect((await rig.run(JOB, { since: '3d' })).status).toBe('ok');
    };
    await run();
    const completedBefore = new Date(rig.clock.now() - 49 * HOUR).toISOString();
    const [{ id } = {}] = await rig.rows(
      `select id from route_plan where status = 'C' and date_time_end < '${completedBefore}'
       order by date_time_end desc limit 1`,
    );
    let isGone = true;
    await putBefore(rig, async (url, original) => {
      if (!isGone || url.pathname !== '/import/route_plan') return undefined;
      const asked = url.searchParams.get('route_plan_id');
      if (asked === String(id)) return { status: 404, body: {} };
      if (asked !== null) return undefined;
      const { data } = (await original()) as { data: Plan[] };
      return { body: { data: data.filter((plan) => plan.id !== id) } };
    });
    const points = `route_plan_id = ${id}`;
    const before = await levels(rig, points);
    expect(Math.min(...Object.values(before).map(([rows]) => rows))).toBeGreaterThan(0);
    await run();
    expect(await levels(rig, points)).toEqual(allOf(before));
    isGone = false;
    await run();
    expect(await levels(rig, points)).toEqual(noneOf(before));
    expect(await rig.rows('select id from route_plan where _missing_since is not null')).toEqual([]);
  });

  it.each(['sqlite', 'postgres'] as const)('are marked with a point that left its plan, %s', async (engine) => {
    const rig = await openRig(START, { vehicles: 3, churn: false }, { engine });
    const run = async () => {
      await rig.clock.advance(MINUTES);
      expect((await rig.run(JOB, { since: '1d' })).status).toBe('ok');
    };
    await run();
    const [{ point, plan } = {}] = await rig.rows(
      `select p.id as point, p.route_plan_id as plan from route_point p
       join route_point_execution e on e.route_point_id = p.id join route_point_item i on i.route_point_id = p.id
       limit 1`,
    );
    let isGone = true;
    await putBefore(rig, async (url, original) => {
      if (!isGone || url.searchParams.get('route_plan_id') !== String(plan)) return undefined;
      const { data } = (await original()) as { data: Plan[] };
      const without = data.map((each) => ({
        ...each,
        route_points: each.route_points?.filter(({ id }) => id !== point),
      }));
      return { body: { data: without } };
    });
    const before = await levels(rig, `id = ${point}`);
    await run();
    expect(await levels(rig, `id = ${point}`)).toEqual(allOf(before));
    const others = await levels(rig, `id <> ${point}`);
    expect(others).toEqual(noneOf(others));
    isGone = false;
    await run();
    expect(await levels(rig, `id = ${point}`)).toEqual(noneOf(before));
  });
});
