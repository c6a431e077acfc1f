// Loaded into a process by `node --import`: counts the statements and commits that it sends to SQLite, and how long those
// on the outbox take. Writes them to SQL_COST_FILE when the process ends.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface SqlCost {
  statements: number;
  commits: number;
  /** Wall time of the statements on the outbox, ms. */
  outboxMs: number;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

const file = process.env.SQL_COST_FILE;
if (file !== undefined) {
  const cost: SqlCost = { statements: 0, commits: 0, outboxMs: 0 };
  const { Database } = createRequire(import.meta.url)('sqlite3') as {
    Database: { prototype: Record<string, Method> };
  };
  for (const name of ['all', 'run']) {
    const original = Database.prototype[name] as Method;
    Database.prototype[name] = function counted(this: unknown, sql: unknown, ...rest: unknown[]) {
      const text = String(sql);
      cost.statements++;
      if (text === 'commit') cost.commits++;
      const done = rest.at(-1);
      if (typeof done !== 'function' || !/push_(outbox|attempt|return)/.test(text))
        return original.call(this, sql, ...rest);
      const began = performance.now();
      const timed: Method = function (this: unknown, ...results) {
        cost.outboxMs += performance.now() - began;
        return (done as Method).apply(this, results);
      };
      return original.call(this, sql, ...rest.slice(0, -1), timed);
    };
  }
  process.on('exit', () => writeFileSync(file, JSON.stringify(cost)));
}
