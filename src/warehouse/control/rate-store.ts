// The rate of an account as a row that all processes take permits from. Each take is a short transaction in parallel with
// the writer, under a row lock, by the clock of the database.

import type { PermitSource } from '../../core/rate/permits.ts';
import { newRate, type RateState, takePermits } from '../../core/rate/rate.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, integer, real, text } from '../schema/table.ts';

const required = { required: true };

export const syncRate = controlTable({
  name: 'sync_rate',
  meaning: 'The rate of an account at the service, shared by all processes on one PostgreSQL.',
  key: ['account'],
  columns: {
    account: text('Digest of the address of the service and the account.'),
    next_ms: real(
      'When a full burst of calls may start at once, in ms since 1970 by the clock of the database.',
      required,
    ),
    paused_until: instant(
      'Until when calls are paused at the request of the service; in the past if they are not.',
      required,
    ),
    turn: integer('Turn of the process that got the last permit; increases with every permit.', required),
    urgent_priority: integer('Priority of the first call that got no permit.', required),
    urgent_turn: integer('Turn of the process of that call; at equal priority the lower turn goes first.', required),
    urgent_until: instant('Until when the calls after that one get no permit.', required),
    per_minute: integer('The lowest requests_per_minute of the processes that recently asked for permits.', required),
    per_minute_at: instant('When a process last asked with that value.', required),
    updated_at: instant('When a process last asked for permits, by the clock of the database.', required),
  },
});

const TABLE = syncRate.name;

type RateRow = ReturnType<typeof toRow>;

/** Undefined for an engine without parallel transactions. There each process has its own rate. */
export function ratePermits({ beside }: Pick<Engine, 'beside'>, account: string): PermitSource | undefined {
  if (beside === undefined) return undefined;
  return {
    take: (asked) =>
      beside(async (sql, now) => {
        const locked = (): Promise<RateRow | undefined> => sql(TABLE).where({ account }).forUpdate().first();
        const row = (await locked()) ?? (await makeRow());
        // Whole milliseconds, because instants are stored so.
        const nowMs = Math.floor(await now());
        const { state, grant } = takePermits(row === undefined ? newRate : toState(row), asked, nowMs);
        await sql(TABLE)
          .where({ account })
          .update({ ...toRow(state), updated_at: isoInstant(nowMs) });
        return grant;

        async function makeRow(): Promise<RateRow | undefined> {
          const made = { account, ...toRow(newRate), updated_at: isoInstant(await now()) };
          await sql(TABLE).insert(made).onConflict('account').ignore();
          return locked();
        }
      }),
  };
}

const toState = (row: RateRow): RateState => ({
  nextMs: row.next_ms,
  pausedUntilMs: Date.parse(row.paused_until),
  turn: row.turn,
  urgent: {
    priority: row.urgent_priority,
    turn: row.urgent_turn,
    untilMs: Date.parse(row.urgent_until),
  },
  perMinute: { figure: row.per_minute, seenMs: Date.parse(row.per_minute_at) },
});

const toRow = ({ nextMs, pausedUntilMs, turn, urgent, perMinute }: RateState) => ({
  next_ms: nextMs,
  paused_until: isoInstant(pausedUntilMs),
  turn,
  urgent_priority: urgent.priority,
  urgent_turn: urgent.turn,
  urgent_until: isoInstant(urgent.untilMs),
  per_minute: perMinute.figure,
  per_minute_at: isoInstant(perMinute.seenMs),
});
