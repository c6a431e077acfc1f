// Holds leases for this process and finds those whose holder is dead. A holder is dead when its beat has not moved
// for the whole lease time on our own monotonic clock: no clock of another machine is trusted, and setting a clock
// neither frees a lease nor keeps it. On the same machine a process that is gone is seen at once. Of a
// time in which nobody looked a beat counts at most: it may be that nobody could look, nor beat.
import { type Clock, isoInstant } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Engine } from './engine.ts';
import { fencedEngine } from './fenced-engine.ts';
import {
  beat,
  freeLease,
  type Lease,
  type LeaseRow,
  leaseLost,
  readLeases,
  releaseLease,
  takeLease,
} from './leases.ts';
import { isCertainlyDead, thisProcess } from './this-process.ts';

/** A dead holder is replaced within `deadMs` and a look; a live one may miss three beats. */
export const LEASE_TIMES = { beatMs: 5_000, deadMs: 20_000 };

export interface HeldLease extends Lease {
  /** Refuses every write once the lease is lost. */
  engine: Engine;
  /** Aborts when the loss is noticed. */
  lost: AbortSignal;
  /** Throws where the lease may have been lost, from the own clocks alone: for what no transaction can guard. */
  check(): void;
  release(): Promise<void>;
}

export interface LeaseKeeper {
  /** The lease, or who has it. */
  take(name: string): Promise<HeldLease | { heldBy: LeaseRow }>;
  /** Frees the leases of the dead; gives the names of those that were let go since the last look. */
  look(): Promise<string[]>;
}

interface Sight {
  token: number;
  beat: number;
  holder: string | null;
  /** How long it was seen to stand still. */
  stillMs: number;
  /** When it was last looked at, on the monotonic clock. */
  seenMs: number;
}

interface Holding {
  lease: Lease;
  loss: AbortController;
  /**
   * When the last transaction that proved it began, on both clocks: either may stop or leap while the machine sleeps.
   * Others see its beat once it is committed, so they count from later on, however long it had waited for its turn.
   */
  proven: { monotonicMs: number; wallMs: number };
}

export function createLeaseKeeper(engine: Engine, { clock, log }: { clock: Clock; log: Log }): LeaseKeeper {
  const sights = new Map<string, Sight>();
  const holdings = new Set<Holding>();
  let resting = new AbortController();
  const at = (): string => isoInstant(clock.now());
  const moment = () => ({ monotonicMs: clock.monotonic(), wallMs: clock.now() });

  function observe(row: LeaseRow): Sight {
    const { name, holder } = row;
    const [token, beats] = [Number(row.token), Number(row.beat)];
    const seenMs = clock.monotonic();
    const known = sights.get(name);
    const isSame = known?.token === token && known.beat === beats;
    const stillMs = isSame ? known.stillMs + Math.min(seenMs - known.seenMs, LEASE_TIMES.beatMs) : 0;
    const sight = { token, beat: beats, holder, stillMs, seenMs };
    sights.set(name, sight);
    return sight;
  }

  /** True where the lease was held by a dead process and is free now. */
  async function freeIfDead(row: LeaseRow, sight = observe(row)): Promise<boolean> {
    const { holder, pid, place } = row;
    if (holder === null || pid === null || place === null) return false;
    const isGone = isCertainlyDead({ holder, pid, place });
    if (!isGone && sight.stillMs < LEASE_TIMES.deadMs) return false;
    const askedAt = clock.monotonic();
    // Whatever comes of it, who is not gone is given the time again.
    sights.delete(row.name);
    const freed = await engine.write(async ({ sql }) => {
      // A write that had to wait says that the holder's beats had to wait too.
      if (!isGone && clock.monotonic() - askedAt > LEASE_TIMES.beatMs) return false;
      return freeLease(sql, { name: row.name, token: sight.token, beat: sight.beat }, at());
    });
    if (freed) log.warn({ lease: row.name, holder }, 'lease of a dead process freed');
    return freed;
  }

  async function beatAll(): Promise<void> {
    const live = [...holdings];
    const proven = await engine.write(async ({ sql }) => {
      const began = moment();
      for (const holding of live) {
        if (!(await beat(sql, holding.lease, at()))) lose(holding);
      }
      return began;
    });
    for (const holding of live) holding.proven = proven;
  }

  async function keepBeating(): Promise<void> {
    const rest = resting.signal;
    while (!rest.aborted) {
      await clock.sleep(LEASE_TIMES.beatMs, rest).catch(() => undefined);
      if (rest.aborted) return;
      await beatAll().catch((error) => log.warn({ err: error }, 'leases could not be kept alive'));
    }
  }

  function lose(holding: Holding): void {
    if (holding.loss.signal.aborted) return;
    log.warn({ lease: holding.lease.name }, 'lease lost');
    holding.loss.abort(leaseLost(holding.lease.name));
  }

  function hold(lease: Lease, proven: Holding['proven']): HeldLease {
    const holding: Holding = { lease, loss: new AbortController(), proven };
    holdings.add(holding);
    if (holdings.size === 1) {
      resting = new AbortController();
      void keepBeating();
    }
    return {
      ...lease,
      lost: holding.loss.signal,
      engine: fencedEngine(engine, lease, {
        at,
        moment,
        onBeat: (proven) => {
          holding.proven = proven;
        },
        onLost: () => lose(holding),
      }),
      check() {
        const { monotonicMs, wallMs } = holding.proven;
        const age = Math.max(clock.monotonic() - monotonicMs, clock.now() - wallMs);
        if (holding.loss.signal.aborted || age >= LEASE_TIMES.deadMs) throw leaseLost(lease.name);
      },
      async release() {
        holdings.delete(holding);
        if (holdings.size === 0) resting.abort();
        await releaseLease(engine, lease);
      },
    };
  }

  async function take(name: string): ReturnType<LeaseKeeper['take']> {
    const { began, result } = await engine.write(async ({ sql }) => ({
      began: moment(),
      result: await takeLease(sql, name, thisProcess, at()),
    }));
    if ('lease' in result) return hold(result.lease, began);
    return (await freeIfDead(result.heldBy)) ? take(name) : result;
  }

  return {
    take,
    async look() {
      const letGo: string[] = [];
      const rows = await readLeases(engine);
      // All of them at once: freeing one may have to wait.
      const looks = rows.map((row) => ({ row, before: sights.get(row.name), sight: observe(row) }));
      for (const { row, before, sight } of looks) {
        const freed = await freeIfDead(row, sight);
        const wasHeld = before?.token !== Number(row.token) || before.holder !== null;
        if (freed || (row.holder === null && wasHeld)) letGo.push(row.name);
      }
      return letGo;
    },
  };
}
