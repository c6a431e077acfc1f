// The wait that a server asks for: Retry-After in seconds or as a date, by the injected clock, within bounds.

export const LONGEST_PAUSE_MS = 600_000;
/** A pause consumes no attempt: with a pause of zero, a call would repeat in a tight loop until its deadline. */
export const SHORTEST_PAUSE_MS = 1_000;
/** Used if a server throttles without a Retry-After. */
export const DEFAULT_PAUSE_MS = 10_000;

/** Milliseconds from `nowMs`; undefined if the header is missing or invalid. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, Math.ceil(waitMs)));
}
