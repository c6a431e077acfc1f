// Date expressions of SQLite: instants, local times and days are all text.
import type { Dialect } from '../../schema/dialect.ts';

const shifted = (format: string, at: string, seconds: string): string =>
  `strftime('${format}', ${at}, (${seconds}) || ' seconds')`;

export const sqliteDialect: Dialect = {
  now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
  secondsBetween: (from, to) => `(unixepoch(${to}) - unixepoch(${from}))`,
  addSeconds: (at, seconds) => shifted('%Y-%m-%dT%H:%M:%fZ', at, seconds),
  localTime: (at, offset) => shifted('%Y-%m-%d %H:%M:%S', at, offset),
  localDay: (at, offset) => shifted('%Y-%m-%d', at, offset),
  localHour: (at, offset) => `cast(${shifted('%H', at, offset)} as integer)`,
};
