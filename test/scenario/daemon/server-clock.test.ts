// The clock of a machine against that of the database server: doctor and the daemon's log, once, warn if they differ.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { checkServerClock } from '../../../src/status/doctor/warehouse-checks.ts';
import { daemonStatuses } from '../../../src/status/health/daemon-status.ts';
import { isApart, measureGap } from '../../../src/warehouse/control/server-clock.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { heartbeatOn } from '../../support/daemons/lease-manager.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { type EnginePlace, makePlace } from '../../support/warehouse/engines.ts';

const HOUR_MS = 3_600_000;

/** The server is on this machine, so the true clock agrees with it. */
const clockOff = (byMs: () => number): Clock => ({ ...systemClock, now: () => Date.now() + byMs() });

describe('on PostgreSQL', () => {
  let place: EnginePlace;
  let engine: Engine;
  beforeAll(async () => {
    place = await makePlace('postgres');
    engine = await place.open();
    await bringSchemaUpToDate(engine);
  });
  afterAll(async () => {
    await engine.close();
    await place.remove();
    await stopPostgres();
  });

  it('doctor warns about a machine that is ahead or behind, with figures and a hint, and about no other', async () => {
    const check = (byMs: number) =>
      checkServerClock(
        engine,
        clockOff(() => byMs),
      );
    expect(await check(0)).toMatchObject({ state: 'ok', found: expect.stringContaining('database server') });
    const hint = expect.stringContaining('chrony');
    // With the extra 30 s, the time of the answer cannot change the figure.
    const ahead = expect.stringMatching(/^1h 30m ahead of the database server, which answered in \d/);
    expect(await check(1.5 * HOUR_MS + 30_000)).toMatchObject({ state: 'warn', found: ahead, hint });
    const behind = expect.stringMatching(/^1h 30m behind the database server, which answered in \d/);
    expect(await check(-1.5 * HOUR_MS - 30_000)).toMatchObject({ state: 'warn', found: behind, hint });
  });

  it('a daemon reports it with its first heartbeat, and again only after the clock was right', async () => {
    let byMs = HOUR_MS;
    const clock = clockOff(() => byMs);
    const lines: string[] = [];
    const log = createLog({
      level: 'info',
      redactor: createRedactor(),
      write: (line) => lines.push(line),
    });
    const heartbeat = heartbeatOn(engine, { clock, log });
    await heartbeat.runOnce();
    await heartbeat.runOnce();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'warn',
        code: 'clock_apart',
        hint: expect.stringContaining('chrony'),
        msg: expect.stringContaining('ahead of the database server'),
      }),
    ]);
    const { ahead_ms } = JSON.parse(lines[0] ?? '');
    expect(Math.abs(ahead_ms - HOUR_MS)).toBeLessThan(60_000);
    byMs = 0;
    await heartbeat.runOnce();
    expect(lines).toHaveLength(1);
    byMs = -HOUR_MS;
    await heartbeat.runOnce();
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? '').ahead_ms).toBeLessThan(0);
    await heartbeat.stop();
  });

  it('a daemon is shown as alive whatever its clock and the clock of the reader say', async () => {
    const wrong = createManualClock(Date.parse('2020-01-01T00:00:00.000Z'));
    const reader = createManualClock(Date.parse('2099-01-01T00:00:00.000Z'));
    const heartbeat = heartbeatOn(engine, {
      log: createLog({ level: 'silent', redactor: createRedactor() }),
      clock: wrong,
    });
    heartbeat.start();
    await heartbeat.runOnce();
    expect(await daemonStatuses(engine, reader)).toMatchObject([{ state: 'alive', version: '1.2.3' }]);
    await heartbeat.stop();
    expect(await daemonStatuses(engine, reader)).toEqual([]);
  });
});

it('a file has only the clock of the machine, so there is no warning', async () => {
  const place = await makePlace('sqlite');
  const engine = await place.open();
  expect(
    await checkServerClock(
      engine,
      clockOff(() => HOUR_MS),
    ),
  ).toMatchObject({
    state: 'ok',
    found: expect.stringContaining('this machine'),
  });
  await engine.close();
  await place.remove();
});

it.each([
  { aheadMs: 2_000, roundTripMs: 0, apart: false },
  { aheadMs: 2_001, roundTripMs: 0, apart: true },
  { aheadMs: -2_001, roundTripMs: 0, apart: true },
  { aheadMs: 5_000, roundTripMs: 3_000, apart: false },
  { aheadMs: -5_001, roundTripMs: 3_000, apart: true },
])('$aheadMs ms apart by an answer of $roundTripMs ms: apart $apart', async ({ aheadMs, roundTripMs, apart }) => {
  const serverAt = Date.parse('2026-03-10T15:00:00.000Z');
  const clock = createManualClock(serverAt + aheadMs);
  // The server reads its clock half-way.
  const gap = await measureGap(clock, async () => {
    await clock.advance(roundTripMs / 2);
    const read = clock.now() - aheadMs;
    // Setting the clock meanwhile does not lengthen the measured round trip.
    clock.set(60_000);
    await clock.advance(roundTripMs / 2);
    return read;
  });
  expect(gap).toEqual({ serverMs: serverAt + roundTripMs / 2, aheadMs, roundTripMs });
  expect(isApart(gap)).toBe(apart);
});
