// The faults of the service that a push can meet, and the two questions that every test of them asks: does it come to
// an end, and is that end the truth.
import { expect } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { type PushCase, pushCases } from './push-cases.ts';
import type { PushPlace } from './push-place.ts';

export type AnyFault = Omit<Fault, 'call'>;

const BYTES = 3_000_000;
const STATUSES = ['400', '401', '403', '404', '409', '413', '422', '429', '500', '502', '503'] as const;

export const WRITE_FAULTS: readonly AnyFault[] = [
  { fault: 'latency', ms: 20 },
  { fault: 'latency', ms: 20, after_commit: true },
  { fault: 'drip', ms: 1 },
  { fault: 'refused' },
  { fault: 'reset-before-commit' },
  { fault: 'reset-after-commit' },
  { fault: 'truncated' },
  { fault: 'html' },
  { fault: 'empty' },
  { fault: 'wrong-shape' },
  { fault: 'wrong-type' },
  { fault: 'wrong-encoding' },
  { fault: 'proto-keys' },
  { fault: 'duplicate' },
  { fault: 'reordered' },
  { fault: 'huge', bytes: BYTES },
  { fault: 'gzip-bomb', bytes: BYTES },
  { fault: 'deep', bytes: 50_000 },
  { fault: 'endless' },
  { fault: 'redirect' },
  { fault: 'hang' },
  { fault: 'hang', after_commit: true },
  { fault: 'expired-token' },
  ...STATUSES.map((fault) => ({ fault })),
  ...STATUSES.map((fault) => ({ fault, after_commit: true })),
  { fault: 'redirect', after_commit: true },
];

export const READ_FAULTS: readonly AnyFault[] = [
  ...WRITE_FAULTS.filter(({ after_commit }) => !after_commit),
  { fault: 'no-records' },
  { fault: 'fewer-records' },
];

/** How long an exchange may take: a fault that ends by time alone is not waited for. */
export const timeoutWith = ({ fault }: AnyFault): number => (fault === 'hang' || fault === 'endless' ? 200 : 5_000);

const isWhole = process.env.EVERY_PUSH_FAULT !== undefined;

/**
 * Each fault for the first kind of push and for one other in turn: the kinds share the engine. `npm run prove` has
 * every kind meet every fault.
 */
export const kindsWith = (faults: readonly AnyFault[]) =>
  pushCases.flatMap((kind, at) =>
    faults
      .filter((_, turn) => at === 0 || turn % (pushCases.length - 1) === at - 1 || isWhole)
      .map((fault) => [kind.job, nameOf(fault), kind, fault] as const),
  );

/** For two codes of one agent: at least the faults that strike after the agent was created. */
export const sharedKeyFaults = WRITE_FAULTS.filter(({ after_commit }) => after_commit === true || isWhole).map(
  (fault) => [nameOf(fault), fault] as const,
);

function nameOf({ fault, after_commit }: AnyFault): string {
  return `${fault}${after_commit === true ? ' after commit' : ''}`;
}

export const HOUR_MS = 3_600_000;
const MOST_RUNS = 8;

/** Runs until nothing is left to do, an hour apart; nothing is ever left in `sending`. */
export async function runUntilDone(place: PushPlace, { job }: PushCase): Promise<void> {
  for (let runs = 0; runs < MOST_RUNS; runs++) {
    await place.run(job);
    const rows = await place.outbox();
    expect(rows.filter(({ state }) => state === 'sending')).toEqual([]);
    if (rows.length > 0 && rows.every(({ state }) => state === 'confirmed' || state === 'rejected')) return;
    await place.clock.advance(HOUR_MS);
  }
  throw new Error(`still open after ${MOST_RUNS} runs`);
}

/** Each confirmed item is there once, each rejected one not at all, and the ERP was notified; gives the states. */
export async function expectTruth(place: PushPlace, kind: PushCase, many: number): Promise<string[]> {
  const accepted = place.sandbox.ledger()[kind.ledger];
  const rows = await place.outbox();
  expect(rows).toHaveLength(many);
  const confirmed = rows.filter(({ state }) => state === 'confirmed').length;
  const counts = Array.from({ length: many }, (_, n) => accepted[kind.name(n)] ?? 0);
  expect(counts.filter((count) => count > 1)).toEqual([]);
  expect(counts.filter((count) => count === 1)).toHaveLength(confirmed);
  expect(rows.every(({ told_at }) => told_at !== null)).toBe(true);
  return rows.map(({ state }) => state);
}
