// @ts-check
// Numbers, times and durations as short texts in the language of the page; the tone of a state.
import { locale, t } from './texts.js';

/** @type {Map<string, Intl.NumberFormat | Intl.DateTimeFormat>} */
const formats = new Map();

/**
 * @template T
 * @param {new (locale: string, options: object) => T} Format
 * @param {object} options
 * @returns {T}
 */
function formatOf(Format, options) {
  const key = JSON.stringify([locale(), Format.name, options]);
  const known = formats.get(key);
  if (known !== undefined) return /** @type {T} */ (known);
  const made = new Format(locale(), options);
  formats.set(key, /** @type {any} */ (made));
  return made;
}

export const count = (/** @type {number} */ n) => formatOf(Intl.NumberFormat, {}).format(n);
export const shortCount = (/** @type {number} */ n) =>
  formatOf(Intl.NumberFormat, { notation: 'compact', maximumFractionDigits: 1 }).format(n);
export const percent = (/** @type {number} */ share) => formatOf(Intl.NumberFormat, { style: 'percent' }).format(share);

/** For shares that are small. */
export const finePercent = (/** @type {number} */ share) =>
  formatOf(Intl.NumberFormat, { style: 'percent', maximumSignificantDigits: 2 }).format(share);

/** The time zone of the installation; the browser's own until the server has sent it. */
/** @type {string | undefined} */
let zone;
export const setZone = (/** @type {string} */ name) => {
  zone = name;
};

/** @typedef {string | number} Instant */

/**
 * @param {Instant} instant
 * @param {Intl.DateTimeFormatOptions} options
 */
const formatted = (instant, options) =>
  formatOf(Intl.DateTimeFormat, { timeZone: zone, hourCycle: 'h23', ...options }).format(new Date(instant));

const CLOCK = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit' });
export const clockTime = (/** @type {Instant} */ instant) => formatted(instant, CLOCK);
export const exactTime = (/** @type {Instant} */ instant) =>
  formatted(instant, { ...CLOCK, second: '2-digit', fractionalSecondDigits: 3 });
export const fullTime = (/** @type {Instant} */ instant) =>
  formatted(instant, { day: '2-digit', month: 'short', year: 'numeric', ...CLOCK, second: '2-digit' });
export const dayAndTime = (/** @type {Instant} */ instant) =>
  formatted(instant, { day: '2-digit', month: 'short', ...CLOCK });
export const weekdayAndTime = (/** @type {Instant} */ instant) =>
  formatted(instant, { weekday: 'short', day: '2-digit', month: 'short', ...CLOCK });
/** A local day such as `2026-03-10`; with its year if that is not this one. */
export const weekday = (/** @type {string} */ day) =>
  formatted(`${day}T12:00:00Z`, {
    timeZone: 'UTC',
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    ...(day.slice(0, 4) === String(new Date().getFullYear()) ? {} : { year: 'numeric' }),
  });

/** A duration in seconds, with at most two units. */
export function span(/** @type {number} */ seconds) {
  const s = Math.abs(seconds);
  const digits = formatOf(Intl.NumberFormat, { maximumFractionDigits: 1 });
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${digits.format(s)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return minutes < 10 && s % 60 >= 1 ? `${minutes} min ${Math.floor(s % 60)} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return t('time.days', { n: Math.floor(hours / 24) });
}

const CLOCKS = {
  ago: (/** @type {number} */ ms) =>
    ms < 1500 ? t('time.now') : t('time.ago', { span: span(ms < 60000 ? ms / 1000 : Math.floor(ms / 60000) * 60) }),
  until: (/** @type {number} */ ms) => (ms > 0 ? t('time.due') : t('time.in', { span: span(-ms / 1000) })),
  age: (/** @type {number} */ ms) => span(Math.max(0, ms) / 1000),
};
/** @typedef {keyof typeof CLOCKS} ClockKind */

/** @type {(kind: ClockKind, instant: Instant) => string} */
export const clockWords = (kind, instant) =>
  CLOCKS[kind](Math.floor((Date.now() - new Date(instant).getTime()) / 1000) * 1000);

/**
 * The duration of a run in seconds; null while it runs.
 * @param {{started_at: string, finished_at: string | null}} run
 */
export const runSeconds = ({ started_at, finished_at }) =>
  finished_at === null ? null : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;

/** @type {Record<string, string>} */
const TONES = {
  ok: 'ok',
  confirmed: 'ok',
  alive: 'ok',
  final: 'ok',
  fresh: 'ok',
  partial: 'late',
  differs: 'late',
  unknown: 'late',
  late: 'late',
  warning: 'late',
  provisional: 'new',
  failed: 'bad',
  abandoned: 'bad',
  rejected: 'bad',
  failing: 'bad',
  silent: 'bad',
  hole: 'bad',
  running: 'new',
  sending: 'new',
  'never ran': 'new',
};
export const toneOf = (/** @type {string} */ state) => TONES[state] ?? 'still';
