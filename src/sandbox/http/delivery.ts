// How an answer is sent: complete, in drips, truncated, or not at all. Writes directly to Node's response, because a web
// framework cannot express half an answer or a reset connection.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './answer.ts';

const DRIP_CHUNKS = 20;
/** Waiting for the socket after every chunk would halve the speed of large answers. */
const MOST_UNSENT_BYTES = 4 * 1024 * 1024;

interface Bytes {
  chunks: Iterable<Uint8Array>;
  bytes: number;
}

function bytesOf(answer: Answer): Bytes {
  if (!('json' in answer.body)) return answer.body;
  const text = Buffer.from(JSON.stringify(answer.body.json));
  return { chunks: [text], bytes: text.length };
}

export async function deliver(outgoing: ServerResponse, answer: Answer): Promise<void> {
  const { chunks, bytes } = bytesOf(answer);
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes) });
  for (const chunk of chunks) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk) && outgoing.writableLength > MOST_UNSENT_BYTES) await drainOrClose(outgoing);
  }
  outgoing.end();
}

/** Sends the answer in small chunks with a pause before each. */
export async function deliverInDrips(outgoing: ServerResponse, answer: Answer, pauseMs: number): Promise<void> {
  const { chunks, bytes } = bytesOf(answer);
  const body = Buffer.concat([...chunks]);
  const step = Math.max(1, Math.ceil(bytes / DRIP_CHUNKS));
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes) });
  for (let at = 0; at < body.length; at += step) {
    await waitOrClose(outgoing, pauseMs);
    if (outgoing.destroyed) return;
    outgoing.write(body.subarray(at, at + step));
  }
  outgoing.end();
}

/** Sends one space after another, with a pause between them, until the client gives up. */
export async function deliverEndlessly(
  outgoing: ServerResponse,
  { status, headers }: Answer,
  pauseMs: number,
): Promise<void> {
  outgoing.writeHead(status, headers);
  while (!outgoing.destroyed) {
    outgoing.write(' ');
    await waitOrClose(outgoing, pauseMs);
  }
}

/** Announces the full length, sends half of it and closes the connection. */
export async function deliverTruncated(outgoing: ServerResponse, answer: Answer): Promise<void> {
  const { chunks, bytes } = bytesOf(answer);
  const body = Buffer.concat([...chunks]);
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(Math.max(bytes, 2)) });
  await new Promise<void>((resolve) => outgoing.write(body.subarray(0, bytes >> 1), () => resolve()));
  outgoing.destroy();
}

/** Resets the connection without an answer. */
export function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

function drainOrClose(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      outgoing.off('drain', finish).off('close', finish);
      resolve();
    };
    outgoing.on('drain', finish).on('close', finish);
  });
}

/** Waits in real time, or until the client disconnects. */
export async function waitOrClose(outgoing: ServerResponse, ms: number): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  outgoing.once('close', onClose);
  await wait(ms, undefined, { signal: gone.signal }).catch((error: unknown) => {
    if (!gone.signal.aborted) throw error;
  });
  outgoing.off('close', onClose);
}

/** Waits until the client disconnects. */
export async function untilClosed(outgoing: ServerResponse): Promise<void> {
  if (!outgoing.destroyed) await once(outgoing, 'close');
}
