// A day of deliveries: stops, events and vehicles of the day, and the points of one plan for its map.
import { Hono } from 'hono';
import { z } from 'zod';
import { knownDay } from '../../core/time/known-day.ts';
import { localDate, periodOf } from '../../core/time/local-days.ts';
import { dayStatuses } from '../../warehouse/queries/day-status.ts';
import {
  dayEvents,
  dayPlans,
  dayStops,
  lastSummaryDay,
  planPoints,
  plansOnBothSides,
  vehicleDays,
} from '../../warehouse/queries/delivery-day.ts';
import { missingProof, proofByAgent } from '../../warehouse/queries/missing-proof.ts';
import { tableFreshnessOf } from '../health/status-document.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { countByValue, dayChart, type LateRule, lateSeconds } from './day-chart.ts';
import { dayPlanRows } from './day-plans.ts';
import { languageOf, query } from './page-query.ts';
import { entryFacts } from './plans.ts';

const MOST_VEHICLES = 20;
const MOST_PLANS = 2_000;

export function today(dependencies: StatusServerDependencies): Hono {
  const { engine, clock, running, jobs } = dependencies;
  const app = new Hono();
  const lateRule = (): LateRule => ({ nowMs: clock.now(), ...running().config.stops });

  app.get('/today', async (c) => {
    const { timezone } = running().config;
    const current = localDate(clock.now(), timezone);
    const { day } = query(c, { day: knownDay.default(current) });
    const period = periodOf(day, timezone);
    const [plans, stops, events, unproved, [status = null]] = await Promise.all([
      dayPlans(engine, period),
      dayStops(engine, period),
      dayEvents(engine, day),
      missingProof(engine, { planDay: day }),
      dayStatuses(engine, { first: day, last: day, table_name: 'route_plan' }),
    ]);
    const summaryDay = day === current ? ((await lastSummaryDay(engine)) ?? day) : day;
    return c.json({
      day,
      today: current,
      timezone,
      ...period,
      /** Whether the plans of the day are read again; null for a day to come. */
      status,
      plans,
      stops: stops.length,
      late_after_seconds: lateRule().lateAfterMs / 1_000,
      chart: dayChart(stops, period, lateRule()),
      missing_proof: proofByAgent(unproved),
      events: events.toSorted((a, b) => b.n - a.n),
      vehicles: { day: summaryDay, rows: await vehicleDays(engine, summaryDay, MOST_VEHICLES) },
    });
  });

  app.get('/day', async (c) => {
    const { config } = running();
    const { day } = query(c, { day: knownDay.default(localDate(clock.now(), config.timezone)) });
    const both = await plansOnBothSides(engine, periodOf(day, config.timezone));
    const rows = dayPlanRows(both, lateRule(), await entryFacts(dependencies, languageOf(c)));
    const { freshAt } = await tableFreshnessOf('route_plan', { config, jobs, engine });
    return c.json({
      day,
      timezone: config.timezone,
      late_after_seconds: config.stops.lateAfterMs / 1_000,
      /** Until when the service was read; null if it was not read yet. */
      read_until: freshAt,
      steps: countByValue(rows.map(({ step }) => step)),
      rows: rows.slice(0, MOST_PLANS),
      cut: rows.length > MOST_PLANS,
    });
  });

  app.get('/plan-points', async (c) => {
    const { plan } = query(c, { plan: z.coerce.number().int() });
    const points = await planPoints(engine, plan);
    return c.json({
      plan,
      points: points.map((point) => ({ ...point, late_seconds: lateSeconds(point, lateRule()) })),
    });
  });
  return app;
}
