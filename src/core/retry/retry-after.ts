// How long a server asks to wait: Retry-After in seconds or as a date, by the injected clock, bounded.

export const LONGEST_PAUSE_MS = 600_000;
/** A pause consumes no attempt: one of nothing at all would let a call ask without end until its deadline. */
export const SHORTEST_PAUSE_MS = 1_000;
/** Where a server throttles and does not say for how long. */
export const DEFAULT_PAUSE_MS = 10_000;

/** Milliseconds from `nowMs`, or undefined where the header is missing or makes no sense. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, Math.ceil(waitMs)));
}
