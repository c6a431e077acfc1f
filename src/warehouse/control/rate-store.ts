// The rate of an account as a row that all processes take permits from. Each take is a short transaction in parallel with
// the writer, under a row lock, by the clock of the database.

import type { PermitSource } from '../../core/rate/rate.ts';
import { newRate, type RateState, takePermits } from '../../core/rate/rate.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, json, text } from '../schema/table.ts';

const required = { required: true };

export const syncRate = controlTable({
  name: 'sync_rate',
  meaning: 'The rate of an account at the service, shared by all processes on one PostgreSQL.',
  key: ['account'],
  columns: {
    account: text('Digest of the address of the service and the account.'),
    state: json('When the next calls may start, a pause, which calls go first, the limit: `RateState`.', required),
    updated_at: instant('When a process last asked for permits, by the clock of the database.', required),
  },
});

const TABLE = syncRate.name;

interface RateRow {
  state: string;
}

/** Undefined for an engine without parallel transactions. There each process has its own rate. */
export function ratePermits({ beside }: Pick<Engine, 'beside'>, account: string): PermitSource | undefined {
  if (beside === undefined) return undefined;
  return {
    take: (asked) =>
      beside(async (sql, now) => {
        const locked = (): Promise<RateRow | undefined> => sql(TABLE).where({ account }).forUpdate().first();
        const row = (await locked()) ?? (await makeRow());
        const nowMs = await now();
        const { state, grant } = takePermits(row === undefined ? newRate : JSON.parse(row.state), asked, nowMs);
        await sql(TABLE).where({ account }).update(toRow(state, nowMs));
        return grant;

        async function makeRow(): Promise<RateRow | undefined> {
          const made = { account, ...toRow(newRate, await now()) };
          await sql(TABLE).insert(made).onConflict('account').ignore();
          return locked();
        }
      }),
  };
}

const toRow = (state: RateState, nowMs: number) => ({
  state: JSON.stringify(state),
  updated_at: isoInstant(nowMs),
});
