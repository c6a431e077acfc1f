// One server for all test files that need one: the first that asks starts it, and it is stopped after the last.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The environment variable holds an address that answers with the address of the server. */
export function sharedServer<Server extends { stop(): Promise<void> }>(
  variable: string,
  start: () => Promise<Server>,
  addressOf: (server: Server) => string,
) {
  let server: Promise<Server> | undefined;
  const directory = createServer((_request, response) => {
    server ??= start();
    server.then(
      (started) => response.end(addressOf(started)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  return {
    async setup(): Promise<void> {
      await new Promise<void>((resolve) => directory.listen(0, '127.0.0.1', resolve));
      process.env[variable] = `http://127.0.0.1:${(directory.address() as AddressInfo).port}`;
    },
    async teardown(): Promise<void> {
      delete process.env[variable];
      directory.closeAllConnections();
      directory.close();
      await (await server)?.stop();
    },
  };
}

/** Starts the server if this is the first call of the test run. */
export async function sharedAddress(variable: string): Promise<string> {
  const answer = await fetch(process.env[variable] ?? '');
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
