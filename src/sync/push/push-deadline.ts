// The deadline guard: from a local time of day on, every plan that starts tomorrow has to be confirmed. What is
// not is told in the log and as the failure of the run, at every run until it is; anybody may ask the warehouse.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from '../../core/clock.ts';
import { Skippable } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import type { OutboxState } from '../../warehouse/outbox-states.ts';
import { routePlanKind } from './kinds/route-plans.ts';
import { ownPeriod, type Period } from './push-kind.ts';
import type { PushRun } from './push-run.ts';

export const DEADLINE_PATTERN = /^([01]\d|2[0-3]):[0-5]\d$/;
const MOST_NAMED = 10;

/** The local day after `nowMs`, once the deadline has passed; undefined before it. */
export function guardedDay(deadline: string, nowMs: number, timezone: string): Period | undefined {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone);
  if (Temporal.PlainTime.compare(now.toPlainTime(), Temporal.PlainTime.from(deadline)) < 0) return undefined;
  const startOf = (days: number): string =>
    isoInstant(now.toPlainDate().add({ days }).toZonedDateTime(timezone).epochMilliseconds);
  return { start: startOf(1), end: startOf(2) };
}

export interface DeadlineQuestion {
  /** Local time of day, as in `18:00`. */
  deadline: string;
  /** IANA zone. */
  timezone: string;
  /** Milliseconds since the epoch. */
  now: number;
}

export interface LatePlan {
  external_code: string;
  state: OutboxState;
}

/** The plans that start tomorrow and are not confirmed, by code, once the deadline has passed; none before it. */
export async function missedDeadlines(
  engine: Engine,
  { deadline, timezone, now }: DeadlineQuestion,
): Promise<LatePlan[]> {
  const day = guardedDay(deadline, now, timezone);
  if (day === undefined) return [];
  const open: OutboxEntry[] = await engine.read((sql) =>
    sql('push_outbox')
      .where({ kind: 'route_plans' })
      .whereIn('state', ['ready', 'sending', 'unknown', 'rejected'])
      .where('period_start', '<', day.end)
      .where('period_end', '>=', day.start)
      .orderBy('external_code'),
  );
  return open
    .filter((entry) => {
      const start = startOf(entry);
      return start >= day.start && start < day.end;
    })
    .map(({ external_code, state }) => ({ external_code, state }));
}

/** When the ERP wants it to start; the period of the entry may hold that of an older content too. */
function startOf(entry: OutboxEntry): string {
  return ownPeriod(routePlanKind, entry).period_start || (entry.period_start ?? '');
}

export async function guardDeadline({ settings, context, failures }: PushRun): Promise<void> {
  const { clock, timezone, engine } = context.parts;
  const { deadline } = settings;
  if (deadline === undefined) return;
  const late = await missedDeadlines(engine, { deadline, timezone, now: clock.now() });
  if (late.length === 0) return;
  const named = late.slice(0, MOST_NAMED).map(({ external_code, state }) => `${external_code} (${state})`);
  const failure = new Skippable(
    `${late.length} that start tomorrow are not confirmed by ${deadline}: ${named.join(', ')}${late.length > MOST_NAMED ? ', …' : ''}`,
    { code: 'deadline_missed', hint: 'See why: npx roadbook outbox list' },
  );
  context.log.warn({ err: failure, late: late.length }, 'deadline missed');
  failures.push(failure);
}
