// The scheduler on a moved clock: ticks, catch-up, edits, actions, and clocks that are set.
import { describe, expect, it } from 'vitest';
import { jitterOf } from '../../../src/schedule/due.ts';
import type { ScheduledJob } from '../../../src/schedule/scheduler.ts';
import { type SimulatedDaemon, simulateDaemon } from '../../support/simulation/simulated-daemon.ts';

const at = (text: string): number => Date.parse(text);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const NOON = at('2026-05-04T12:00:00Z');

const TEN_MINUTES: ScheduledJob = { name: 'often', cron: '*/10 * * * *', timezone: 'UTC' };
const DAILY: ScheduledJob = { name: 'daily', cron: '30 6 * * *', timezone: 'UTC' };

const ticks = ({ runs }: SimulatedDaemon): string[] =>
  runs.map(({ tickAt }) => (tickAt === undefined ? 'request' : new Date(tickAt).toISOString().slice(11, 16)));

describe('the scheduler', () => {
  it('starts a job shortly after its tick, always by the same delay, and names the planned instant', async () => {
    const daemon = simulateDaemon({ startAt: NOON + 1, jobs: [TEN_MINUTES], lastMs: NOON });
    await daemon.clock.advance(20 * MINUTE);
    const waits = daemon.runs.map(({ startedMs, tickAt = 0 }) => startedMs - tickAt);
    expect(ticks(daemon)).toEqual(['12:10', '12:20'].slice(0, daemon.runs.length));
    expect(new Set(waits)).toEqual(new Set([jitterOf('often', 10 * MINUTE)]));
    expect(daemon.runs.map(({ cause }) => cause)).toContain('schedule');
  });

  it('waits at most ten seconds and a fiftieth of the period, differently for each job', () => {
    const names = Array.from({ length: 50 }, (_, index) => `pull-${index}`);
    const waits = names.map((name) => jitterOf(name, DAY));
    expect(Math.max(...waits)).toBeLessThan(10_000);
    expect(new Set(waits).size).toBeGreaterThan(45);
    expect(Math.max(...names.map((name) => jitterOf(name, 1_000)))).toBeLessThan(20);
  });

  it('catches up once after a downtime, however many ticks were missed', async () => {
    const daemon = simulateDaemon({ startAt: NOON, jobs: [TEN_MINUTES], lastMs: NOON - 3 * DAY });
    await daemon.clock.advance(15 * MINUTE);
    expect(daemon.runs.map(({ cause }) => cause)).toEqual(['catch-up', 'schedule']);
  });

  it('never overlaps a job with itself, and catches up once after a long run', async () => {
    let running = 0;
    let most = 0;
    const daemon = simulateDaemon({
      startAt: NOON,
      jobs: [TEN_MINUTES],
      lastMs: NOON,
      async work(_job, clock) {
        most = Math.max(most, ++running);
        await clock.sleep(45 * MINUTE);
        running--;
      },
    });
    await daemon.clock.advance(2 * HOUR);
    expect(most).toBe(1);
    expect(ticks(daemon)).toEqual(['12:10', '12:20', '13:00']);
  });

  it('retries after half a minute where a run could not be opened', async () => {
    let failures = 0;
    const daemon = simulateDaemon({
      startAt: NOON,
      jobs: [DAILY],
      open() {
        if (failures++ < 3) throw new Error('warehouse is away');
      },
    });
    await daemon.clock.advance(HOUR);
    expect(failures).toBe(4);
    expect(daemon.runs).toMatchObject([{ elapsedMs: 90_000, cause: 'catch-up' }]);
  });
});

describe('a changed set of jobs', () => {
  it('starts new jobs and stops removed ones', async () => {
    const daemon = simulateDaemon({ startAt: NOON, jobs: [TEN_MINUTES], lastMs: NOON });
    daemon.scheduler.update([{ ...TEN_MINUTES, name: 'new' }]);
    await daemon.clock.advance(25 * MINUTE);
    expect(daemon.runs.map(({ job, cause }) => `${job} ${cause}`)).toEqual([
      'new catch-up',
      'new schedule',
      'new schedule',
    ]);
  });

  it('lets a running job finish although it is removed', async () => {
    let finished = 0;
    const daemon = simulateDaemon({
      startAt: NOON,
      jobs: [TEN_MINUTES],
      async work(_job, clock) {
        await clock.sleep(MINUTE);
        finished++;
      },
    });
    await daemon.clock.advance(1_000);
    daemon.scheduler.update([]);
    await daemon.clock.advance(HOUR);
    expect([daemon.runs.length, finished]).toEqual([1, 1]);
  });

  it('keeps a tick that was due, and uses ticks of the new schedule only from the edit on', async () => {
    const daemon = simulateDaemon({ startAt: NOON, jobs: [DAILY], lastMs: at('2026-05-04T06:30:01Z') });
    await daemon.clock.advance(HOUR);
    // 10:00 has passed today, but it was no tick at that time.
    daemon.scheduler.update([{ ...DAILY, cron: '0 10,15 * * *' }]);
    await daemon.clock.advance(3 * HOUR);
    expect(ticks(daemon)).toEqual(['15:00']);
  });

  it('neither loses nor doubles a tick by many edits around it', async () => {
    const daemon = simulateDaemon({ startAt: NOON, jobs: [TEN_MINUTES], lastMs: NOON });
    for (let second = 0; second < 3_600; second += 7) {
      await daemon.clock.advance(7_000);
      const cron = second % 2 === 0 ? '*/10 * * * *' : '0,10,20,30,40,50 * * * *';
      daemon.scheduler.update([{ ...TEN_MINUTES, cron }]);
    }
    await daemon.clock.advance(MINUTE);
    expect(ticks(daemon)).toEqual(['12:10', '12:20', '12:30', '12:40', '12:50', '13:00']);
  });
});

describe('actions', () => {
  const PAUSED = { paused: true, pausedAt: null, runRequestedAt: null };

  it('a paused job misses its ticks and is caught up once when it is resumed', async () => {
    const daemon = simulateDaemon({ startAt: NOON, jobs: [TEN_MINUTES], lastMs: NOON });
    daemon.controls.set('often', PAUSED);
    await daemon.watchOnce();
    await daemon.clock.advance(5 * HOUR);
    expect(daemon.runs).toEqual([]);
    daemon.controls.delete('often');
    await daemon.watchOnce();
    await daemon.clock.advance(5 * MINUTE);
    expect(daemon.runs.map(({ cause }) => cause)).toEqual(['catch-up']);
  });

  it('a requested run starts at once, also of a paused job, and does not affect the ticks', async () => {
    const daemon = simulateDaemon({ startAt: NOON, jobs: [TEN_MINUTES], lastMs: NOON });
    daemon.controls.set('often', { ...PAUSED, runRequestedAt: 'now' });
    await daemon.watchOnce();
    await daemon.clock.advance(11 * MINUTE);
    expect(ticks(daemon)).toEqual(['request', '12:10']);
  });
});

describe('a clock that is set', () => {
  const JUMPS = { '+1 h': HOUR, '-1 h': -HOUR, '+1 day': DAY, '-1 day': -DAY, '8 h of suspend': 8 * HOUR };

  it.each(Object.entries(JUMPS))('by %s: one catch-up at most, no storm, no silence', async (_name, jumpMs) => {
    for (const [job, periodMs] of [
      [TEN_MINUTES, 10 * MINUTE],
      [DAILY, DAY],
    ] as const) {
      const daemon = simulateDaemon({ startAt: NOON, jobs: [job], lastMs: NOON - 60_000 });
      await daemon.clock.advance(2 * DAY + 3 * MINUTE);
      const before = daemon.runs.length;
      const setAt = daemon.clock.monotonic();
      daemon.clock.set(jumpMs);
      await daemon.watchOnce();
      await daemon.clock.advance(5 * DAY);
      const after = daemon.runs.slice(before);
      const catchUps = after.filter(({ cause }) => cause === 'catch-up');
      // Skipped ticks are caught up at once.
      if (jumpMs >= periodMs) expect(catchUps[0]?.elapsedMs, job.name).toBe(setAt);
      expect(catchUps.length, job.name).toBeLessThanOrEqual(1);
      expect(after.length, job.name).toBeLessThanOrEqual((5 * DAY) / periodMs + 2);
      const moments = [setAt - periodMs, ...after.map(({ elapsedMs }) => elapsedMs)];
      const silences = moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0));
      expect(Math.max(...silences), job.name).toBeLessThanOrEqual(periodMs * 2.5 + 15 * MINUTE);
      await daemon.stop();
    }
  });
});
