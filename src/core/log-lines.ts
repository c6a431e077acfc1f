// Log lines for people on a terminal: local time, level, then one sentence. A run is shown by what it did. Texts of others
// are made harmless, since pino-pretty decodes the escapes of the JSON line.
import { type PrettyOptions, prettyFactory } from 'pino-pretty';
import { harmlessText } from './text/terminal-text.ts';
import { formatDuration } from './time/durations.ts';

type Fields = Record<string, unknown>;

/** The form of one JSON line. */
export function createPrettifier(colorize: boolean): (line: string) => string {
  const options: PrettyOptions = {
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid',
    hideObject: true,
    messageFormat: (line) => harmlessText(sentenceOf(line)),
    customColors: 'message:reset',
    useOnlyCustomProps: false,
  };
  const prettify = prettyFactory(options);
  return (line) => String(prettify(line) ?? '');
}

/** Fields that every line has, or that the sentence names. */
const NAMED = new Set(['time', 'level', 'msg', 'job', 'run_id', 'err', 'error', 'event', 'cause', 'status', 'attempt']);
const COUNTS = ['records', 'inserted', 'updated', 'quarantined', 'sent', 'confirmed', 'rejected', 'unknown'];

function sentenceOf({ msg, job, err, ...fields }: Fields): string {
  const subject = job === undefined ? '' : `${job}: `;
  if (msg === 'run finished') return `${subject}${runSentence(fields)}`;
  const rest = Object.entries(fields)
    .filter(([name]) => !NAMED.has(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [`${subject}${msg}`, ...rest].join(', ') + errorText(err);
}

/** For example: `ok in 1.2s, 40 records, 3 inserted`. */
function runSentence({ status, attempt, duration_ms, retry_at, error, ...counts }: Fields): string {
  const what = COUNTS.filter((name) => counts[name] !== undefined).map((name) => `${counts[name]} ${name}`);
  const took = `${status} in ${formatDuration(Number(duration_ms))}${attempt === undefined ? '' : ` at try ${attempt}`}`;
  const next = retry_at === undefined ? '' : `. Next try by ${new Date(String(retry_at)).toLocaleTimeString('sv')}`;
  return [took, ...what].join(', ') + errorText(error) + next;
}

function errorText(error: unknown): string {
  const { message, code, hint, stack } = (error ?? {}) as Partial<Record<string, string>>;
  if (error === undefined || error === null) return '';
  return `: ${message ?? code}${hint ? `. Try: ${hint.replace(/\.$/, '')}` : ''}${stack === undefined ? '' : `\n${stack}`}`;
}
