// A server before the sandbox: gives the answers that a test sets, and passes everything else on, a missing answer
// included.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Status, and a body that is sent as it is or as JSON. */
export interface OwnAnswer {
  status?: number;
  body: unknown;
}

/** Method and body of the request. */
export interface Arrived {
  method: string;
  body: string;
}

/** Undefined passes the request on; `original` gives the sandbox's JSON for it. */
export type Answering = (
  url: URL,
  original: () => Promise<unknown>,
  arrived: Arrived,
) => OwnAnswer | undefined | Promise<OwnAnswer | undefined>;

export interface Front {
  url: string;
  close(): Promise<void>;
}

export async function startFront(target: string, answering: Answering): Promise<Front> {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? '/', target);
    const body = await bodyOf(incoming);
    const original = () =>
      fetch(url, {
        method: incoming.method,
        headers: { authorization: incoming.headers.authorization ?? '' },
        ...(incoming.method === 'GET' ? {} : { body }),
      });
    const arrived = { method: incoming.method ?? '', body };
    // The time of day is the service's alone: the machine's would be another clock.
    outgoing.sendDate = false;
    const own = await answering(url, async () => (await original()).json(), arrived);
    if (own !== undefined) {
      const text = typeof own.body === 'string' ? own.body : JSON.stringify(own.body);
      outgoing.writeHead(own.status ?? 200).end(text);
      return;
    }
    const passed = await original();
    const kept = ['content-type', 'retry-after', 'date'].flatMap((name) => {
      const value = passed.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    outgoing.writeHead(passed.status, Object.fromEntries(kept));
    outgoing.end(Buffer.from(await passed.arrayBuffer()));
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      outgoing.destroy();
      if (!isUnanswered(error)) throw error;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** No answer came from behind, or not the whole of one. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message);

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
