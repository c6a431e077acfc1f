// The declaration of one call of the service: its path, its name in the ledger and the faults, and its handler. Handlers
// know nothing of HTTP, faults or counting.
import type { Answer } from './answer.ts';
import { Rejection } from './answer.ts';
import type { CallName } from './call-names.ts';
import type { Query } from './parameters.ts';

export interface CallRequest {
  query: Query;
  /** Parts of the path, by name. */
  params: Record<string, string>;
  /** The parsed JSON body; undefined if there was none. */
  body: unknown;
  bearer: string | undefined;
}

export interface Call {
  name: CallName;
  method: 'GET' | 'POST' | 'PUT';
  /** The path as in the API document, with its trailing slash. */
  path: string;
  /** False only for login and renewal, which check their callers themselves. */
  needsBearer: boolean;
  /** Two calls may share a path; the first one whose condition holds is used. */
  when?: (query: Query) => boolean;
  handle(request: CallRequest): Answer | Promise<Answer>;
}

export const readCall = (name: CallName, path: string, handle: Call['handle']): Call => ({
  name,
  method: 'GET',
  path,
  needsBearer: true,
  handle,
});

export const writeCall = (name: CallName, method: 'POST' | 'PUT', path: string, handle: Call['handle']): Call => ({
  name,
  method,
  path,
  needsBearer: true,
  handle,
});

/** The `data` object that holds the fields of a write. */
export function dataOf(body: unknown): Record<string, unknown> {
  const data = (body as { data?: unknown } | null | undefined)?.data;
  if (data === null || typeof data !== 'object' || Array.isArray(data)) {
    throw new Rejection(422, 'data: is required and must be an object');
  }
  return data as Record<string, unknown>;
}
