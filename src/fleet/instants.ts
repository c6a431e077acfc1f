// Converts the date-times and days of the service into the one form that the warehouse stores. A text that is no instant
// (no zone, no such day) gives undefined. No digit of a fraction is lost.

const USUAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const RARE = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s?(?:[Zz]|([+-]\d\d):?(\d\d)?)$/;
const DAY = /^\d{4}-\d\d-\d\d(?:$|[Tt ]\d\d:\d\d)/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MINUTE_MS = 60_000;
/** Offset at which the seconds of the usual form end and the fraction or the zone begins. */
const SECONDS_END = 19;

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`, or undefined if `text` is no instant. */
export function toInstant(text: string): string | undefined {
  // Fast path: most texts are in UTC and have one of two lengths. Comparing characters takes a third of a pattern's time.
  if (isUsualUtc(text)) return text.length === SECONDS_END + 1 ? `${text.slice(0, SECONDS_END)}.000Z` : text;
  const usual = USUAL.test(text) ? text : usualForm(text);
  if (usual === undefined || !isDay(usual)) return undefined;
  if (twoDigits(usual, 11) > 23 || twoDigits(usual, 14) > 59 || twoDigits(usual, 17) > 59) return undefined;
  if (usual.endsWith('Z')) return withMilliseconds(usual, usual.length - 1, usual);
  const zoneAt = usual.length - 6;
  const utc = shiftToUtc(usual, zoneAt);
  return utc === undefined ? undefined : withMilliseconds(usual, zoneAt, utc);
}

const DASH = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const T = 0x54;
const Z = 0x5a;
/** Every month has at least this many days, so the fast path needs no table of months. */
const SHORTEST_MONTH = 28;

/** Whether `text` is `YYYY-MM-DDTHH:MM:SSZ`, with or without milliseconds. False does not mean that it is no instant. */
function isUsualUtc(text: string): boolean {
  const end = text.length - 1;
  if ((end !== SECONDS_END && end !== SECONDS_END + 4) || text.charCodeAt(end) !== Z) return false;
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH || text.charCodeAt(10) !== T) return false;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return false;
  const month = digitsAt(text, 5);
  const day = digitsAt(text, 8);
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= SHORTEST_MONTH)) return false;
  if (!(digitsAt(text, 11) <= 23 && digitsAt(text, 14) <= 59 && digitsAt(text, 17) <= 59)) return false;
  if (!(digitsAt(text, 0) <= 99 && digitsAt(text, 2) <= 99)) return false;
  if (end === SECONDS_END) return true;
  return text.charCodeAt(SECONDS_END) === DOT && digitsAt(text, 20) <= 99 && digitsAt(text, 21) <= 99;
}

/** The number that two digits form; 100 if one of the two is not a digit. */
function digitsAt(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 100;
}

/** Takes date and time from `shifted` and the fraction from `source`, with at least three digits. */
function withMilliseconds(source: string, zoneAt: number, shifted: string): string {
  const digits = zoneAt === SECONDS_END ? 0 : zoneAt - SECONDS_END - 1;
  if (digits >= 3 && shifted === source) return source;
  const fraction = digits === 0 ? '.000Z' : `.${source.slice(SECONDS_END + 1, zoneAt).padEnd(3, '0')}Z`;
  // A single concatenation: V8 keeps every intermediate string in memory as long as the result.
  return shifted.slice(0, SECONDS_END) + fraction;
}

function shiftToUtc(text: string, zoneAt: number): string | undefined {
  const hours = twoDigits(text, zoneAt + 1);
  const minutes = twoDigits(text, zoneAt + 4);
  if (hours > 23 || minutes > 59) return undefined;
  const sign = text[zoneAt] === '-' ? 1 : -1;
  const utcHour = twoDigits(text, 11) + sign * hours;
  // Fast path: most offsets are full hours and do not change the day.
  if (minutes === 0 && utcHour >= 0 && utcHour <= 23) {
    return `${text.slice(0, 11)}${utcHour < 10 ? '0' : ''}${utcHour}${text.slice(13, SECONDS_END)}`;
  }
  const local = Date.parse(`${text.slice(0, SECONDS_END)}Z`);
  const utc = new Date(local + sign * (hours * 60 + minutes) * MINUTE_MS).toISOString();
  // Beyond the four-digit years there is no normal form.
  return utc.length === 24 ? utc : undefined;
}

/** Rewrites rare forms of ISO 8601: lower case, a space, a comma, no seconds, `-0300`, `-03`. */
function usualForm(text: string): string | undefined {
  const parts = RARE.exec(text);
  if (parts === null) return undefined;
  const [, date, time, seconds = ':00', fraction, offsetHours, offsetMinutes = '00'] = parts;
  const zone = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
  return `${date}T${time}${seconds}${fraction === undefined ? '' : `.${fraction}`}${zone}`;
}

/** `YYYY-MM-DD`, also of a full date-time; undefined if there is no such day. */
export function toDay(text: string): string | undefined {
  return DAY.test(text) && isDay(text) ? text.slice(0, 10) : undefined;
}

function isDay(text: string): boolean {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0;
  const day = twoDigits(text, 8);
  return day >= 1 && day <= (MONTH_DAYS[month - 1] ?? 0) + leap;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}
