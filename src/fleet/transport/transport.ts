// One HTTP exchange with the service, once: no retry, no status judgement. The body is counted as it streams,
// after decompression, and cut at the cap; whatever goes wrong leaves as a TransportFault without request data.
import http, { type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import got, { type Got, type PlainResponse, TimeoutError } from 'got';
import { faultOf, TransportFault } from './transport-fault.ts';

export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Starts with a slash, relative to the base URL. */
  path: string;
  /** Encoded, without the question mark; empty where there is none. */
  query: string;
  /** JSON text. */
  body?: string;
}

export interface WireAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface SendOptions {
  bearer?: string;
  signal?: AbortSignal;
  /** Takes no connection that was idle for long: the service may be closing it, which would make a write's outcome unclear. */
  freshConnection?: boolean;
}

export interface Transport {
  send(request: WireRequest, options?: SendOptions): Promise<WireAnswer>;
  close(): void;
}

export interface TransportOptions {
  baseUrl: string;
  /** For one whole exchange, ms. */
  timeoutMs: number;
  maxBodyBytes: number;
}

/** Longest wait for each step before the first byte of the request, ms. */
const CONNECT_MS = 10_000;
/** A write reuses a connection that was idle for less than this, ms: the next of a batch. */
const LONGEST_IDLE_MS = 500;
/** What is read of the body of an answer that is not a success. */
const REFUSAL_BYTES = 64 * 1024;
const MOST_REDIRECTS = 3;

export function createTransport({ baseUrl, timeoutMs, maxBodyBytes }: TransportOptions): Transport {
  const base = baseUrl.replace(/(?<!\/)\/+$/, '');
  const kept = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
  const brief = { keepAlive: true, timeout: LONGEST_IDLE_MS };
  const fresh = { http: new http.Agent(brief), https: new https.Agent(brief) };
  const client = configuredGot(new URL(base).origin, timeoutMs);

  return {
    async send({ method, path, query, body }, { bearer, signal, freshConnection = false } = {}) {
      const stream = client.stream(query === '' ? base + path : `${base}${path}?${query}`, {
        method,
        // got waits for a piped body on a POST without one.
        ...(method === 'GET' ? {} : { body: body ?? '' }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        agent: freshConnection ? fresh : kept,
        signal,
      });
      return collect(stream, maxBodyBytes);
    },
    close() {
      for (const agent of [kept.http, kept.https, fresh.http, fresh.https]) agent.destroy();
    },
  };
}

function configuredGot(origin: string, timeoutMs: number): Got {
  const connectMs = Math.min(CONNECT_MS, timeoutMs);
  return got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    maxRedirects: MOST_REDIRECTS,
    // The bearer goes nowhere else, and a write is never sent to a second address.
    followRedirect: (response) => response.request.options.method === 'GET' && staysOn(origin, response),
    timeout: { lookup: connectMs, connect: connectMs, secureConnect: connectMs, request: timeoutMs },
    headers: { accept: 'application/json, */*;q=0.5', 'user-agent': 'roadbook' },
  });
}

function staysOn(origin: string, { headers, url }: PlainResponse): boolean {
  const target = headers.location;
  return target !== undefined && URL.canParse(target, url) && new URL(target, url).origin === origin;
}

async function collect(stream: ReturnType<Got['stream']>, maxBodyBytes: number): Promise<WireAnswer> {
  const isConnected = watchConnection(stream);
  let head: PlainResponse | undefined;
  stream.once('response', (response: PlainResponse) => {
    head = response;
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      const isSuccess = head !== undefined && head.statusCode < 300;
      if (!isSuccess && bytes > REFUSAL_BYTES) break;
      if (bytes > maxBodyBytes) throw new TransportFault('body_too_large');
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof TransportFault ? error : toFault(error, isConnected());
  } finally {
    stream.destroy();
  }
  if (head === undefined) throw new TransportFault('connection_lost');
  return { status: head.statusCode, headers: head.headers, body: Buffer.concat(chunks) };
}

/** Tells whether the connection of the newest request has been made, its TLS handshake included; undefined where it was
 * gone before it could be watched. Node holds the request back until it is made, and says so before the first byte leaves. */
function watchConnection(stream: ReturnType<Got['stream']>): () => boolean | undefined {
  let isMade: boolean | undefined;
  const watch = (socket: Socket) => {
    isMade = socket.destroyed ? undefined : !socket.connecting;
    if (isMade !== false) return;
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      isMade = true;
    });
  };
  stream.on('request', (request: ClientRequest) => {
    isMade = undefined;
    if (request.socket === null) request.once('socket', watch);
    else watch(request.socket);
  });
  return () => isMade;
}

/** got's own error holds the request with its headers, so it is not kept as the cause. */
function toFault(error: unknown, connected: boolean | undefined): TransportFault {
  const phase = error instanceof TimeoutError ? error.event : undefined;
  const outer = error as NodeJS.ErrnoException;
  const inner = outer.cause as NodeJS.ErrnoException | undefined;
  // The abort of a signal has a number for a code.
  const code = typeof inner?.code === 'string' ? inner.code : outer.code;
  const syscall = inner?.syscall ?? outer.syscall;
  return new TransportFault(faultOf({ code, syscall, phase, connected }), code);
}
