// The deterministic simulation: a daemon with its scheduler, leases, pulls and pushes lives weeks on a simulated
// clock, in the weather of the seed: a service that fails in many ways, a network that loses requests and answers,
// deaths at any turn. One seed, one order of events. The sandbox's own state is the truth in the end.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { type Random, seededRandom } from '../../../src/sandbox/made-up/seeded-random.ts';
import { type Fault, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { sqlite } from '../../../src/warehouse/engines/sqlite/engine.ts';
import { type Fate, simulateIo } from './simulated-io.ts';
import { type BegunDaemon, beginDaemon } from './simulated-life.ts';
import { CALM, type Weather } from './simulated-network.ts';
import { type Verdict, verdictOf } from './simulation-verdict.ts';

const HOUR = 3_600_000;
const MOST_TRIES = 3;
/** A midnight in Brazil with working days around it. */
const START = Date.parse('2026-03-04T03:00:00.000Z');

export interface SimulationOptions {
  seed: number;
  /** Days in changing weather. */
  days: number;
  /** Days of fair weather after them, in which everything has to come right. */
  fairDays: number;
  /** Plans that the ERP drops every three hours at most. Default 2. */
  mostPlans?: number;
  /** Share of the loads of a slice at which the daemon dies while the weather is bad. Default: as at any other turn. */
  deadlyLoads?: number;
  /** Another time zone and start than the usual ones, so that its clocks change. The clock of the machine is also set. */
  clockChange?: { timezone: string; startAt: string };
}

export interface SimulationReport extends Verdict {
  seed: number;
  days: number;
  turns: number;
  deaths: number;
  /** Loads of a slice that a death kept from happening. */
  cutLoads: number;
  /** Answers that the service spoiled. */
  faults: number;
  /** Times that the clock of the machine was set. */
  clockSteps: number;
  /** In fair weather, by the ledger. */
  fairLogins: number;
  /** Of everything that happened, in order. */
  eventDigest: string;
}

const READ_FAULTS: readonly Fault['fault'][] = [
  '429',
  '500',
  '502',
  '503',
  'empty',
  'html',
  'truncated',
  'wrong-shape',
  'reset-before-commit',
  'reset-after-commit',
  'refused',
  'duplicate',
  'reordered',
  'expired-token',
];
const WRITE_FAULTS: readonly Fault[] = [
  { call: 'import-route-plan', fault: 'reset-after-commit' },
  { call: 'import-route-plan', fault: '500', after_commit: true },
  { call: 'import-route-plan', fault: '503' },
  { call: 'import-route-plan', fault: 'truncated' },
  { call: 'create-point-of-interest', fault: 'reset-after-commit' },
  { call: 'create-point-of-interest', fault: '502', after_commit: true },
];

export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { seed, days, fairDays, mostPlans = 2, deadlyLoads = 0, clockChange } = options;
  const startMs = clockChange === undefined ? START : Date.parse(clockChange.startAt);
  const dir = mkdtempSync(join(tmpdir(), 'roadbook-simulation-'));
  const hasOtherDays = clockChange !== undefined;
  const clock = createManualClock(startMs);
  const sandbox = await startSandbox({ clock, seed, vehicles: 3, importVisibleAfterMs: 60_000 });
  const chance = (name: string): Random => seededRandom('simulation', name, seed);
  /** How far the clock of the machine is ahead of the service's. */
  let aheadMs = 0;
  const io = simulateIo(clock, chance('turns'), () => aheadMs);
  const events = createHash('sha256');
  const note = (line: string): void => {
    events.update(`${clock.monotonic()} ${line}\n`);
    if (process.env.SIMULATION_LOG !== undefined) process.stderr.write(`${clock.monotonic()} ${line}\n`);
  };
  const [sky, fates, network, jitter] = ['sky', 'fates', 'network', 'jitter'].map(chance) as [
    Random,
    Random,
    Random,
    Random,
  ];
  let weather: Weather = CALM;
  let [turns, deaths, cutLoads, items, clockSteps] = [0, 0, 0, 0, 0];
  /** Share of turns at which the daemon dies. */
  let mortality = 0;
  let isFair = false;
  let daemon: BegunDaemon | undefined;

  const fate = (name: string): Fate => {
    turns++;
    note(name);
    const risk = name === 'load' && !isFair ? Math.max(mortality, deadlyLoads) : mortality;
    if (!fates.chance(risk)) return 'lives';
    if (!fates.chance(0.5)) return 'dies after';
    if (name === 'load') cutLoads++;
    return 'dies before';
  };
  const begin = (): Promise<BegunDaemon> =>
    beginDaemon({ dir, io, sandbox, network, jitter, note, weather: () => weather, timezone: clockChange?.timezone });

  async function pass(ms: number): Promise<void> {
    const until = clock.monotonic() + ms;
    while (clock.monotonic() < until) {
      daemon ??= await begin();
      const died = await io.pass(until - clock.monotonic(), fate);
      if (died === undefined) continue;
      deaths++;
      note('dead');
      await daemon.bury();
      daemon = undefined;
      // It may be back at once, or be away for hours.
      await clock.advance(fates.chance(0.7) ? fates.int(1_000, 60_000) : fates.int(60_000, 5 * HOUR));
    }
  }

  function changeWeather(): void {
    sandbox.clearFaults();
    weather = {
      isDown: sky.chance(0.1),
      lostThere: sky.pick([0, 0, 0.02, 0.1]),
      lostBack: sky.pick([0, 0, 0.02, 0.1]),
      delayMs: sky.pick([50, 200, 2_000, 10_000]),
    };
    mortality = sky.pick([0, 0, 0.002, 0.01]);
    for (const fault of [1, 2, 3].map(() => sky.pick(READ_FAULTS))) {
      if (sky.chance(0.7)) sandbox.addFault({ call: '*', fault, rate: sky.pick([0.02, 0.1, 0.3]) });
    }
    if (sky.chance(0.5)) sandbox.addFault({ ...sky.pick(WRITE_FAULTS), rate: 0.5 });
    if (clockChange !== undefined) setClock(sky.pick([-HOUR, -90_000, 90_000, HOUR]));
    note(`weather ${JSON.stringify(weather)}`);
  }

  function setClock(toMs: number): void {
    if (toMs !== aheadMs) clockSteps++;
    aheadMs = toMs;
    note(`clock ${toMs}`);
  }

  function drop(): void {
    const [plans, points] = [sky.int(0, mostPlans), sky.int(0, 1)];
    for (let n = 0; n < plans; n++) put('route_plans', planOf(items++, clock.now()));
    for (let n = 0; n < points; n++) put('points_of_interest', pointOf(items++));
  }

  function put(kind: string, item: { name: string; content: object }): void {
    mkdirSync(join(dir, kind), { recursive: true });
    writeFileSync(join(dir, kind, `${item.name}.json`), JSON.stringify(item.content));
  }

  /** The truth moves on while the last pulls read it, so a difference is compared again. */
  async function stableVerdict(): Promise<Verdict> {
    const engine = await sqlite.open({ file: join(dir, 'warehouse.db') });
    try {
      for (let tries = 1; ; tries++) {
        await daemon?.pullAll();
        await pass(HOUR / 4);
        const verdict = await verdictOf({ engine, sandbox, clock, items, startMs, hasOtherDays });
        if (verdict.wrong.length === 0 || tries === MOST_TRIES) return verdict;
      }
    } finally {
      await engine.close();
    }
  }

  try {
    for (let hour = 0; hour < days * 24; hour += 3) {
      if (hour % 6 === 0) changeWeather();
      drop();
      await pass(3 * HOUR);
    }
    sandbox.clearFaults();
    weather = CALM;
    mortality = 0;
    isFair = true;
    setClock(0);
    const loginsBefore = sandbox.ledger().logins;
    const faults = Object.values(sandbox.ledger().faults_injected).reduce((sum, count) => sum + count, 0);
    await pass(fairDays * 24 * HOUR);
    const verdict = await stableVerdict();
    const stopping = daemon?.stop();
    await io.pass(60_000, () => 'lives');
    await stopping;
    return {
      seed,
      days: days + fairDays,
      turns,
      deaths,
      cutLoads,
      faults,
      clockSteps,
      fairLogins: sandbox.ledger().logins - loginsBefore,
      eventDigest: events.digest('hex'),
      ...verdict,
    };
  } finally {
    await daemon?.bury();
    await sandbox.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const codeOf = (n: number): string => `T${String(n).padStart(4, '0')}`;

function planOf(n: number, nowMs: number) {
  const name = codeOf(n);
  const at = (hours: number): string => new Date(nowMs + hours * HOUR).toISOString();
  const stop = { name: 'Stop', latitude: -23.5, longitude: -46.6, external_code: `${name}-1` };
  return {
    name,
    content: {
      external_code: name,
      date_time_start: at(20),
      date_time_end: at(28),
      route_points: [stop],
      options: { optimize: false, geocoding: false },
    },
  };
}

const pointOf = (n: number) => ({
  name: codeOf(n),
  content: { title: codeOf(n), latitude: -23.5, longitude: -46.6, point_of_interest_category_id: 2 },
});
