// The simulated company is in São Paulo, three hours behind UTC all year. A day is an integer: the local days since
// 1970-01-01, so that days can be keys and can be counted.

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const OFFSET_MS = -3 * HOUR_MS;

/** First day with trips and plans: 2023-01-01. Before it there is only the base fleet. */
export const FOUNDING_DAY = 19_358;

export const dayOf = (at: number): number => Math.floor((at + OFFSET_MS) / DAY_MS);

/** The instant of local midnight at the start of `day`. */
export const startOfDay = (day: number): number => day * DAY_MS - OFFSET_MS;

/** 0 is Sunday. */
export const weekdayOf = (day: number): number => (day + 4) % 7;

/** `2026-11-15` of a local day. */
export const dateText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** The local wall clock of an instant with its offset: `2026-11-15T08:30:00-03:00`. */
export const offsetText = (at: number): string => `${new Date(at + OFFSET_MS).toISOString().slice(0, 19)}-03:00`;
