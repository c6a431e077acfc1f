// The parts of the benchmark share these: the service as a process of its own, a folder, databases, and a process for
// each measurement, so that nothing of one is in the figures of another.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres, stopPostgres } from '../support/databases/postgres.ts';
import { PRODUCT_ENV, PRODUCT_FLAGS } from '../support/process/product-flags.ts';
import type { BenchEngine, Credentials, Measured, Task, Way } from './task.ts';

export const VEHICLES = 500;
const DAY_MS = 86_400_000;
/** The last events of a day have ended by then. */
const OVER_MS = 3_600_000;

export interface BenchPlace {
  dir: string;
  url: string;
  /** `warehouse` of a new, empty warehouse. */
  warehouse(engine: BenchEngine): Promise<Record<string, string>>;
  /** Measures a way on so many events, the last ones there are. */
  measure(way: Way, engine: BenchEngine, settings: Record<string, string>, events: number): Promise<Measured>;
  close(): Promise<void>;
}

export interface BenchService {
  /** Events of a vehicle. */
  perDay?: number;
  /** How long each answer is kept back. */
  answerMs?: number;
}

export async function makeBenchPlace({ perDay = 200, answerMs = 0 }: BenchService = {}): Promise<BenchPlace> {
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-bench-'));
  const args = [VEHICLES, perDay, answerMs].map(String);
  const service = fork(resolve(import.meta.dirname, 'service.ts'), args);
  const [{ url, credentials }] = (await once(service, 'message')) as [{ url: string; credentials: Credentials }];
  const end = Math.floor((Date.now() - OVER_MS) / DAY_MS) * DAY_MS;
  let folders = 0;
  const newFolder = (): string => join(dir, String(folders++));
  return {
    dir,
    url,
    async warehouse(engine): Promise<Record<string, string>> {
      if (engine === 'sqlite') return { engine, file: join(newFolder(), 'warehouse.db') };
      return { engine, url: await (await startPostgres()).newDatabase(), schema: 'fleet' };
    },
    async measure(way, engine, settings, events) {
      const task: Task = {
        way,
        engine,
        settings,
        dir: newFolder(),
        url,
        credentials,
        beginAt: new Date(end - Math.round((events / (VEHICLES * perDay)) * DAY_MS)).toISOString(),
        endAt: new Date(end).toISOString(),
        rows: events,
      };
      // Only the product runs with its flags and environment, its yardsticks with node's own.
      const isOurs = ['pull', 'again', 'changed'].includes(way);
      const file = resolve(import.meta.dirname, 'pull/measured.ts');
      const args = [...(isOurs ? PRODUCT_FLAGS : []), file, JSON.stringify(task)];
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        maxBuffer: 1e8,
        env: {
          ...process.env,
          NODE_COMPILE_CACHE: join(dir, 'compiled'),
          ...(isOurs && PRODUCT_ENV),
        },
      });
      process.stderr.write(`${way} ${engine} ${events}: ${stdout}`);
      return JSON.parse(stdout) as Measured;
    },
    async close() {
      service.disconnect();
      await stopPostgres();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
