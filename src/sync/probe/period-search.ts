// Finds out how a search by period treats a record: by its start, its end, both or any overlap, by full days, and whether
// the two ends of the period belong to it. Each question is one search that a known record should or should not match.

/** When the record starts and ends, ms since 1970. */
export interface KnownRecord {
  start: number;
  end: number;
}

/** Whether the search for a period returns the record. */
export type Finds = (begin: number, end: number) => Promise<boolean>;

/** A record must last this long: searches in between must neither touch its start nor its end. */
export const LEAST_LENGTH_MS = 9_000;
/** And less than this: around a record of a whole day, which may have 23 hours, each search would be on another day. */
export const LENGTH_LIMIT_MS = 22 * 3_600_000;
const MINUTE_MS = 60_000;
/** Far enough from the record that no rounding of seconds reaches it. */
const APART_MS = 2 * MINUTE_MS;

export async function probePeriodSearch(finds: Finds, { start, end }: KnownRecord) {
  const third = Math.floor((end - start) / 3_000) * 1_000;
  const meaning = await meaningOf();
  return { meaning, ends: await endsOf() };

  async function meaningOf() {
    if (!(await finds(start - MINUTE_MS, end + MINUTE_MS))) return 'unclear';
    if (await finds(end + MINUTE_MS, end + APART_MS)) return 'days';
    if (await finds(start - APART_MS, start - MINUTE_MS)) return 'days';
    if (await finds(start + third, end - third)) return 'overlap';
    const byStart = await finds(start - MINUTE_MS, start + third);
    const byEnd = await finds(end - third, end + MINUTE_MS);
    if (byStart && byEnd) return 'unclear';
    if (byStart) return 'start';
    return byEnd ? 'end' : 'containment';
  }

  /** Which ends of the period belong to it. Puts the instant that decides exactly on one end of the period. */
  async function endsOf() {
    if (meaning === 'unclear' || meaning === 'days') return 'unclear';
    const first = meaning === 'overlap' || meaning === 'end' ? end : start;
    const last = meaning === 'containment' || meaning === 'end' ? end : start;
    const isBeginIncluded = await finds(first, end + MINUTE_MS);
    const isEndIncluded = await finds(start - MINUTE_MS, last);
    if (isBeginIncluded && isEndIncluded) return 'both';
    if (isBeginIncluded) return 'begin only';
    return isEndIncluded ? 'end only' : 'neither';
  }
}
