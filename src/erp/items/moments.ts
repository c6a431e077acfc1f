// Reads the date-times of an ERP: ISO 8601, with or without a zone. One without a zone is a wall-clock time in the feed's
// zone and gets the offset of that zone on that day.
import { Temporal } from 'temporal-polyfill';
import { memoize } from '../../core/memoize.ts';

export const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?\s?([Zz]|[+-]\d\d(?::?\d\d)?)?$/;
/** Excludes leap seconds, which are no instants. */
const USUAL =
  /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * The date-time with a zone, or undefined if `text` is no date-time, or one that the clocks skip. An existing zone is kept.
 * Of a time that the clocks repeat it is the earlier one.
 */
export function zonedMoment(text: string, zone: string): string | undefined {
  const parts = DATE_TIME.exec(text.trim());
  if (parts === null) return undefined;
  const [, date, time, seconds = ':00', offset] = parts;
  const local = `${date}T${time}${seconds.replace(',', '.')}`;
  try {
    if (offset === undefined) {
      const wall = Temporal.PlainDateTime.from(local);
      const zoned = wall.toZonedDateTime(zone);
      return zoned.toPlainDateTime().equals(wall) ? zoned.toString({ timeZoneName: 'never' }) : undefined;
    }
    const usual = `${local}${fullOffset(offset)}`;
    return momentMs(usual) === undefined ? undefined : usual;
  } catch {
    return undefined;
  }
}

/** Whether `text` has no zone and the clocks of `zone` show it twice. */
export function isRepeated(text: string, zone: string): boolean {
  const wall = Temporal.PlainDateTime.from(text);
  const [earlier, later] = (['earlier', 'later'] as const).map((disambiguation) =>
    wall.toZonedDateTime(zone, { disambiguation }),
  );
  return earlier?.toPlainDateTime().equals(wall) === true && !earlier.equals(later as Temporal.ZonedDateTime);
}

/** Whether `value` is a date-time without a zone: in a feed's zone, one that its clocks skip. */
export const isWallTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  DATE_TIME.exec(value.trim())?.[4] === undefined &&
  zonedMoment(value, 'UTC') !== undefined;

function fullOffset(offset: string): string {
  if (/^z$/i.test(offset)) return 'Z';
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
}

/** Other years are ERP errors, such as 0001 for no date or 9999 for no end. Databases and services handle them differently. */
export const [FIRST_YEAR, LAST_YEAR] = [1970, 2199];

export const isUsualYear = (instant: string): boolean => {
  const year = Number(instant.slice(0, 4));
  return year >= FIRST_YEAR && year <= LAST_YEAR;
};

/** Milliseconds since the epoch, or undefined if `value` is no date-time with a zone or has an unusual year. */
export function momentMs(value: unknown): number | undefined {
  const parts = typeof value === 'string' ? USUAL.exec(value) : null;
  if (parts === null) return undefined;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  // Date.parse reads 30 February as 2 March, hence this check. Temporal would take ten times as long.
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate() || !isUsualYear(value as string)) return undefined;
  const ms = Date.parse(value as string);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The date of a date-time in `zone`; empty if `value` is no date-time with a zone. */
export function localDay(value: unknown, zone: string): string {
  const ms = momentMs(value);
  return ms === undefined ? '' : dayOfInstant(ms, zone);
}

/** Zone conversion is slow, and the plans of a morning start at few different times. */
const dayOfInstant = memoize(1_000, (ms: number, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString(),
);
