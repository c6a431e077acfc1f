// Items that are dropped into the folder of a workplace, one a file, and their fate: the outbox knows which are still
// open, the ledger of the service which it received twice or never.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../../src/sandbox/sandbox.ts';
import type { KillCase } from '../kills/kill-cases.ts';
import type { Workplace } from '../process/workplace.ts';

/** Entries of push_outbox that are not confirmed, or not yet acknowledged to the ERP. */
export const IS_OPEN = "(state <> 'confirmed' or told_at is null)";

/** The n-th, from 0, into the folder `drop`. */
export function dropItem({ dir }: Pick<Workplace, 'dir'>, kind: KillCase, n: number): void {
  mkdirSync(join(dir, 'drop'), { recursive: true });
  writeFileSync(join(dir, 'drop', `${n}.json`), JSON.stringify(kind.item(n)));
}

export async function openEntries(place: Pick<Workplace, 'query'>): Promise<number> {
  const [row] = await place.query<{ n: number }>(`select count(*) as n from push_outbox where ${IS_OPEN}`);
  return Number(row?.n);
}

/** How long until the next open one may be tried, ms. */
export async function restMs(place: Pick<Workplace, 'query'>): Promise<number> {
  const [row] = await place.query<{ at: string | null }>(
    `select min(coalesce(next_attempt_at, '')) as at from push_outbox where ${IS_OPEN}`,
  );
  return Math.max(0, Date.parse(row?.at || '1970-01-01') - Date.now());
}

/** How many of so many items the service has got twice, and how many never. */
export function twiceAndLost(
  accepted: Ledger[KillCase['ledger']],
  name: (n: number) => string,
  items: number,
): { twice: number; lost: number } {
  const counts = Array.from({ length: items }, (_, n) => accepted[name(n)] ?? 0);
  return {
    twice: counts.filter((count) => count > 1).length,
    lost: counts.filter((count) => count === 0).length,
  };
}
