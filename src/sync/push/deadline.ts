// The deadline: a local time of day by which every plan that starts tomorrow must be confirmed. The run, the page, the
// commands and the alerts share one query.
import { Temporal } from 'temporal-polyfill';
import { Skippable } from '../../core/errors.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { entriesStarting } from '../../warehouse/outbox/lists.ts';
import type { PushRun } from './kind.ts';

const MOST_NAMED = 10;

interface DeadlineQuestion {
  /** Local time of day, as in `18:00`. */
  deadline: string;
  timezone: string;
  /** Milliseconds since the epoch. */
  now: number;
}

export async function plansOfTomorrow(engine: Engine, { deadline, timezone, now }: DeadlineQuestion) {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone);
  const today = local.toPlainDate();
  const midnight = (days: number): string =>
    isoInstant(today.add({ days }).toZonedDateTime(timezone).epochMilliseconds);
  const dueMs = today.toZonedDateTime({ timeZone: timezone, plainTime: deadline }).epochMilliseconds;
  const plans = await engine.read((sql) =>
    entriesStarting(sql, 'route_plans', { start: midnight(1), end: midnight(2) }),
  );
  return {
    /** ISO instant of today's deadline. */
    dueAt: isoInstant(dueMs),
    isPast: now >= dueMs,
    confirmed: plans.filter(({ state }) => state === 'confirmed').length,
    /** Neither confirmed nor cancelled, by code. */
    open: plans.filter(({ state }) => state !== 'confirmed' && state !== 'cancelled'),
  };
}

export async function reportDeadline({ settings, context, engine, report }: PushRun): Promise<void> {
  const { clock, timezone } = context.dependencies;
  const { deadline } = settings;
  if (deadline === undefined) return;
  const { isPast, open } = await plansOfTomorrow(engine, { deadline, timezone, now: clock.now() });
  if (!isPast || open.length === 0) return;
  const named = open.slice(0, MOST_NAMED).map(({ external_code, state }) => `${external_code} (${state})`);
  const names = named.join(', ') + (open.length > MOST_NAMED ? ', …' : '');
  const plans = open.length === 1 ? 'plan that starts tomorrow is' : 'plans that start tomorrow are';
  const text = `${open.length} ${plans} not confirmed by ${deadline}: ${names}`;
  const hint = 'See why: npx roadbook outbox list';
  report(new Skippable(text, { code: 'deadline_missed', hint }), 'deadline missed', { late: open.length });
}
