// A duration as a zod type: text such as `6h` in the file, milliseconds in the code. The configuration and the jobs' own
// options share it, so that every duration is written in the same way.
import { z } from 'zod';
import { DURATION_PATTERN, formatDuration, parseDuration } from './durations.ts';

const durationText = z
  .string()
  .regex(DURATION_PATTERN)
  .meta({ title: 'duration', examples: ['90s', '10m', '6h', '7d'] });

export const duration = z.codec(durationText, z.number(), {
  decode: (text) => parseDuration(text) ?? Number.NaN,
  encode: (ms) => (Number.isInteger(ms / 1_000) ? `${ms / 1_000}s` : `${ms}ms`),
});

export interface DurationBounds {
  /** Shortest allowed, for example `1s`. Default: no lower bound. */
  min?: string;
  /** Longest allowed, for example `1h`. Default: no upper bound. */
  max?: string;
}

/** A duration with a default such as `6h`; `description` is one sentence. */
export const durationOption = (fallback: string, description: string, bounds: DurationBounds = {}) =>
  boundedDuration(bounds).prefault(fallback).describe(description);

export function boundedDuration(bounds: DurationBounds) {
  const minMs = boundMs(bounds.min, 0);
  const maxMs = boundMs(bounds.max, Number.POSITIVE_INFINITY);
  return duration
    .refine((ms) => ms >= minMs, { message: `must be at least ${formatDuration(minMs)}`, abort: true })
    .refine((ms) => ms <= maxMs, { message: `must be at most ${formatDuration(maxMs)}`, abort: true });
}

function boundMs(bound: string | undefined, otherwise: number): number {
  return bound === undefined ? otherwise : (parseDuration(bound) ?? otherwise);
}
