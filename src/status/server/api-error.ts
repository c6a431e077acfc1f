// Errors of the HTTP interface: the same JSON that the command line prints with --json, plus an HTTP status.
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { asRoadbookError, RoadbookError } from '../../core/errors.ts';
import { redactedError } from '../../core/text/redaction.ts';
import type { StatusServerDependencies } from './dependencies.ts';

/** An error with its own HTTP status. */
export class ApiError extends RoadbookError {
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, code: string, message: string, hint: string) {
    super(message, { code, hint });
    this.status = status;
  }
}

export const answerError =
  ({ redactor, log }: Pick<StatusServerDependencies, 'redactor' | 'log'>) =>
  (thrown: Error, c: Context): Response => {
    if (thrown instanceof HTTPException) return thrown.getResponse();
    const error = asRoadbookError(thrown);
    const status = statusOf(error);
    if (status >= 500) log.error({ err: error, path: c.req.path }, 'status request failed');
    if (status === 401) c.header('www-authenticate', 'Bearer realm="roadbook"');
    return c.json({ error: redactedError(error, redactor) }, status);
  };

function statusOf(error: RoadbookError): ContentfulStatusCode {
  if (error instanceof ApiError) return error.status;
  return error.code === 'usage' ? 409 : 500;
}
