// @ts-check
// Calls to the server. The token is sent as a bearer header and kept for this tab only; it is never a cookie.
import { locale } from './texts.js';

const KEY = 'roadbook-token';

export const token = () => sessionStorage.getItem(KEY);
export const forgetToken = () => sessionStorage.removeItem(KEY);
export const keepToken = (/** @type {string} */ text) => sessionStorage.setItem(KEY, text);

/** An error response of the server; status 0 if there was no response. */
export class ServerError extends Error {
  /**
   * @param {number} status
   * @param {{code: string, message?: string, hint?: string | null}} error
   */
  constructor(status, { code, message = code, hint = null }) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
async function opened(path, options = {}) {
  const sent = token();
  const headers = {
    'accept-language': locale(),
    ...(sent !== null && { authorization: `Bearer ${sent}` }),
  };
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch {
    throw new ServerError(0, { code: 'no_answer' });
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  // The server did not take another token than the present one, which may be given while the body is on its way: that says
  // nothing about the present one.
  if (answer.status === 401 && token() !== null && token() !== sent) return opened(path, options);
  throw new ServerError(answer.status, body.error ?? { code: 'failed', message: `HTTP ${answer.status}` });
}

/** A browser opens few connections to a server: a request may wait for one for ever. */
const WAIT_MS = 20000;

/** @param {string} path @param {RequestInit} options @param {string} [late] the code of the error if no answer comes */
async function answered(path, { signal, ...options }, late = 'timed_out') {
  const gone = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    gone.abort();
  }, WAIT_MS);
  const either = signal ? AbortSignal.any([signal, gone.signal]) : gone.signal;
  try {
    return await (await opened(path, { ...options, signal: either })).json();
  } catch (error) {
    // Also if the connection broke in the middle of the answer.
    throw !isLate && error instanceof ServerError ? error : new ServerError(0, { code: isLate ? late : 'no_answer' });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} [query] empty values are left out
 * @param {AbortSignal} [signal]
 */
export async function read(path, query = {}, signal) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return answered(`/api/${path}${text === '' ? '' : `?${text}`}`, { signal });
}

/** Whether the server accepts the token; it changes nothing. */
export const checkToken = () => answered('/api/token', { method: 'POST' });

/**
 * Carries out an action.
 * @param {string} path
 * @param {unknown} [body]
 */
export async function post(path, body) {
  const options = { method: 'POST', body: body === undefined ? undefined : JSON.stringify(body) };
  return answered(`/api/${path}`, options, 'action_timed_out');
}

/**
 * Server-sent events by fetch, because an EventSource cannot send the token. Yields `{event, data}`. Ends when the connection ends or is silent for `silenceMs`.
 * @param {number} silenceMs
 */
export async function* live(silenceMs) {
  const gone = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let silence;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => gone.abort(), silenceMs);
  };
  heard();
  try {
    yield* messages(await opened('/api/live', { signal: gone.signal }), heard);
  } finally {
    clearTimeout(silence);
    gone.abort();
  }
}

/**
 * @param {Response} answer
 * @param {() => void} heard
 */
async function* messages(answer, heard) {
  const reader = /** @type {ReadableStream} */ (answer.body).pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    buffer += value;
    const complete = buffer.split('\n\n');
    buffer = complete.pop() ?? '';
    for (const message of complete) {
      const lines = message.split('\n');
      const valuesOf = (/** @type {string} */ field) =>
        lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length));
      const data = valuesOf('data: ');
      yield { event: valuesOf('event: ')[0], data: JSON.parse(data.join('\n')) };
    }
  }
}
