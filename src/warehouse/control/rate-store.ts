// The rate of an account as a row that all processes take permits from. Each take is a short transaction in parallel with
// the writer, under a row lock, by the clock of the database.
import { newRate, type PermitSource, type RateState, takePermits } from '../../core/rate/rate.ts';
import { isoInstant } from '../../core/time/clock.ts';
import type { Engine } from '../engine.ts';
import { controlTable, instant, json, text } from '../schema/table.ts';

export const syncRate = controlTable({
  name: 'sync_rate',
  meaning: 'The rate of an account at the service, shared by all processes on one PostgreSQL.',
  key: ['account'],
  columns: {
    account: text('Digest of the address of the service and the account.'),
    state: json('When the next calls may start, a pause, the limit: `RateState`.', {
      required: true,
    }),
    updated_at: instant('When a process last asked for permits, by the clock of the database.', { required: true }),
  },
});

/** Undefined for an engine without parallel transactions. There each process has its own rate. */
export function ratePermits(
  { shortTransaction }: Pick<Engine, 'shortTransaction'>,
  account: string,
): PermitSource | undefined {
  if (shortTransaction === undefined) return undefined;
  return {
    take: (asked) =>
      shortTransaction(async (sql, now) => {
        const rates = () => sql<{ account: string; state: string; updated_at: string }>(syncRate.name);
        const locked = () => rates().where({ account }).forUpdate().first();
        let row = await locked();
        if (row === undefined) {
          await rates()
            .insert({ account, ...toRow(newRate, await now()) })
            .onConflict('account')
            .ignore();
          row = await locked();
        }
        const nowMs = await now();
        const { state, grant } = takePermits(row === undefined ? newRate : JSON.parse(row.state), asked, nowMs);
        await rates().where({ account }).update(toRow(state, nowMs));
        return grant;
      }),
  };
}

const toRow = (state: RateState, nowMs: number) => ({
  state: JSON.stringify(state),
  updated_at: isoInstant(nowMs),
});
