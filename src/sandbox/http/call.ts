// One call of the service as the sandbox declares it: where it is, what the ledger and the faults call it,
// and how it answers. Handlers know nothing of HTTP, faults or counting.
import type { Answer } from './answer.ts';
import { Refusal } from './answer.ts';
import type { CallName } from './call-names.ts';
import type { Query } from './parameters.ts';

export interface CallRequest {
  query: Query;
  /** Parts of the path, by name. */
  params: Record<string, string>;
  /** The parsed JSON body, undefined where there was none. */
  body: unknown;
  bearer: string | undefined;
}

export interface Call {
  name: CallName;
  method: 'GET' | 'POST' | 'PUT';
  /** The path as the document writes it, its slashes included. */
  path: string;
  /** False only for login and renewal, which judge their callers themselves. */
  needsBearer: boolean;
  /** Two calls may share a path; the first whose condition holds is taken. */
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

export const writeCall = (
  name: CallName,
  method: 'POST' | 'PUT',
  path: string,
  handle: Call['handle'],
): Call => ({ name, method, path, needsBearer: true, handle });

/** The `data` object that the writing calls wrap their fields in. */
export function dataOf(body: unknown): Record<string, unknown> {
  const data = (body as { data?: unknown } | null | undefined)?.data;
  if (data === null || typeof data !== 'object' || Array.isArray(data)) {
    throw new Refusal(422, 'data: is required and must be an object');
  }
  return data as Record<string, unknown>;
}
