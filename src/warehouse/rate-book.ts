// The shared rate of an account as a row: one draw after another, each a short transaction beside the writer. Absent
// where the engine has no such thing; there each process keeps a rate of its own.
import { isoInstant } from '../core/clock.ts';
import { drawFrom, newRate, type RateBook, type RateState } from '../core/shared-rate.ts';
import type { Engine } from './engine.ts';

const TABLE = 'sync_rate';

interface RateRow {
  next_ms: number;
  paused_until: string;
  shares: string;
}

export function rateBook({ beside }: Pick<Engine, 'beside'>, account: string): RateBook | undefined {
  if (beside === undefined) return undefined;
  return {
    draw: (asked) =>
      beside(async (sql, now) => {
        const locked = (): Promise<RateRow | undefined> => sql(TABLE).where({ account }).forUpdate().first();
        const row = (await locked()) ?? (await makeRow());
        const nowMs = await now();
        const { state, grant } = drawFrom(row === undefined ? newRate : toState(row), asked, nowMs);
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

const toState = ({ next_ms, paused_until, shares }: RateRow): RateState => ({
  nextMs: next_ms,
  pausedUntilMs: Date.parse(paused_until),
  shares: JSON.parse(shares),
});

const toRow = ({ nextMs, pausedUntilMs, shares }: RateState): RateRow => ({
  next_ms: nextMs,
  paused_until: isoInstant(pausedUntilMs),
  shares: JSON.stringify(shares),
});
