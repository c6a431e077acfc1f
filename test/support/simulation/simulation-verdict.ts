// The expected end of a simulated life: tables equal to the sandbox's own state, every dropped item accepted exactly once
// and acknowledged, no run with wrong counts, no tick run twice.
import { createHash } from 'node:crypto';
import type { ManualClock } from '../../../src/core/time/manual-clock.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { IS_OPEN } from '../push/dropped-items.ts';
import { rowsOf } from '../warehouse/engines.ts';
import { compareWithTruth, type Rows } from './simulation-truth.ts';

type Fields = Record<string, unknown>;

export interface Verdict {
  /** Rows that were compared with the sandbox's state. */
  compared: number;
  /** Tables that differ from it, and how. */
  wrong: string[];
  items: number;
  /** By the ledger, those that are held for review too. */
  twice: number;
  lost: number;
  /** Sends without a clear answer. */
  unclear: number;
  /** Sent five times without a clear answer, or accepted and shown by no listing: a person is asked. Neither lost nor open. */
  heldForReview: number;
  /** Other entries of the outbox that are not confirmed, or not acknowledged. */
  open: number;
  completed: number;
  doubledTicks: number;
  /** Runs whose counts do not add up. */
  miscounted: number;
  /** Of everything the warehouse holds. */
  contentDigest: string;
}

/** Five unclear answers to one item are rare: with more than one item in twenty the push would give up too early. */
export const mostHeldForReview = (items: number): number => Math.max(1, Math.floor(items / 20));

export const isSound = (found: Verdict): boolean =>
  found.wrong.length + found.twice + found.lost + found.open + found.doubledTicks + found.miscounted === 0 &&
  found.heldForReview <= mostHeldForReview(found.items);

/** One in each life of a refresh token, which is a day in the sandbox; every other token is renewed. */
export const mostFairLogins = (fairDays: number): number => Math.ceil(fairDays) + 1;

export interface Scene {
  engine: Engine;
  sandbox: Sandbox;
  clock: ManualClock;
  items: number;
  startMs: number;
  hasOtherDays?: boolean;
}

export async function verdictOf(scene: Scene): Promise<Verdict> {
  const rows = (text: string) => scene.engine.read((sql) => rowsOf<Fields>(sql, text));
  const count = async (text: string) => Number((await rows(`select count(*) as n from ${text}`))[0]?.n);
  const ledger = scene.sandbox.ledger();
  const accepted = { ...ledger.plans, ...ledger.points_of_interest };
  const held = new Set((await rows(`select external_code from push_outbox where ${HELD}`)).map(codeIn));
  const dropped = Array.from({ length: scene.items }, (_, n) => `T${String(n).padStart(4, '0')}`);
  const counts = [...new Set([...dropped, ...held])].map((code) => ({ code, times: accepted[code] ?? 0 }));
  const differing = await compareWithTruth(scene, rows);
  return {
    compared: differing.rows,
    wrong: differing.wrong,
    items: scene.items,
    twice: counts.filter(({ times }) => times > 1).length,
    lost: counts.filter(({ code, times }) => times === 0 && !held.has(code)).length,
    unclear: await count(`push_attempt where outcome = 'unclear'`),
    heldForReview: held.size,
    open: await count(`push_outbox where ${IS_OPEN} and not (${HELD})`),
    completed: await count(`sync_run where status in ('ok', 'partial')`),
    doubledTicks: await count(
      `(select job, tick_at from sync_run where status in ('ok', 'partial') and error_code is null and tick_at is not null group by 1, 2 having count(*) > 1) as twice`,
    ),
    miscounted: await count(
      `sync_run where job like 'pull-%' and status in ('ok', 'partial') and records <> inserted + updated + unchanged + quarantined`,
    ),
    contentDigest: await contentOf(rows),
  };
}

/** As promised: a person is asked. An empty answer means stored, also where a fault made it and nothing was. */
const HELD = `(state = 'unknown' and unclear_sends >= 5) or attention = 'never_shown'`;
const codeIn = ({ external_code }: Fields): string => String(external_code);

/** Everything in the warehouse, except random values. */
async function contentOf(rows: Rows): Promise<string> {
  const digest = createHash('sha256');
  for (const { name, columns } of tables) {
    if (['sync_daemon', 'sync_lease', 'sync_state'].includes(name)) continue;
    const kept = columns.map((column) => column.name).filter((column) => !/run_id$|^pid$|^host$/.test(column));
    const listed = kept.map((column) => `"${column}"`).join(', ');
    const all = (await rows(`select ${listed} from "${name}"`)).map((row) => JSON.stringify(row)).sort();
    digest.update(`${name}\n${all.join('\n')}\n`);
  }
  return digest.digest('hex');
}
