// The four kinds of error, named by what the caller does about them. The message says what happened and where, the hint
// what to try. Neither contains a record, a token or a bound value.

export interface ErrorDetails {
  /** Stable identifier for machines, snake_case. */
  code: string;
  /** What the user can try, one sentence. */
  hint?: string;
  cause?: unknown;
}

export class RoadbookError extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code;
    this.hint = details.hint;
  }
}

/** A retry cannot help: the run stops. */
export class Fatal extends RoadbookError {}

/** The same call may succeed later. */
export class Retriable extends RoadbookError {
  /** The server asked for this pause, for every call. Such a failure consumes no attempt. */
  readonly pauseMs: number | undefined;

  constructor(message: string, details: ErrorDetails & { pauseMs?: number }) {
    super(message, details);
    this.pauseMs = details.pauseMs;
  }
}

/** This item fails; the others continue. */
export class Skippable extends RoadbookError {}

/** The call may or may not have taken effect: read back before repeating it. */
export class Ambiguous extends RoadbookError {}

/** The failure may be over at a later run. */
export const isPassing = (error: unknown): boolean => error instanceof Retriable || error instanceof Ambiguous;

/** Any thrown value as a RoadbookError. An unexpected error is fatal and shows only its class: its message may hold data. */
export function asRoadbookError(thrown: unknown): RoadbookError {
  if (thrown instanceof RoadbookError) return thrown;
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  const code = (thrown as { code?: unknown } | null)?.code;
  const detail = typeof code === 'string' ? `${name} ${code}` : name;
  return new Fatal(`Unexpected failure (${detail})`, {
    code: 'unexpected',
    hint: 'Run again with --log-level debug; if it happens again, report it with the log line.',
    cause: thrown,
  });
}
