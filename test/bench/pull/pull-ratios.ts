// Ratios of whole pulls, small enough for every `npm run bench -- --check`, each in a process of its own. By the clock:
// beside the script that a user would write, in turns, the best of each side, against a service that lets its answers wait,
// so that what waits where it need not shows too. By CPU time: beside parsing alone, and a pull of events that the process
// has stored beside a first one.
import { type BenchPlace, makeBenchPlace, VEHICLES } from '../bench-place.ts';
import { cpuMs } from '../cpu-time.ts';
import type { BenchEngine, Way } from '../task.ts';

/** A day of them: a slice for each hundred vehicles, so that slices meet. */
const EVENTS = 20_000;
const ANSWER_MS = 20;
/** Times that each side is measured by the clock before it is judged. */
const TURNS = 2;

interface Side {
  way: Way;
  engine: BenchEngine;
}

interface Spent {
  seconds: number;
  /** With the database server's. */
  cpuSeconds: number;
}

const SCRIPT: Side = { way: 'script', engine: 'sqlite' };
const PARSE: Side = { way: 'parse', engine: 'sqlite' };
const PULL: Side = { way: 'pull', engine: 'sqlite' };
const AGAIN: Side = { way: 'again', engine: 'sqlite' };
const POSTGRES: Side = { way: 'pull', engine: 'postgres' };
const SCRIPT_POSTGRES: Side = { way: 'script', engine: 'postgres' };

export interface PullRatios {
  /** How much of the cost of a pull the cost of its yardstick is; each call measures anew, the best so far count. */
  ratios: Record<'script' | 'parse' | 'again' | 'postgres' | 'scriptPostgres', () => Promise<number>>;
  close(): Promise<void>;
}

export function pullRatios(): PullRatios {
  const best = new Map<Side, Spent>();
  let place: Promise<BenchPlace> | undefined;
  let filled: Record<string, string> = {};

  async function measure(side: Side): Promise<void> {
    place ??= makeBenchPlace({ perDay: EVENTS / VEHICLES, answerMs: ANSWER_MS });
    const { warehouse, measure } = await place;
    const settings = side === AGAIN ? filled : await warehouse(side.engine);
    if (side === PULL) filled = settings;
    const serverBefore = serverCpuMs();
    const { rows, seconds, cpuSeconds } = await measure(side.way, side.engine, settings, EVENTS);
    const server = (serverCpuMs() - serverBefore) / 1_000;
    const before = best.get(side);
    best.set(side, {
      seconds: Math.min(seconds / rows, before?.seconds ?? Number.POSITIVE_INFINITY),
      cpuSeconds: Math.min((cpuSeconds + server) / rows, before?.cpuSeconds ?? Number.POSITIVE_INFINITY),
    });
  }

  const ratio = (yardstick: Side, ours: Side, figure: keyof Spent, turns = 1) => {
    let isFirst = true;
    return async (): Promise<number> => {
      // The first round reuses figures of another ratio; not by the clock, where both sides have to take turns.
      const sides = [yardstick, ours].filter((side) => !isFirst || turns > 1 || !best.has(side));
      isFirst = false;
      for (let turn = 0; turn < turns; turn++) for (const side of sides) await measure(side);
      return (best.get(yardstick)?.[figure] ?? 0) / (best.get(ours)?.[figure] ?? 0);
    };
  };

  return {
    ratios: {
      script: ratio(SCRIPT, PULL, 'seconds', TURNS),
      parse: ratio(PARSE, PULL, 'cpuSeconds'),
      again: ratio(PULL, AGAIN, 'cpuSeconds'),
      postgres: ratio(PARSE, POSTGRES, 'cpuSeconds'),
      scriptPostgres: ratio(SCRIPT_POSTGRES, POSTGRES, 'seconds', TURNS),
    },
    close: async () => (await place)?.close(),
  };
}

const serverCpuMs = (): number => cpuMs('postgres');
