// Parses --from and --to. A date without a time means the start of that local day.
import { Temporal } from 'temporal-polyfill';
import { isoInstant } from '../core/time/clock.ts';
import { periodOf } from '../core/time/local-days.ts';
import type { NamedJob } from '../sync/job.ts';
import type { Interval } from '../warehouse/control/coverage.ts';
import { usageError } from './command.ts';

export interface PeriodOptions {
  from?: string;
  to?: string;
}

/** Only a job with the option `since` reads by period. */
export function checkHasPeriod({ name, options }: Pick<NamedJob, 'name' | 'options'>): void {
  if ('since' in options.shape) return;
  throw usageError(`${name} takes no period`, `run the job without --from and --to: roadbook run ${name}`);
}

export function readPeriod({ from, to }: PeriodOptions, timezone: string): Interval | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined || to === undefined) throw usageError('--from and --to must be used together', 'set both');
  const beginAt = readInstant('--from', from, timezone);
  const endAt = readInstant('--to', to, timezone);
  if (beginAt >= endAt)
    throw usageError('--from is not before --to', 'a date without a time means the start of that day');
  return { beginAt, endAt };
}

function readInstant(option: string, text: string, timezone: string): string {
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return periodOf(text, timezone).from;
    // PlainDateTime would ignore a zone and an offset.
    if (text.includes('[')) return isoInstant(Temporal.ZonedDateTime.from(text).epochMilliseconds);
    if (/[z+-]/i.test(text.slice('2026-01-31'.length)))
      return isoInstant(Temporal.Instant.from(text).epochMilliseconds);
    return isoInstant(Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).epochMilliseconds);
  } catch {
    throw usageError(`${option} is not a date or date-time`, 'for example 2026-01-31 or 2026-01-31T18:00');
  }
}
