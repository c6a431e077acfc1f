// The deadline: a local time of day by which every plan that starts tomorrow must be confirmed. A plan that missed it stays
// missed until it is confirmed, cancelled or over. The run, the page, the commands and the alerts share one query.
import { Temporal } from 'temporal-polyfill';
import { Skippable } from '../../core/errors.ts';
import { firstNames } from '../../core/text/first-names.ts';
import { isoInstant, latestInstant } from '../../core/time/clock.ts';
import { localDay } from '../../erp/items/moments.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { statesStarting, unconfirmedPlans } from '../../warehouse/outbox/lists.ts';
import type { PushRun } from './kind.ts';

const MOST_NAMED = 10;

interface DeadlineQuestion {
  /** Local time of day, as in `18:00`. */
  deadline: string;
  timezone: string;
  /** Milliseconds since the epoch. */
  now: number;
}

export async function plansByDeadline(engine: Engine, { deadline, timezone, now }: DeadlineQuestion) {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone);
  const today = local.toPlainDate();
  const midnight = (days: number): string =>
    isoInstant(today.add({ days }).toZonedDateTime(timezone).epochMilliseconds);
  const dueMs = today.toZonedDateTime({ timeZone: timezone, plainTime: deadline }).epochMilliseconds;
  const starting = { start: midnight(1), end: midnight(2) };
  const tomorrow = await engine.read((sql) => statesStarting(sql, 'route_plans', starting));
  const open = await engine.read((sql) => unconfirmedPlans(sql, isoInstant(now)));
  const nextDay = today.add({ days: 1 }).toString();
  const due = now >= dueMs ? nextDay : today.toString();
  // A plan that the ERP first offers for a day on that day had no deadline to keep.
  const missed = open.filter((plan) => {
    const day = localDay(plan.period_start, timezone);
    return day <= due && localDay(plan.created_at, timezone) < day;
  });
  const missedAt = ({ period_start, created_at }: (typeof missed)[number]): string => {
    const eve = Temporal.PlainDate.from(localDay(period_start, timezone)).subtract({ days: 1 });
    const dueAt = isoInstant(eve.toZonedDateTime({ timeZone: timezone, plainTime: deadline }).epochMilliseconds);
    return created_at > dueAt ? created_at : dueAt;
  };
  return {
    /** ISO instant of today's deadline. */
    dueAt: isoInstant(dueMs),
    /** The local day of the plans that it is for. */
    day: nextDay,
    /** How many plans of tomorrow are confirmed, and how many are neither confirmed nor cancelled. */
    confirmed: tomorrow.filter((state) => state === 'confirmed').length,
    open: tomorrow.filter((state) => state !== 'confirmed' && state !== 'cancelled').length,
    /** By code. */
    missed,
    /** When the newest of them missed it; null if none did. */
    newest: latestInstant(missed.map(missedAt)),
  };
}

export const missedText = (plans: number, deadline: string): string =>
  plans === 1
    ? `1 plan was not confirmed by ${deadline} of the day before it starts`
    : `${plans} plans were not confirmed by ${deadline} of the day before they start`;

export async function reportDeadline({ settings, context, engine, report }: PushRun): Promise<void> {
  const { clock, timezone } = context.dependencies;
  const { deadline } = settings;
  if (deadline === undefined) return;
  const { missed } = await plansByDeadline(engine, { deadline, timezone, now: clock.now() });
  if (missed.length === 0) return;
  const names = missed.map(({ external_code, state }) => `${external_code} (${state})`);
  const text = `${missedText(missed.length, deadline)}: ${firstNames(names, MOST_NAMED)}`;
  const hint = 'See why: npx roadbook outbox list';
  report(new Skippable(text, { code: 'deadline_missed', hint }), 'deadline missed', { late: missed.length });
}
