// How an answer leaves: whole, in drips, cut short, or not at all. Writes straight to Node's response, since
// half an answer and a reset connection are not things a web framework can express.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './answer.ts';

const DRIP_PIECES = 20;
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

/** The same answer in small pieces with a pause before each. */
export async function deliverInDrips(
  outgoing: ServerResponse,
  answer: Answer,
  pauseMs: number,
): Promise<void> {
  const { chunks, bytes } = bytesOf(answer);
  const whole = Buffer.concat([...chunks]);
  const step = Math.max(1, Math.ceil(bytes / DRIP_PIECES));
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes) });
  for (let at = 0; at < whole.length; at += step) {
    await waitOrClose(outgoing, pauseMs);
    if (outgoing.destroyed) return;
    outgoing.write(whole.subarray(at, at + step));
  }
  outgoing.end();
}

/** One space after another with a pause before each, until the client gives up. */
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

/** Promises the whole length, sends half of it and closes. */
export async function deliverTruncated(outgoing: ServerResponse, answer: Answer): Promise<void> {
  const { chunks, bytes } = bytesOf(answer);
  const whole = Buffer.concat([...chunks]);
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(Math.max(bytes, 2)) });
  await new Promise<void>((resolve) => outgoing.write(whole.subarray(0, bytes >> 1), () => resolve()));
  outgoing.destroy();
}

/** Resets the connection: the client sees it die without an answer. */
export function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

function drainOrClose(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle).off('close', settle);
      resolve();
    };
    outgoing.on('drain', settle).on('close', settle);
  });
}

/** Waits real time, or until the client is gone. */
export async function waitOrClose(outgoing: ServerResponse, ms: number): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  outgoing.once('close', onClose);
  await wait(ms, undefined, { signal: gone.signal }).catch((error: unknown) => {
    if (!gone.signal.aborted) throw error;
  });
  outgoing.off('close', onClose);
}

/** Until the client gives up. */
export async function untilClosed(outgoing: ServerResponse): Promise<void> {
  if (!outgoing.destroyed) await once(outgoing, 'close');
}
