// Learns whether a search finds every plan that starts in its period, because that is not documented. An answer shows it
// that has a plan which ends after the period, and none that starts after it. The fact is stored for some days, or until an
// answer contradicts it. Then a search need not extend beyond its span, if that is too large for the service.
import { DAY_MS } from '../../../../core/time/durations.ts';
import { toInstant } from '../../../../fleet/instants.ts';
import type { Interval } from '../../../../warehouse/control/coverage.ts';
import { readFact } from '../../../../warehouse/control/learned-facts.ts';
import { spanOf } from '../../plan/windows.ts';
import type { Source } from '../../types.ts';

type ShownAt = string | null;

const FACT = 'route plans are searched by start';
/** How long the fact is valid after the answer that showed it. */
const VALID_MS = 7 * DAY_MS;
/** A fact older than this is renewed. */
const FRESH_MS = DAY_MS;

/** Whether earlier answers have shown that a search finds every plan that starts in its period. */
export const findsAllThatStart = (source: Source): Promise<boolean> => isShown(source, VALID_MS);

async function isShown(source: Source, withinMs: number): Promise<boolean> {
  const at = await readFact<ShownAt>(source.warehouse, FACT);
  return at !== undefined && at !== null && Date.parse(source.readAt) - Date.parse(at) < withinMs;
}

/** Updates the fact from the answer to a search of this period. */
export async function learnFrom(plans: readonly unknown[], period: Interval, source: Source): Promise<void> {
  const { end } = spanOf(period);
  // A service that searches full days also returns plans that start after the period.
  if (plans.some((plan) => instantIn(plan, 'date_time_start') > end)) return unlearn(source);
  const endsLater = plans.some((plan) => instantIn(plan, 'date_time_end') > end);
  if (endsLater && !(await isShown(source, FRESH_MS))) await source.remember(FACT, source.readAt);
}

/** For a search that did not return a plan that starts in its period. */
export async function unlearn(source: Source): Promise<void> {
  if (await isShown(source, VALID_MS)) await source.remember(FACT, null);
}

/** NaN if the field is not a readable instant. */
export function instantIn(record: unknown, field: 'date_time_start' | 'date_time_end'): number {
  const value = (record as { [name: string]: unknown } | null)?.[field];
  return Date.parse((typeof value === 'string' && toInstant(value)) || '');
}
