// Reads dates and numbers as Brazilian ERPs and spreadsheets write them: 18/11/2026 08:00, 20261118, 1.234,56. A value that
// could mean two things is never guessed: the issue shows it and names the setting that decides.

import { memoize } from '../../core/memoize.ts';

export interface FeedFormats {
  /** Order of day, month and year, such as dd/MM/yyyy; absent if only unambiguous dates are read. */
  dates?: string | undefined;
  /** Decimal mark; absent if only unambiguous numbers are read. */
  decimal?: 'comma' | 'point' | undefined;
}

export interface ValueFormats extends FeedFormats {
  /** Order of day, month and year by canonical path; overrides `dates`. */
  byPath?: Readonly<Record<string, string>>;
}

export type Written<T> = { value: T } | { issue: string } | undefined;

const DATE = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d\d)(?:[ T]+(\d.*))?$/;
const ISO_DATE = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T]+(\d.*))?$/;
const COMPACT_DATE = /^((?:19|20|21)\d\d)(\d\d)(\d\d)(?:[ T]?(\d.*))?$/;
/** The time of a day that a database or spreadsheet stores as a date-time: before that of another column, or alone. */
const MIDNIGHT = '00:00(?::00(?:[.,]0+)?)?';
const FIRST_MIDNIGHT = new RegExp(`^${MIDNIGHT}\\s+`);
const LAST_MIDNIGHT = new RegExp(`(?<=\\d)[T ]${MIDNIGHT}$`);
const TIME = /^(\d{1,2})(?::(\d\d)(?::(\d\d)(?:[.,]\d+)?)?|h(\d\d)?)$/i;
const COMPACT_TIME = /^(\d{1,2})(\d\d)(\d\d)?$/;

/** The wall-clock time as ISO 8601; undefined if the text has no form that is read here. */
export function writtenMoment(text: string, format: string | undefined): Written<string> {
  if (format !== undefined) {
    const found = datePattern(format).exec(text);
    if (found !== null) return moment(text, found.groups as unknown as DateParts, found.groups?.rest);
  }
  const iso = ISO_DATE.exec(text) ?? COMPACT_DATE.exec(text);
  if (iso !== null) return moment(text, { y: iso[1], m: iso[2], d: iso[3] } as DateParts, iso[4]);
  const written = DATE.exec(text);
  if (written === null) return undefined;
  const [, first = '', second = '', y = '', rest] = written;
  const shown = `"${text}"`;
  if (format !== undefined)
    return { issue: `${shown} does not have the form ${format}; correct \`dates\` or \`format\`` };
  if (y.length < 4) return { issue: `${shown} has a year of two digits; set \`dates: dd/MM/yy\` of the feed` };
  if (Number(second) > 12 && Number(first) <= 12)
    return { issue: `${shown} is not day/month/year; set \`dates: MM/dd/yyyy\` of the feed` };
  if (Number(first) <= 12 && Number(first) !== Number(second))
    return {
      issue: `${shown} may be day/month or month/day; set \`dates: dd/MM/yyyy\` or \`dates: MM/dd/yyyy\` of the feed`,
    };
  return moment(text, { y, m: second, d: first }, rest);
}

interface DateParts {
  y: string;
  m: string;
  d: string;
}

function moment(text: string, { y, m, d }: DateParts, rest: string | undefined): Written<string> {
  if (rest === undefined || rest === '')
    return {
      issue: `"${text}" has no time of day; add it, or join its column: \`columns: [DATE, TIME]\` in the mapping`,
    };
  const time = rest.replace(FIRST_MIDNIGHT, '');
  const [, hour, minute, second, afterH] = TIME.exec(time) ?? COMPACT_TIME.exec(time) ?? [];
  // Validation reports a time that cannot be read, and a day that does not exist.
  if (hour === undefined) return undefined;
  const year = y.length === 2 ? `20${y}` : y;
  return { value: `${year}-${two(m)}-${two(d)}T${two(hour)}:${minute ?? afterH ?? '00'}:${second ?? '00'}` };
}

/** The day of a date-time at midnight, if the column that has its time is empty. */
export const withoutMidnight = (text: string): string => text.replace(LAST_MIDNIGHT, '');

const two = (digits: string): string => digits.padStart(2, '0');

const MOST_PATTERNS = 100;
const datePattern = memoize(MOST_PATTERNS, (format: string): RegExp => {
  const digits = /[^dMy]/.test(format) ? '\\d{1,2}' : '\\d\\d';
  const date = format
    .replace(/[/. -]/g, '[/. -]')
    .replace('dd', `(?<d>${digits})`)
    .replace('MM', `(?<m>${digits})`)
    .replace(/yyyy|yy/, (year) => `(?<y>\\d{${year.length}})`);
  return new RegExp(`^${date}(?:[ T]+(?<rest>\\d.*))?$`);
});

const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** A single comma without a point is a decimal comma. */
const COMMA_NUMBER = /^[+-]?\d+,\d+$/;
const POINT_GROUPS = /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/;
const COMMA_GROUPS = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
/** One mark before three digits: 1.234 may be about one or more than a thousand. */
const UNCLEAR = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/;

/** Undefined if the text is not a number. */
export function writtenNumber(text: string, decimal: FeedFormats['decimal']): Written<number> {
  if (UNCLEAR.test(text)) {
    if (decimal === undefined)
      return {
        issue: `"${text}" may be a fraction or thousands; set \`decimal: comma\` or \`decimal: point\` of the feed`,
      };
    const isFraction = text.includes('.') === (decimal === 'point');
    return { value: Number(text.replace(/[.,]/, isFraction ? '.' : '')) };
  }
  return coordinate(text) ?? grouped(text);
}

/** A coordinate has no thousands, so both marks are decimal marks. */
export function coordinate(text: string): Written<number> {
  return PLAIN_NUMBER.test(text) || COMMA_NUMBER.test(text) ? { value: Number(text.replace(',', '.')) } : undefined;
}

function grouped(text: string): Written<number> {
  if (POINT_GROUPS.test(text)) return { value: Number(text.replaceAll('.', '').replace(',', '.')) };
  return COMMA_GROUPS.test(text) ? { value: Number(text.replaceAll(',', '')) } : undefined;
}
