// Date expressions of PostgreSQL: instants are timestamptz, local times timestamp, days date. None of them depends on the
// time zone of the session.
import type { Dialect } from '../../schema/dialect.ts';

const later = (at: string, seconds: string): string => `(${at} + (${seconds}) * interval '1 second')`;
const wall = (at: string, offset: string): string => later(`(${at} at time zone 'UTC')`, offset);
const epoch = (at: string): string => `floor(extract(epoch from ${at}))`;

export const postgresDialect: Dialect = {
  now: 'now()',
  secondsBetween: (from, to) => `cast(${epoch(to)} - ${epoch(from)} as bigint)`,
  addSeconds: later,
  localTime: (at, offset) => `date_trunc('second', ${wall(at, offset)})`,
  localDay: (at, offset) => `cast(${wall(at, offset)} as date)`,
  localHour: (at, offset) => `cast(extract(hour from ${wall(at, offset)}) as integer)`,
};
