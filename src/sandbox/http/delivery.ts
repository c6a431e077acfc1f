// How an answer is sent: complete, in drips, truncated, or not at all. Writes directly to Node's response, because a web
// framework cannot express half an answer or a reset connection.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './answer.ts';

const DRIP_CHUNKS = 20;
/** Waiting for the socket after every chunk would halve the speed of large answers. */
const MOST_UNSENT_BYTES = 4 * 1024 * 1024;

const chunksOf = ({ body }: Answer): Iterable<Uint8Array> =>
  'json' in body ? [Buffer.from(JSON.stringify(body.json))] : body.chunks;

export async function deliver(outgoing: ServerResponse, answer: Answer): Promise<void> {
  const chunks = chunksOf(answer);
  const length = Array.isArray(chunks)
    ? chunks.reduce((sum: number, chunk: Uint8Array) => sum + chunk.length, 0)
    : undefined;
  outgoing.writeHead(answer.status, { ...answer.headers, ...(length !== undefined && { 'content-length': length }) });
  for (const chunk of chunks) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk) && outgoing.writableLength > MOST_UNSENT_BYTES) {
      await unlessClosed(outgoing, (signal) => once(outgoing, 'drain', { signal }));
    }
  }
  outgoing.end();
}

/** Sends the answer in small chunks with a pause before each. */
export async function deliverInDrips(outgoing: ServerResponse, answer: Answer, pauseMs: number): Promise<void> {
  const body = Buffer.concat([...chunksOf(answer)]);
  const step = Math.max(1, Math.ceil(body.length / DRIP_CHUNKS));
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
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
  const body = Buffer.concat([...chunksOf(answer)]);
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': Math.max(body.length, 2) });
  await new Promise<void>((resolve) => outgoing.write(body.subarray(0, body.length >> 1), () => resolve()));
  outgoing.destroy();
}

/** Resets the connection without an answer. */
export function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

/** Waits in real time, or until the client disconnects. */
export const waitOrClose = (outgoing: ServerResponse, ms: number): Promise<void> =>
  unlessClosed(outgoing, (signal) => wait(ms, undefined, { signal }));

async function unlessClosed(outgoing: ServerResponse, start: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  outgoing.once('close', onClose);
  await start(gone.signal).catch((error: unknown) => {
    if (!gone.signal.aborted) throw error;
  });
  outgoing.off('close', onClose);
}

/** Waits until the client disconnects. */
export async function untilClosed(outgoing: ServerResponse): Promise<void> {
  if (!outgoing.destroyed) await once(outgoing, 'close');
}
