// The four kinds of error, named by what the caller does about them. A message says what happened and where,
// the hint what to try; neither ever holds a record, a token or a bound value.

export interface ErrorDetails {
  /** Stable word for machines, snake_case. */
  code: string;
  /** What a person can try, one sentence. */
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

/** Trying again cannot help: the run stops. */
export class Fatal extends RoadbookError {}

/** The same call may succeed later. */
export class Retriable extends RoadbookError {
  /** The other side asked to wait this long, for every call; such a failure consumes no attempt. */
  readonly pauseMs: number | undefined;

  constructor(message: string, details: ErrorDetails & { pauseMs?: number }) {
    super(message, details);
    this.pauseMs = details.pauseMs;
  }
}

/** This one thing cannot be done; the others go on. */
export class Skippable extends RoadbookError {}

/** It may or may not have happened: read back before doing anything again. */
export class Ambiguous extends RoadbookError {}

/** Any thrown value as a RoadbookError; what was not foreseen is fatal and named by its class alone. */
export function asRoadbookError(thrown: unknown): RoadbookError {
  if (thrown instanceof RoadbookError) return thrown;
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  const code = (thrown as { code?: unknown } | null)?.code;
  const detail = typeof code === 'string' ? `${name} ${code}` : name;
  return new Fatal(`Unexpected failure (${detail})`, {
    code: 'unexpected',
    hint: 'Run again with --log-level debug; if it stays, report it with the log line.',
    cause: thrown,
  });
}
