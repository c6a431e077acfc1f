// The gate of a simulated daemon: every request, every statement of the warehouse and every step on a file waits for
// its turn, the seed chooses among those that wait, and only one is ever under way. So real HTTP, a real database and
// real files give one order of events for one seed. A daemon that dies here dies between two turns: its
// request is never carried out, or is carried out without an answer.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Clock } from '../../../src/core/time/clock.ts';
import type { ManualClock } from '../../../src/core/time/manual-clock.ts';
import type { Random } from '../../../src/sandbox/made-up/seeded-random.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';

/** One daemon from its start to its end. */
export interface Life {
  isOver: boolean;
  /** Files it has open; the machine closes them when it dies. */
  readonly open: Set<{ close(): Promise<void> }>;
}

export const newLife = (): Life => ({ isOver: false, open: new Set() });

/** Whether the daemon dies at a turn, and then whether the turn still happens. */
export type Fate = 'lives' | 'dies before' | 'dies after';

export interface SimulatedIo {
  /** Does `work` when its turn comes; at once where it belongs to a turn, or to no daemon. */
  turn<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Runs the code of a daemon. */
  live<T>(life: Life, work: () => T): T;
  /** The time of a daemon; a dead daemon is never woken. */
  clockOf(life: Life): Clock;
  engineOf(engine: Engine): Engine;
  /** Lets everything happen that happens in the next `ms`, or until the daemon dies; returns the life that ended. */
  pass(ms: number, fate: (turn: string) => Fate): Promise<Life | undefined>;
}

interface Turn {
  name: string;
  life: Life;
  /** Returns the function that passes the result to the waiting caller. */
  happen(): Promise<() => void>;
}

interface Place {
  io: SimulatedIo;
  life: Life;
  isTurn: boolean;
  /** Steps of the daemon that need neither time nor a turn and are not done yet. */
  unrested: { count: number };
}

const place = new AsyncLocalStorage<Place>();
const never = <T>(): Promise<T> => new Promise(() => undefined);

/** `aheadMs`: how far the clock that daemons see is ahead; default 0. */
export function simulateIo(clock: ManualClock, random: Random, aheadMs = (): number => 0): SimulatedIo {
  const waiting: Turn[] = [];
  const unrested = { count: 0 };

  /** Until nobody can go on without time or a turn. */
  async function rest(): Promise<void> {
    do for (let round = 0; round < 3; round++) await nextRound();
    while (unrested.count > 0);
  }

  const io: SimulatedIo = {
    turn<T>(name: string, work: () => Promise<T>): Promise<T> {
      const here = place.getStore();
      if (here === undefined || here.isTurn) return work();
      if (here.life.isOver) return never();
      return new Promise<T>((resolve, reject) => {
        waiting.push({
          name,
          life: here.life,
          happen: () =>
            place.run({ ...here, isTurn: true }, () =>
              work().then(
                (result) => () => resolve(result),
                (error) => () => reject(error),
              ),
            ),
        });
      });
    },
    live: (life, work) => place.run({ io, life, isTurn: false, unrested }, work),
    clockOf: (life) => ({
      now: () => clock.now() + aheadMs(),
      monotonic: clock.monotonic,
      async sleep(ms, signal) {
        await clock.sleep(ms, signal);
        if (life.isOver) await never();
      },
    }),
    engineOf: (engine) => ({
      ...engine,
      write: (work, how) => io.turn(how?.isLong ? 'load' : 'write', () => engine.write(work, how)),
      read: (work) => io.turn('read', () => engine.read(work)),
      latest: (...args) => io.turn('latest', () => engine.latest(...args)),
      upkeep: () => io.turn('upkeep', engine.upkeep),
      scrub: () => io.turn('scrub', engine.scrub),
    }),
    async pass(ms, fate) {
      const end = clock.monotonic() + ms;
      for (;;) {
        await rest();
        if (waiting.length > 0) {
          const [turn] = waiting.splice(random.int(0, waiting.length - 1), 1) as [Turn];
          const { name, life } = turn;
          if (life.isOver) continue;
          const ending = fate(name);
          if (ending !== 'dies before') {
            const resume = await turn.happen();
            if (ending === 'lives') resume();
          }
          if (ending === 'lives') continue;
          life.isOver = true;
          for (const file of life.open) await file.close();
          return life;
        }
        const next = clock.untilNext();
        if (next === undefined || clock.monotonic() + next > end) break;
        await clock.advance(next);
      }
      await clock.advance(end - clock.monotonic());
      return undefined;
    },
  };
  return io;
}

// Parts of Node that the product uses directly: files, and the pause in long work. Both pass through unchanged
// outside a simulated daemon.
const require = createRequire(import.meta.url);
type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;

const nextRound = ((): (() => Promise<void>) => {
  const timers = require('node:timers/promises') as Record<string, Method>;
  const original = timers.setImmediate as Method;
  timers.setImmediate = async function counted(this: unknown, ...args) {
    const unrested = place.getStore()?.unrested ?? { count: 0 };
    unrested.count++;
    return original.apply(this, args).finally(() => unrested.count--);
  };
  return () => original() as Promise<void>;
})();

function byTurns(owner: Record<string, Method>, names: readonly string[]): void {
  for (const name of names) {
    const original = owner[name] as Method;
    owner[name] = function byTurn(this: unknown, ...args) {
      const work = () => original.apply(this, args);
      return place.getStore()?.io.turn(`file ${name}`, work) ?? work();
    };
  }
}

const files = require('node:fs/promises') as Record<string, Method>;
const open = files.open as Method;
const handle = (await open(import.meta.filename)) as { close(): Promise<void> };
byTurns(Object.getPrototypeOf(handle), [
  'appendFile',
  'datasync',
  'read',
  'readFile',
  'stat',
  'sync',
  'write',
  'writeFile',
]);
await handle.close();
// Each handle has a `close` of its own.
files.open = async function closedByTurn(this: unknown, ...args) {
  const opened = (await open.apply(this, args)) as Record<'close', Method>;
  const here = place.getStore();
  if (here === undefined) return opened;
  const file = { close: opened.close as () => Promise<void> };
  here.life.open.add(file);
  opened.close = () =>
    here.io.turn('file close', () => {
      here.life.open.delete(file);
      return file.close();
    });
  return opened;
};
byTurns(files, ['access', 'mkdir', 'open', 'readFile', 'readdir', 'rename', 'rm', 'stat', 'writeFile']);
syncBuiltinESMExports();
