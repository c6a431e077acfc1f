// One HTTP exchange with the service, without retries and without judging the status. The body is counted as it streams,
// after decompression, against the size limit. Every failure is a TransportFault without request data.
import http, { type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import got, { type Got, type PlainResponse, TimeoutError } from 'got';
import { faultOf, TransportFault } from './transport-fault.ts';

export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Starts with a slash, relative to the base URL. */
  path: string;
  /** Encoded, without the question mark; may be empty. */
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
  /** Avoids connections that were idle for long: the service may be closing them, which makes a write's outcome unclear. */
  freshConnection?: boolean;
}

export interface Transport {
  send(request: WireRequest, options?: SendOptions): Promise<WireAnswer>;
  close(): void;
}

export interface TransportOptions {
  /** Does not end in a slash. */
  baseUrl: string;
  /** Limit for one complete exchange, ms. */
  timeoutMs: number;
  maxBodyBytes: number;
}

/** Longest wait for each step before the first byte of the request, ms. */
const CONNECT_MS = 10_000;
/** A write reuses a connection that was idle for less than this, ms, such as that of the previous write of a batch. */
const LONGEST_IDLE_MS = 500;
/** Limit for the body of an answer that is not a success. */
const ERROR_BODY_BYTES = 64 * 1024;
const MOST_REDIRECTS = 3;

export function createTransport({ baseUrl, timeoutMs, maxBodyBytes }: TransportOptions): Transport {
  const forReads = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
  const shortIdle = { keepAlive: true, timeout: LONGEST_IDLE_MS };
  const forWrites = { http: new http.Agent(shortIdle), https: new https.Agent(shortIdle) };
  const client = configuredGot(new URL(baseUrl).origin, timeoutMs);

  return {
    async send({ method, path, query, body }, { bearer, signal, freshConnection = false } = {}) {
      const stream = client.stream(query === '' ? baseUrl + path : `${baseUrl}${path}?${query}`, {
        method,
        // Without a body, got waits for one to be piped into a POST.
        ...(method === 'GET' ? {} : { body: body ?? '' }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        agent: freshConnection ? forWrites : forReads,
        signal,
      });
      return readAnswer(stream, maxBodyBytes);
    },
    close() {
      for (const agent of [forReads.http, forReads.https, forWrites.http, forWrites.https]) agent.destroy();
    },
  };
}

function configuredGot(origin: string, timeoutMs: number): Got {
  const connectMs = Math.min(CONNECT_MS, timeoutMs);
  return got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    maxRedirects: MOST_REDIRECTS,
    // The bearer is never sent to another origin, and a write is never sent to a second address.
    followRedirect: (response) => response.request.options.method === 'GET' && staysOn(origin, response),
    timeout: { lookup: connectMs, connect: connectMs, secureConnect: connectMs, request: timeoutMs },
    headers: { accept: 'application/json, */*;q=0.5', 'user-agent': 'roadbook' },
  });
}

function staysOn(origin: string, { headers, url }: PlainResponse): boolean {
  const target = headers.location;
  return target !== undefined && URL.canParse(target, url) && new URL(target, url).origin === origin;
}

async function readAnswer(stream: ReturnType<Got['stream']>, maxBodyBytes: number): Promise<WireAnswer> {
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
      if (!isSuccess && bytes > ERROR_BODY_BYTES) break;
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

/** Whether the connection of the newest request is established, including its TLS handshake; undefined if the connection
 * ended before it could be watched. Node reports the connection before it sends the first byte of the request. */
function watchConnection(stream: ReturnType<Got['stream']>): () => boolean | undefined {
  let isEstablished: boolean | undefined;
  const watch = (socket: Socket) => {
    isEstablished = socket.destroyed ? undefined : !socket.connecting;
    if (isEstablished !== false) return;
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      isEstablished = true;
    });
  };
  stream.on('request', (request: ClientRequest) => {
    isEstablished = undefined;
    if (request.socket === null) request.once('socket', watch);
    else watch(request.socket);
  });
  return () => isEstablished;
}

/** got's own error contains the request with its headers, so it is not kept as the cause. */
function toFault(error: unknown, connected: boolean | undefined): TransportFault {
  const phase = error instanceof TimeoutError ? error.event : undefined;
  const outer = error as NodeJS.ErrnoException;
  const inner = outer.cause as NodeJS.ErrnoException | undefined;
  // The error of an aborted signal has a number as its code.
  const code = typeof inner?.code === 'string' ? inner.code : outer.code;
  const syscall = inner?.syscall ?? outer.syscall;
  return new TransportFault(faultOf({ code, syscall, phase, connected }), code);
}
