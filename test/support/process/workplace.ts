// A folder of its own for a test that runs the real command: a configuration, a warehouse, nothing shared.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import knex, { type Knex } from 'knex';
import { type EnginePlace, rowsOf } from '../warehouse/engines.ts';
import { PRODUCT_ENV, PRODUCT_FLAGS } from './product-flags.ts';

export const MAIN = resolve(import.meta.dirname, '../../../src/roadbook.js');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  pid: number;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves as soon as the pattern has been printed `times` times, default once; rejects if the process ends first. */
  printed(pattern: RegExp, times?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface Workplace {
  dir: string;
  /** Runs a command to its end, in a process of its own. */
  run(args: string[], env?: Record<string, string>): Promise<Ended>;
  /** The same in the process of the test. */
  runHere(args: string[], env?: Record<string, string>): Promise<Ended>;
  start(args: string[], env?: Record<string, string>): Running;
  /** Reads the warehouse beside the product, with a connection of its own. */
  query<Row = Record<string, unknown>>(sql: string): Promise<Row[]>;
  /** Ends every process that still runs in it. */
  remove(): void;
}

/** `warehouse` where the configuration does not leave it at the default file; `flags` are node's own, default as deployed. */
export function makeWorkplace(
  config: string,
  warehouse?: EnginePlace,
  flags: readonly string[] = PRODUCT_FLAGS,
): Workplace {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-'));
  mkdirSync(join(dir, 'config'));
  writeFileSync(join(dir, 'config', 'roadbook.yaml'), config);

  const running = new Set<ChildProcess>();
  const start = (args: string[], env: Record<string, string> = {}): Running => {
    const child = spawn(process.execPath, [...flags, MAIN, ...args], {
      cwd: dir,
      env: { PATH: process.env.PATH, NO_COLOR: '1', ...PRODUCT_ENV, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text;
        child.emit('printed');
      });
    }
    const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...printed }) as Ended);
    return {
      pid: child.pid ?? 0,
      stdout: () => printed.stdout,
      stderr: () => printed.stderr,
      kill: (signal) => child.kill(signal),
      ended,
      async printed(pattern, times = 1) {
        const each = new RegExp(pattern, `${pattern.flags}g`);
        const countIn = (text: string): number => text.match(each)?.length ?? 0;
        const seen = () => countIn(printed.stdout) + countIn(printed.stderr) >= times;
        while (!seen()) {
          const more = once(child, 'printed');
          const last = await Promise.race([more.then(() => undefined), ended]);
          if (last !== undefined && !seen()) throw new Error(`ended before ${pattern}: ${last.stderr}`);
        }
      },
    };
  };

  return {
    dir,
    start,
    run: (args, env) => start(args, env).ended,
    async runHere(args, env) {
      const { runHere } = await import('./run-here.ts');
      return runHere(dir, args, env);
    },
    async query<Row>(sql: string) {
      if (warehouse !== undefined) return readWith<Row>(warehouse, sql);
      const database = openDatabase(join(dir, 'data', 'warehouse.db'));
      try {
        return (await database.raw(sql)) as Row[];
      } finally {
        await database.destroy();
      }
    },
    remove() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function readWith<Row>(warehouse: EnginePlace, statement: string): Promise<Row[]> {
  const engine = await warehouse.open();
  try {
    return await engine.read((sql) => rowsOf<Row>(sql, statement));
  } finally {
    await engine.close();
  }
}

export const openDatabase = (filename: string): Knex =>
  knex({ client: 'sqlite3', connection: { filename }, useNullAsDefault: true });

/** As short as a busy machine allows: a push takes an item for absent only after longer than a request takes. */
export const QUICK = { timeout: '2s', settle: '2100ms' } as const;

/** A configuration for a service at `url`, as short as one can be. */
export const configFor = (url: string, rest = '', timeout = '60s'): string => `service:
  base_url: ${url}
  username: demo
  password: \${ROADBOOK_PASSWORD:-demo}
  requests_per_minute: 60000
  timeout: ${timeout}
${rest}${rest.includes('status:') ? '' : '\nstatus: { port: 0 }\n'}`;
