// The status server: listens on the configured address until it is closed. A port in use does not stop the daemon: the
// server logs the error and retries until the port is free.
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fatal } from '../../core/errors.ts';
import type { StatusServerDependencies } from './dependencies.ts';
import { lazyStatusApp } from './lazy-status-app.ts';

export type StatusServer = Awaited<ReturnType<typeof startStatusServer>>;

/** Time between two attempts to listen. */
const RETRY_MS = 30_000;

interface Address {
  host: string;
  port: number;
}

export async function startStatusServer(dependencies: StatusServerDependencies) {
  const wanted = (): Address => dependencies.running().config.status;
  let address = wanted();
  let bound = await bind(dependencies, address);
  let turn = Promise.resolve();

  async function move(): Promise<void> {
    const { host, port } = wanted();
    if (host === address.host && port === address.port) return;
    await bound.close();
    address = { host, port };
    bound = await bind(dependencies, address);
    dependencies.log.info({ url: bound.url() }, 'status page moved');
  }

  return {
    /** The address of the page; null while another program uses the port. */
    url: (): string | null => bound.url(),
    /** Moves to the address of the running configuration if it has changed. */
    refresh(): Promise<void> {
      turn = turn.then(move);
      return turn;
    },
    /** Idempotent. */
    async close(): Promise<void> {
      await turn;
      await bound.close();
    },
  };
}

async function bind(dependencies: StatusServerDependencies, { host, port }: Address) {
  const { clock, log } = dependencies;
  const app = lazyStatusApp(dependencies, host);
  const closing = new AbortController();
  let server: Server | undefined;

  const tryToListen = async (): Promise<void> => {
    server = await listen(app.answer, host, port);
  };

  async function retryListening(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(RETRY_MS, closing.signal);
      await tryToListen().catch(() => undefined);
      if (server !== undefined) return log.info({ host, port }, 'status page is up');
    }
  }

  try {
    await tryToListen();
  } catch (error) {
    log.error({ err: addressError(error, host, port) }, 'status page is not up; retrying');
    retryListening().catch(() => undefined);
  }

  return {
    url: () => (server === undefined ? null : urlOf(server, host)),
    async close() {
      closing.abort();
      app.close();
      await closeServer(server);
    },
  };
}

function listen(answer: RequestListener, hostname: string, port: number): Promise<Server> {
  // No import statement: it evaluates every export of node:http, and one of them loads Node's fetch (17 MB).
  const { createServer } = process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const server = createServer(answer);
    server.once('error', reject);
    server.listen(port, hostname, () => resolve(server));
  });
}

const urlOf = (server: Server, host: string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;

const FOREIGN_ADDRESS = [
  'is not an address of this machine',
  'Set status.host to 127.0.0.1 or to an address of this machine.',
] as const;

const LISTEN_ERRORS: Readonly<Record<string, readonly [words: string, hint: string]>> = {
  EADDRINUSE: [
    'is in use by another program',
    'Another Roadbook may be running. Set status.port to a free port, or to 0 for any free port.',
  ],
  EACCES: ['needs a privilege that this user does not have', 'Set status.port to a number above 1023.'],
  EADDRNOTAVAIL: FOREIGN_ADDRESS,
  ENOTFOUND: FOREIGN_ADDRESS,
};

function addressError(thrown: unknown, host: string, port: number): Fatal {
  const code = String((thrown as { code?: unknown }).code);
  const [words, hint] = LISTEN_ERRORS[code] ?? [`cannot be used (${code})`, 'Check status.host and status.port.'];
  return new Fatal(`The address ${host}:${port} of the status page ${words}`, { code: 'status_address', hint });
}

/** Closes open connections too: a page with a live stream would keep the process alive for ever. */
async function closeServer(server: Server | undefined): Promise<void> {
  if (server?.listening !== true) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
