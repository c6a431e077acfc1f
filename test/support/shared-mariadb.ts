// One MariaDB for all test files that need one: the first that asks for its port starts it, and it is stopped after the last.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SHARED_MARIADB, startMariadb } from './mariadb.ts';

let server: ReturnType<typeof startMariadb> | undefined;

const desk = createServer(async (_request, response) => {
  server ??= startMariadb();
  response.end(String((await server).port));
});

export async function setup(): Promise<void> {
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
  process.env[SHARED_MARIADB] = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`;
}

export async function teardown(): Promise<void> {
  delete process.env[SHARED_MARIADB];
  desk.closeAllConnections();
  desk.close();
  await (await server)?.stop();
}
