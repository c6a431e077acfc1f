// A real MariaDB for tests, where the system has one: one server for all files of a test run (shared-mariadb.ts), which the
// first file that needs it starts, or one of a test's own. Every test takes a new database of it. Its clock is five hours
// ahead of UTC, unlike that of any test process.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { threadId } from 'node:worker_threads';
import knex from 'knex';
import { sharedAddress } from './shared-server.ts';

const SERVER = ['/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd', '/usr/local/bin/mariadbd'].find(existsSync);

export const hasMariadb: boolean = SERVER !== undefined;
if (!hasMariadb) process.stderr.write('MariaDB was not found: the tests of an ERP on MariaDB are skipped.\n');

/** Where the server of the test run is asked for; unset outside of one. */
export const SHARED_MARIADB = 'ROADBOOK_TEST_MARIADB';

export interface Mariadb {
  /** Address of a new, empty database. */
  newDatabase(): Promise<string>;
}

export interface OwnMariadb extends Mariadb {
  /** Ends every session at once and listens at the same address again. */
  restart(): Promise<void>;
  /** Sends the server a signal: SIGSTOP freezes it, SIGCONT lets it go on. */
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

let running: Promise<Mariadb> | undefined;

export function sharedMariadb(): Promise<Mariadb> {
  running ??= sharedAddress(SHARED_MARIADB).then((port) => serverAt(Number(port)));
  return running;
}

/** `zone` is that of the machine of the server, whose sessions then have it too. */
export async function startMariadb(zone?: string): Promise<OwnMariadb & { port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-mariadb-'));
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const files = ['--no-defaults', `--datadir=${join(folder, 'data')}`, ...user];
  const install = [...files, '--auth-root-authentication-method=normal', '--skip-test-db', '--innodb-log-file-size=8M'];
  await promisify(execFile)('mariadb-install-db', install);
  const port = await freePort();
  const start = (): Promise<ChildProcess> =>
    run([...files, `--socket=${join(folder, 'socket')}`, `--port=${port}`], zone);
  let server = await start();
  const end = async (): Promise<void> => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  return {
    ...serverAt(port),
    port,
    async restart() {
      await end();
      server = await start();
    },
    signal: (name) => void server.kill(name),
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const FLAGS = [
  '--bind-address=127.0.0.1',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-log-file-size=8M',
  '--innodb-buffer-pool-size=32M',
  '--character-set-server=utf8mb4',
];

async function run(options: readonly string[], zone?: string): Promise<ChildProcess> {
  const clock = `--default-time-zone=${zone === undefined ? '+05:00' : 'SYSTEM'}`;
  const server = spawn(SERVER ?? '', [...options, ...FLAGS, clock], {
    env: { ...process.env, ...(zone && { TZ: zone }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    server.stderr.on('data', (text) => {
      said += text;
      if (said.includes('ready for connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`MariaDB ended before it was ready:\n${said}`)));
  });
  return server;
}

function serverAt(port: number): Mariadb {
  const url = (name: string): string => `mysql://root@127.0.0.1:${port}/${name}`;
  let databases = 0;
  return {
    async newDatabase() {
      databases += 1;
      const name = `test_${process.pid}_${threadId}_${databases}`;
      const sql = knex({ client: 'mysql2', connection: url('mysql') });
      await sql.raw(`create database ${name}`);
      await sql.destroy();
      return url(name);
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
