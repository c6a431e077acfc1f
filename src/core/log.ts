// The log: pino, on stderr, one line for each event, with fields rather than prose: JSON, or a readable form of it on a
// terminal. Redacted twice: by field name while pino builds the line, and by value on the finished line.
import { type Logger, multistream, pino, type StreamEntry } from 'pino';
import { RoadbookError } from './errors.ts';
import type { LogTail } from './log-tail.ts';
import { REDACTED, type Redactor } from './text/redaction.ts';
import { terminalText } from './text/terminal-text.ts';

export type Log = Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SECRET_FIELDS = [
  'password',
  'token',
  'access_token',
  'refresh_token',
  'authorization',
  'webhook',
  'connection',
  'cpf',
  'rg',
  'cnh_number',
  'document_number',
];

/** `pretty` is for people on a terminal. */
export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogOptions {
  level: LogLevel;
  redactor: Redactor;
  /** Default: stderr. */
  write?: (line: string) => void;
  /** Makes a line readable. Default: the JSON line itself. */
  prettify?: (line: string) => string;
  /** Gets every line from debug on, regardless of `level`. */
  tail?: LogTail;
}

export function createLog({ level, redactor, write, prettify, tail }: LogOptions): Log {
  const raw = write === undefined ? toStderr() : { write };
  const out = prettify === undefined ? raw : { write: (line: string) => void raw.write(prettify(line)) };
  return pino(
    {
      level: tail === undefined || level === 'trace' ? level : 'debug',
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: REDACTED,
      },
      hooks: { streamWrite: (line) => terminalText(redactor.redact(line)) },
    },
    tail === undefined ? out : withTail(out, level, tail),
  );
}

function toStderr() {
  const out = pino.destination({ dest: 2, sync: true });
  // A closed terminal must not end a process that is draining.
  out.on('error', () => undefined);
  return out;
}

function withTail(stream: StreamEntry['stream'], level: LogLevel, tail: LogTail) {
  const streams: StreamEntry[] = [{ level: 'debug', stream: { write: (line) => tail.keep(line) } }];
  if (level !== 'silent') streams.push({ level, stream });
  return multistream(streams);
}

/**
 * An error for the log. A driver's message may contain bound values, so only messages of Roadbook's own errors are logged;
 * an unexpected error is logged with its stack frames.
 */
function describeError(error: Error): Record<string, unknown> {
  const { code, hint } = error as { code?: string; hint?: string };
  const isExpected = error instanceof RoadbookError && code !== 'unexpected';
  if (isExpected) return { type: error.name, code, message: error.message, hint };
  const origin = error.cause instanceof Error ? error.cause : error;
  const frames = (origin.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { type: origin.name, code, stack: frames.slice(0, 12).join('\n') };
}
