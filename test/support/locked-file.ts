// Another process that holds the write lock of a SQLite file for a while, as a tool of a user might.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { configFor, makeWorkplace } from './workplace.ts';

const HOLDER = `
const { Database } = require('sqlite3');
const database = new Database(process.argv[1]);
database.exec('begin immediate', (error) => {
  if (error) throw error;
  process.stdout.write('locked');
  const release = () => database.exec('rollback', () => process.exit(0));
  process.stdin.once('data', () => setTimeout(release, Number(process.argv[2])));
});`;

const TELL_BEGIN = join(import.meta.dirname, 'tell-begin.ts');

export interface LockReport {
  /** From the moment the run asked for it. */
  heldMs: number;
  /** Exit code and error of the run that met the lock. */
  code: number | null;
  error: string | null;
  /** Exit code of the run after it. */
  next: number | null;
  /** Rows in the end, and vehicles of the service. */
  rows: number;
  truth: number;
}

export async function lockFor(heldMs: number): Promise<LockReport> {
  const sandbox = await startSandbox({ vehicles: 5, churn: false, stepped: true });
  const place = makeWorkplace(configFor(sandbox.url));
  const args = ['run', 'pull-vehicles', '--json'];
  try {
    await place.run(['run', 'pull-drivers']);
    const file = join(place.dir, 'data', 'warehouse.db');
    const holder = spawn(process.execPath, ['-e', HOLDER, file, String(heldMs)], {
      cwd: import.meta.dirname,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const released = once(holder, 'exit');
    await once(holder.stdout, 'data');
    const running = place.start(args, { NODE_OPTIONS: `--import=${TELL_BEGIN}` });
    await running.printed(/begins/);
    holder.stdin.write('release');
    const met = await running.ended;
    await released;
    const after = await place.run(args);
    const [found] = await place.query<{ n: number }>('select count(*) as n from vehicle');
    const truth = (await (await fetch(`${sandbox.url}/_sandbox/truth/vehicles`)).json()) as unknown[];
    const { error } = JSON.parse(met.stdout) as { error: { code: string } | null };
    return {
      heldMs,
      code: met.code,
      error: error?.code ?? null,
      next: after.code,
      rows: Number(found?.n),
      truth: truth.length,
    };
  } finally {
    place.remove();
    await sandbox.close();
  }
}
