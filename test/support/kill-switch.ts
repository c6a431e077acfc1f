// Loaded into the real process before it starts (node --import): counts every step of I/O, a statement or a
// request begun or answered, and kills the process at the one that was asked for. The product knows nothing of it.
import { appendFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';

const killAt = Number(process.env.KILL_AT ?? 0);
let steps = 0;

function step(): void {
  steps++;
  if (steps === killAt) process.kill(process.pid, 'SIGKILL');
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Counts a call, and the call of its last argument where that is a callback. */
function counted(method: Method): Method {
  return function (this: unknown, ...args: unknown[]) {
    step();
    const last = args.at(-1);
    if (typeof last === 'function') {
      args[args.length - 1] = function (this: unknown, ...results: unknown[]) {
        step();
        return (last as Method).apply(this, results);
      };
    }
    return method.apply(this, args);
  };
}

const { Database } = createRequire(import.meta.url)('sqlite3') as {
  Database: { prototype: Record<string, Method> };
};
for (const name of ['all', 'run', 'exec']) {
  const method = Database.prototype[name];
  if (method !== undefined) Database.prototype[name] = counted(method);
}
http.request = counted(http.request as unknown as Method) as unknown as typeof http.request;

const report = process.env.STEPS_FILE;
if (report !== undefined) process.once('exit', () => appendFileSync(report, `${steps}\n`));
