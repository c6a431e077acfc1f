// A day of deliveries: stops, events and vehicles of the day, and the points of one plan for its map.
import { Hono } from 'hono';
import { z } from 'zod';
import { EVENT_CATEGORIES, ROUTE_PLAN_STATUSES, ROUTE_POINT_STATUSES } from '../../core/code-lists.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { localDate, periodOf } from '../../sync/pull/plan/local-days.ts';
import {
  dayEvents,
  dayPlans,
  dayStops,
  lastSummaryDay,
  planPoints,
  vehicleDays,
} from '../../warehouse/queries/delivery-day.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { dayChart, LATE_MS } from './day-chart.ts';
import { query } from './page-query.ts';

const MOST_VEHICLES = 20;

/** Every warehouse can store the instants of these days. */
const knownDay = z.iso.date().refine((day) => day >= '1970-01-01' && day < '2200-01-01');

const names = (list: readonly { name: string; code?: string; id?: number }[]): Record<string, string> =>
  Object.fromEntries(list.map(({ code, id, name }) => [String(code ?? id), name]));

type TodayApiDependencies = Pick<StatusServerDependencies, 'engine' | 'clock' | 'running'>;

export function today({ engine, clock, running }: TodayApiDependencies): Hono {
  const app = new Hono();

  app.get('/today', async (c) => {
    const { timezone } = running().config;
    const current = localDate(clock.now(), timezone);
    const { day } = query(c, { day: knownDay.default(current) });
    const period = periodOf(day, timezone);
    const [plans, stops, events] = await Promise.all([
      dayPlans(engine, period),
      dayStops(engine, period),
      dayEvents(engine, period),
    ]);
    const summaryDay = day === current ? ((await lastSummaryDay(engine)) ?? day) : day;
    return c.json({
      day,
      today: current,
      timezone,
      now: isoInstant(clock.now()),
      ...period,
      names: {
        plan: names(ROUTE_PLAN_STATUSES),
        stop: names(ROUTE_POINT_STATUSES),
        event: names(EVENT_CATEGORIES),
      },
      plans,
      stops: stops.length,
      late_after_seconds: LATE_MS / 1_000,
      picture: dayChart(stops, period, clock.now()),
      events: events.toSorted((a, b) => b.n - a.n),
      vehicles: { day: summaryDay, rows: await vehicleDays(engine, summaryDay, MOST_VEHICLES) },
    });
  });

  app.get('/plan-points', async (c) => {
    const { plan } = query(c, { plan: z.coerce.number().int() });
    return c.json({ plan, points: await planPoints(engine, plan) });
  });
  return app;
}
