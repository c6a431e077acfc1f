// The answer of a call: a JSON value, which shapes and faults may still change, or bytes. A handler that rejects a
// request throws a Rejection.

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** The length of an array of chunks is announced; other iterables are sent without a length. */
  body: { json: unknown } | { chunks: Iterable<Uint8Array> };
}

export const jsonAnswer = (json: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: { json },
});

export const bytesAnswer = (chunks: Iterable<Uint8Array>, contentType = 'application/json', status = 200): Answer => ({
  status,
  headers: { 'content-type': contentType },
  body: { chunks },
});

export const textAnswer = (text: string, contentType?: string, status?: number): Answer =>
  bytesAnswer([Buffer.from(text)], contentType, status);

/** The API document defines no error body; the sandbox puts the reason into `message`. */
export const problemAnswer = (status: number, message: string): Answer => jsonAnswer({ message }, status);

export class Rejection extends Error {
  readonly status: 400 | 401 | 404 | 422;

  constructor(status: Rejection['status'], message: string) {
    super(message);
    this.name = 'Rejection';
    this.status = status;
  }
}

/** Changes the records of an answer, in any envelope. An answer without a list stays as it is. */
export function mapRecords(answer: Answer, change: (records: unknown[]) => unknown[]): Answer {
  const json = 'json' in answer.body ? answer.body.json : parsed(answer.body.chunks);
  if (Array.isArray(json)) return { ...answer, body: { json: change(json) } };
  const data = (json as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) return answer;
  return { ...answer, body: { json: { ...(json as object), data: change(data) } } };
}

function parsed(chunks: Iterable<Uint8Array>): unknown {
  const text = Buffer.concat([...chunks]).toString();
  return text.startsWith('[') || text.startsWith('{') ? JSON.parse(text) : text;
}
