// An engine whose every write first shows the token of its lease, in the same transaction: a process that was
// replaced while it stood still writes nothing when it wakes up.
import type { Engine } from './engine.ts';
import { beat, isHeld, type Lease, leaseLost } from './leases.ts';

export interface FenceParts<Moment> {
  /** ISO instant of now. */
  at(): string;
  moment(): Moment;
  /** Told when a write that shows the lease is committed, with when it began: no other process saw it before that. */
  onBeat(began: Moment): void;
  onLost(): void;
}

export const fencedEngine = <Moment>(
  engine: Engine,
  lease: Lease,
  { at, moment, onBeat, onLost }: FenceParts<Moment>,
): Engine => ({
  ...engine,
  base: engine.base ?? engine,
  async write(work, how) {
    const { began, result } = await engine.write(async (tx) => {
      const began = moment();
      if (await beat(tx.sql, lease, at())) return { began, result: await work(tx) };
      onLost();
      throw leaseLost(lease.name);
    }, how);
    onBeat(began);
    return result;
  },
});

/** The same for who works on behalf of the holder, in this process or another. */
export const helpersEngine = (engine: Engine, lease: Lease): Engine => ({
  ...engine,
  base: engine.base ?? engine,
  write: (work, how) =>
    engine.write(async (tx) => {
      if (!(await isHeld(tx.sql, lease))) throw leaseLost(lease.name);
      return work(tx);
    }, how),
});
