// Calls to the server. The token is sent as a bearer header and kept for this tab only; it is never a cookie.

const KEY = 'roadbook-token';

export const token = () => sessionStorage.getItem(KEY);
export const forgetToken = () => sessionStorage.removeItem(KEY);
export const keepToken = (text) => sessionStorage.setItem(KEY, text);

/** An error response of the server: `status`, `code`, message and hint. */
export class ServerError extends Error {
  constructor(status, { code, message, hint }) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

const headers = () => (token() === null ? {} : { authorization: `Bearer ${token()}` });

async function opened(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { ...headers(), ...options.headers } });
  } catch {
    const hint = 'Is the daemon running? The page retries by itself.';
    throw new ServerError(0, { code: 'unreachable', message: 'The server does not answer', hint });
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new ServerError(answer.status, body.error ?? { code: 'failed', message: `HTTP ${answer.status}`, hint: null });
}

export async function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given).toString();
  return (await opened(`/api/${path}${text === '' ? '' : `?${text}`}`)).json();
}

export async function order(path, body) {
  const options = { method: 'POST', body: body === undefined ? undefined : JSON.stringify(body) };
  return (await opened(`/api/${path}`, options)).json();
}

/** The server sends something every 4 s; a connection that is silent for longer than this is dead. */
const SILENCE_MS = 10_000;

/**
 * Server-sent events by fetch, because an EventSource cannot send the token. Yields `{event, data}`, and undefined for a
 * keep-alive. Ends when the connection ends or is silent for too long.
 */
export async function* live() {
  const gone = new AbortController();
  let silence;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => gone.abort(), SILENCE_MS);
  };
  heard();
  try {
    yield* messages(await opened('/api/live', { signal: gone.signal }), heard);
  } finally {
    clearTimeout(silence);
    gone.abort();
  }
}

async function* messages(answer, heard) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    buffer += value;
    const complete = buffer.split('\n\n');
    buffer = complete.pop();
    for (const message of complete) {
      const lines = message.split('\n');
      const valuesOf = (field) =>
        lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length));
      const data = valuesOf('data: ');
      yield data.length === 0 ? undefined : { event: valuesOf('event: ')[0], data: JSON.parse(data.join('\n')) };
    }
  }
}
