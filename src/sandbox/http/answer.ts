// What a call gives back before it becomes bytes: either a JSON value, which shapes and faults may still
// change, or bytes that are ready. A Refusal is the other way out of a handler.

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: { json: unknown } | { chunks: Iterable<Uint8Array>; bytes: number };
}

export const jsonAnswer = (json: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: { json },
});

export const textAnswer = (text: string, contentType: string, status = 200): Answer => {
  const bytes = Buffer.from(text);
  return {
    status,
    headers: { 'content-type': contentType },
    body: { chunks: [bytes], bytes: bytes.length },
  };
};

/** The document shows no error body; the sandbox says why in `message`. */
export const problemAnswer = (status: number, message: string): Answer => jsonAnswer({ message }, status);

export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
  }
}
