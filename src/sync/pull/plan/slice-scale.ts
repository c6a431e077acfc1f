// The scale of slices: halved when a slice was too large or too slow, stored across restarts, increased again while runs
// succeed.
import type { RoadbookError } from '../../../core/errors.ts';
import { factMemory } from '../../../warehouse/control/learned-facts.ts';
import type { Engine } from '../../../warehouse/engine.ts';
import type { SyncDependencies } from '../../dependencies.ts';

const SMALLEST = 1 / 4_096;
const GROWTH = 1.5;

const TOO_LARGE = new Set(['too_large', 'body_too_large', 'timed_out']);
/** The slice needs too many further calls, but its search is not too large. */
export const TOO_MANY = 'too_many';

/** The slice may succeed if it is cut. */
export const isTooMuch = ({ code }: RoadbookError): boolean => isTooLarge(code) || code === TOO_MANY;

/** Slices of the next run should be smaller. */
export const isTooLarge = (code: string): boolean => TOO_LARGE.has(code);

/** The scale of the next run, from the scale of this run and its number of cuts. */
export function nextScale(scale: number, cuts: number): number {
  return cuts > 0 ? Math.max(SMALLEST, scale / 2) : Math.min(1, scale * GROWTH);
}

const nameOf = (job: string): string => `slice scale of ${job}`;

export const readScale = async (engine: Engine, job: string): Promise<number> =>
  (await factMemory<number>(engine, nameOf(job)).read()) ?? 1;

export async function learnScale({ engine, clock }: SyncDependencies, job: string, scale: number, cuts: number) {
  const next = nextScale(scale, cuts);
  if (next !== scale) await factMemory<number>(engine, nameOf(job)).write(next, clock.now());
}
