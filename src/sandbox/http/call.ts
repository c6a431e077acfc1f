// The declaration of one call of the service: its path, its name in the ledger and the faults, and its handler. Handlers
// know nothing of HTTP, faults or counting.
import type { SandboxDependencies } from '../dependencies.ts';
import type { Answer } from './answer.ts';
import type { CallName } from './call-names.ts';

export interface CallRequest {
  query: URLSearchParams;
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
  /** False only for login and renewal, which check their callers themselves. Default true. */
  needsBearer?: boolean;
  /** Two calls may share a path; the first one whose condition holds is used. */
  when?: (query: URLSearchParams) => boolean;
  handle(dependencies: SandboxDependencies, request: CallRequest): Answer | Promise<Answer>;
}

export const call = (name: CallName, method: Call['method'], path: string, handle: Call['handle']): Call => ({
  name,
  method,
  path,
  handle,
});
