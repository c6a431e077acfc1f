// Loaded into the real process by `node --import`: says on stderr when it asks SQLite for its first transaction.
import { createRequire } from 'node:module';

type Method = (this: unknown, ...args: unknown[]) => unknown;

const require = createRequire(import.meta.url);
const { Database } = require('sqlite3') as { Database: { prototype: Record<string, Method> } };
const all = Database.prototype.all as Method;
Database.prototype.all = function watched(this: unknown, ...args: unknown[]) {
  if (args[0] === 'begin immediate') {
    Database.prototype.all = all;
    process.stderr.write('begins\n');
  }
  return all.apply(this, args);
};
