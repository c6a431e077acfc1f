// Log lines for people on a terminal: time in the zone of the configuration, level, then one sentence. A run is shown by
// what it did. Texts of others are made harmless, since pino-pretty decodes the escapes of the JSON line.
import { type PrettyOptions, prettyFactory } from 'pino-pretty';
import { harmlessText } from './text/terminal-text.ts';
import { formatDuration } from './time/durations.ts';

type Fields = Record<string, unknown>;

/** The form of one JSON line. */
export function createPrettifier(colorize: boolean, zone: string): (line: string) => string {
  const format = new Intl.DateTimeFormat('sv', { timeZone: zone, timeStyle: 'medium' });
  const clock = (instant: unknown): string => format.format(new Date(String(instant)));
  const options: PrettyOptions = {
    colorize,
    translateTime: false,
    customPrettifiers: { time: (time) => `[${clock(time)}]` },
    ignore: 'pid',
    hideObject: true,
    messageFormat: (line) => harmlessText(sentenceOf(line, clock)),
    customColors: 'message:reset',
    useOnlyCustomProps: false,
  };
  const prettify = prettyFactory(options);
  return (line) => String(prettify(line) ?? '');
}

/** Fields that every line has, or that the sentence names. */
const NAMED = new Set(['time', 'level', 'msg', 'job', 'run_id', 'err', 'error', 'event', 'cause', 'status', 'attempt']);
const COUNTS = ['records', 'inserted', 'updated', 'quarantined', 'sent', 'confirmed', 'rejected', 'unknown'];

type ClockTime = (instant: unknown) => string;

function sentenceOf({ msg, job, err, ...fields }: Fields, clock: ClockTime): string {
  const subject = job === undefined ? '' : `${job}: `;
  if (msg === 'run finished') return `${subject}${runSentence(fields, clock)}`;
  const rest = Object.entries(fields)
    .filter(([name]) => !NAMED.has(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [`${subject}${msg}`, ...rest].join(', ') + errorText(err);
}

/** For example: `ok in 1.2s, 40 records, 3 inserted`. */
function runSentence({ status, attempt, duration_ms, retry_at, error, ...counts }: Fields, clock: ClockTime): string {
  const what = COUNTS.filter((name) => counts[name] !== undefined).map((name) => `${counts[name]} ${name}`);
  const took = `${status} in ${formatDuration(Number(duration_ms))}${attempt === undefined ? '' : ` at try ${attempt}`}`;
  const next = retry_at === undefined ? '' : `. Next try by ${clock(retry_at)}`;
  return [took, ...what].join(', ') + errorText(error) + next;
}

function errorText(error: unknown): string {
  const { message, code, hint, stack } = (error ?? {}) as Partial<Record<string, string>>;
  if (error === undefined || error === null) return '';
  return `: ${message ?? code}${hint ? `. Try: ${hint.replace(/\.$/, '')}` : ''}${stack === undefined ? '' : `\n${stack}`}`;
}
