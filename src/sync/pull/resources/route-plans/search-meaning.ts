// What the period of a plan search means is not documented: plans that start in it, that meet it, or that lie in it as
// a whole. A search that reaches beyond a span by the length of the longest plan finds all that start in the span,
// whatever it means. Where that is too much for the service, an answer may show that less will do: one with a plan that
// goes on after the period, and none that starts after it. That is remembered for a while, until an answer tells otherwise.
import { toInstant } from '../../../../fleet/instants.ts';
import type { Interval } from '../../../../warehouse/control/coverage.ts';
import { spanOf } from '../../plan/windows.ts';
import type { Source } from '../../types.ts';

type Shown = string | null;

const FACT = 'route plans are searched by start';
const DAY_MS = 86_400_000;
/** How long an answer that showed it counts. */
const HOLDS_MS = 7 * DAY_MS;
/** An older one is renewed. */
const FRESH_MS = DAY_MS;

/** Whether a search finds every plan that starts in its period, as far as answers have shown. */
export const findsAllThatStart = (source: Source): Promise<boolean> => isShown(source, HOLDS_MS);

async function isShown(source: Source, withinMs: number): Promise<boolean> {
  const at = await source.recall<Shown>(FACT);
  return at !== undefined && at !== null && Date.parse(source.readAt) - Date.parse(at) < withinMs;
}

/** What the answer to a search of this period shows. */
export async function learnFrom(plans: readonly unknown[], period: Interval, source: Source): Promise<void> {
  const { end } = spanOf(period);
  // A service that takes whole days brings plans that start after the period.
  if (plans.some((plan) => instantIn(plan, 'date_time_start') > end)) return unlearn(source);
  const goesOn = plans.some((plan) => instantIn(plan, 'date_time_end') > end);
  if (goesOn && !(await isShown(source, FRESH_MS))) await source.remember<Shown>(FACT, source.readAt);
}

/** A search did not bring what starts in its period. */
export async function unlearn(source: Source): Promise<void> {
  if (await isShown(source, HOLDS_MS)) await source.remember<Shown>(FACT, null);
}

/** NaN where the record does not tell it as an instant. */
export function instantIn(record: unknown, field: 'date_time_start' | 'date_time_end'): number {
  const value = (record as { [name: string]: unknown } | null)?.[field];
  return Date.parse((typeof value === 'string' && toInstant(value)) || '');
}
