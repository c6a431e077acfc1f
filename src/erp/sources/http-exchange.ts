// One HTTP exchange with the ERP, limited in time and size. Its headers are sent to no other host, and its errors contain
// only address and status. Every call of a feed may be repeated, so temporary failures are retried.
import { isAscii, isUtf8 } from 'node:buffer';
import type { Got, PlainResponse } from 'got';
import { Fatal, Retriable, RoadbookError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { type RetryPolicy, retry } from '../../core/retry/retry.ts';
import { retryAfterMs } from '../../core/retry/retry-after.ts';
import { ENCODINGS, type Encoding } from '../formats/text-decoding.ts';
import type { SourceContext } from '../source.ts';

const MOST_BODY_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const LONGEST_PAUSE_MS = 60_000;
const MOST_REDIRECTS = 3;
const POLICY: RetryPolicy = { attempts: 4, baseMs: 500, capMs: 10_000, deadlineMs: 180_000 };

interface Received {
  answer: PlainResponse;
  content: Buffer;
}

export function createHttpExchange(
  headers: Readonly<Record<string, string>>,
  { clock, random }: Pick<SourceContext, 'clock' | 'random'>,
) {
  let client: Promise<Got> | undefined;
  const send = (url: string, body: Json | undefined, signal?: AbortSignal): Promise<Received> =>
    retry(
      async () => {
        client ??= openClient(headers);
        const received = await sendOnce(await client, url, body, signal);
        const failure = statusFailure(url, received.answer, clock.now());
        if (failure !== undefined) throw failure;
        return received;
      },
      { clock, random, policy: POLICY, signal },
    );

  return {
    async get(url: string, signal?: AbortSignal) {
      const { answer, content } = await send(url, undefined, signal);
      return { content, encoding: charsetOf(answer, content) };
    },
    async post(url: string, body: Json): Promise<void> {
      await send(url, body);
    },
  };
}

/** Loads the HTTP client with the first call: opening a feed must not wait for it. */
async function openClient(headers: Readonly<Record<string, string>>): Promise<Got> {
  const { default: got } = await import('got');
  return got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    timeout: { request: TIMEOUT_MS },
    maxRedirects: MOST_REDIRECTS,
    followRedirect: staysOnHost,
    headers: { accept: 'application/json', 'user-agent': 'roadbook', ...headers },
  });
}

async function sendOnce(client: Got, url: string, body: Json | undefined, signal?: AbortSignal): Promise<Received> {
  const stream = body === undefined ? client.stream(url, { signal }) : client.stream.post(url, { json: body, signal });
  let answer: PlainResponse | undefined;
  stream.once('response', (response: PlainResponse) => {
    answer = response;
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BODY_BYTES) throw tooLarge(url);
      chunks.push(chunk);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof RoadbookError ? error : unreachable(url, error);
  } finally {
    stream.destroy();
  }
  if (answer === undefined) throw unreachable(url, undefined);
  return { answer, content: Buffer.concat(chunks) };
}

/** The encoding that the answer names; undefined if it names none that is known, or if its bytes show another. */
function charsetOf({ headers }: PlainResponse, content: Buffer): Encoding | undefined {
  // A wrong name is common. JSON begins with a byte from 0xfe only if it is that of a byte order mark.
  if ((content[0] ?? 0) >= 0xfe || (isUtf8(content) && !isAscii(content))) return undefined;
  const label = /charset=["']?([^\s;"']+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? '';
  return ENCODINGS.find((encoding) => encoding === label || encoding === standardName(label));
}

/** By the WHATWG: that of latin1, cp1252 and iso-8859-1 is windows-1252. */
function standardName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** Without the word of the answer that a wrong encoding is shown by, and without the advice, which is for files. */
export function unreadable(url: string, reason: string): Fatal {
  const [plain] = reason.replace(/^(not UTF-8 at byte \d+):.*/s, '$1').split(';', 1);
  return new Fatal(`The answer of the ERP at ${withoutQuery(url)} cannot be read: ${plain}`, {
    code: 'erp_answer_unreadable',
    hint: 'It must be JSON, in UTF-8 or in the charset of its Content-Type, with the list at the dotted path that `records` of the feed names; open the address with curl to see it.',
  });
}

/** The headers contain the feed's credentials, and a POST is not sent to a second address. */
function staysOnHost({ headers, url, request }: PlainResponse): boolean {
  const target = URL.parse(headers.location ?? '', url);
  return request.options.method === 'GET' && target?.origin === new URL(url).origin;
}

function statusFailure(url: string, { statusCode, headers }: PlainResponse, nowMs: number): RoadbookError | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined;
  const message = `The ERP answered ${withoutQuery(url)} with status ${statusCode}`;
  if (statusCode === 429 || statusCode >= 500) {
    const asked = retryAfterMs(headers['retry-after'], nowMs);
    return new Retriable(message, {
      code: 'erp_unavailable',
      hint: 'It will be retried at the next run; if it persists, ask the administrator of the ERP.',
      ...(asked !== undefined && { pauseMs: Math.min(asked, LONGEST_PAUSE_MS) }),
    });
  }
  if (statusCode === 401 || statusCode === 403) {
    return new Fatal(message, { code: 'erp_login_rejected', hint: 'Check the headers of the feed.' });
  }
  const hint =
    statusCode < 400
      ? 'The address redirects elsewhere, which is not followed; set the final address in the feed.'
      : 'Check the address of the feed.';
  return new Fatal(message, { code: 'erp_answer_rejected', hint });
}

export const tooLarge = (url: string): Fatal =>
  new Fatal(
    `The ERP's answer to ${withoutQuery(url)} is larger than 64 MB, or takes too long or too much memory to read`,
    {
      code: 'erp_answer_too_large',
      hint: 'Make the address return only new records.',
    },
  );

/** got's own error contains the request with its headers, so only its code is kept. */
function unreachable(url: string, error: unknown): Retriable {
  const { code } = (error ?? {}) as { code?: unknown };
  return new Retriable(
    `The ERP cannot be reached at ${withoutQuery(url)} (${typeof code === 'string' ? code : 'no answer'})`,
    {
      code: 'erp_unreachable',
      hint: 'It will be retried at the next run; if it persists, check the address and the network.',
    },
  );
}

/** Without the query, which may contain a key. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
