// Any daemon shows all of them: a live one with its slices, a silent one as silent, a stopped one not at all.
import { afterEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { checkDaemons } from '../../../src/status/doctor/warehouse-checks.ts';
import { readConfigState, storeConfigState } from '../../../src/warehouse/control/config-state.ts';
import { writeFact } from '../../../src/warehouse/control/learned-facts.ts';
import {
  createHeartbeat,
  createSliceMeter,
  type HeartbeatDependencies,
} from '../../../src/warehouse/control/processes.ts';
import { thisProcess } from '../../../src/warehouse/control/this-process.ts';
import { heartbeatOn, leaseManagerOn, processElsewhere } from '../../support/daemons/lease-manager.ts';
import { readPrometheusText } from '../../support/status/prometheus-text.ts';
import { makeStatusPlace, type StatusPlace } from '../../support/status/status-place.ts';

let place: StatusPlace | undefined;
afterEach(async () => {
  await place?.close();
  place = undefined;
});

/** A daemon that has just started; with a clock of its own it stalls while the others go on. */
async function daemonOn({ rig }: StatusPlace, pid: number, other: Partial<HeartbeatDependencies> = {}) {
  const heartbeat = createHeartbeat({
    ...rig.dependencies,
    version: `1.${pid}`,
    slices: createSliceMeter(rig.clock),
    process: processElsewhere(`host-${pid}`, pid),
    ...other,
  });
  heartbeat.start();
  await heartbeat.runOnce();
  return heartbeat;
}

const shownDaemons = async (from: StatusPlace) => (await from.ask('GET', '/api/status')).json.daemons;

describe('the daemons in the status document', () => {
  it('have host, version, start, last heartbeat and slices a minute', async () => {
    place = await makeStatusPlace();
    const slices = createSliceMeter(place.rig.clock);
    place.rig.dependencies.onSlice = slices.count;
    const { slices: loaded } = await place.rig.run('pull-vehicles');
    const one = await daemonOn(place, 1, { slices });
    await place.rig.clock.advance(30_000);
    await one.runOnce();
    await daemonOn(place, 2);
    expect(loaded).toBeGreaterThan(0);
    const [stored] = await place.rig.engine.read((sql) => sql('sync_daemon').where({ pid: 1 }));
    expect(stored).toMatchObject({ kind: 'daemon', slices_done: loaded });
    expect(await shownDaemons(place)).toEqual([
      {
        host: 'host-1',
        pid: 1,
        version: '1.1',
        started_at: '2026-03-10T15:00:00.000Z',
        heartbeat_at: '2026-03-10T15:00:30.000Z',
        state: 'alive',
        slices_per_minute: loaded,
      },
      expect.objectContaining({ host: 'host-2', state: 'alive', slices_per_minute: 0 }),
    ]);
    await place.rig.clock.advance(30_000);
    await one.runOnce();
    const [later] = await shownDaemons(place);
    expect(later).toMatchObject({ slices_per_minute: 0, started_at: '2026-03-10T15:00:00.000Z' });
  });

  it('show a silent daemon as silent, not with its last figures, until another has started, for ten minutes at least', async () => {
    place = await makeStatusPlace();
    const { engine, clock, dependencies } = place.rig;
    const slices = createSliceMeter(clock);
    slices.count();
    const dead = await daemonOn(place, 1, { slices, clock: createManualClock(clock.now()) });
    const live = await daemonOn(place, 2);
    const observer = leaseManagerOn(engine, { clock, log: dependencies.log });
    for (let second = 1; second <= 22; second++) {
      await clock.advance(1_000);
      await live.runOnce();
      await observer.freeDead();
      if (second === 20) expect(await shownDaemons(place)).toMatchObject([{ state: 'alive' }, { state: 'alive' }]);
    }
    expect(await shownDaemons(place)).toEqual([
      expect.objectContaining({ host: 'host-1', state: 'silent', slices_per_minute: null }),
      expect.objectContaining({ host: 'host-2', state: 'alive' }),
    ]);
    await clock.advance(570_000);
    const replacement = await daemonOn(place, 3);
    expect(await shownDaemons(place)).toHaveLength(3);
    await clock.advance(30_000);
    await live.runOnce();
    await replacement.runOnce();
    expect(await shownDaemons(place)).toMatchObject([{ host: 'host-2' }, { host: 'host-3' }]);
    // It was only suspended: it is shown again, with its original start.
    await dead.runOnce();
    const [back] = await shownDaemons(place);
    expect(back).toMatchObject({ host: 'host-1', started_at: '2026-03-10T15:00:00.000Z' });
  });

  it('keep a dead daemon that no other has replaced for a day', async () => {
    place = await makeStatusPlace();
    const { engine, clock, dependencies } = place.rig;
    const live = await daemonOn(place, 2);
    await clock.advance(1_000);
    await daemonOn(place, 1, { clock: createManualClock(clock.now()) });
    const observer = leaseManagerOn(engine, { clock, log: dependencies.log });
    const pass = async (seconds: number) => {
      await clock.advance(seconds * 1_000);
      await live.runOnce();
      await observer.freeDead();
    };
    for (let second = 0; second < 22; second++) await pass(1);
    await pass(86_300);
    expect(await shownDaemons(place)).toMatchObject([{ state: 'alive' }, { host: 'host-1', state: 'silent' }]);
    await pass(100);
    expect(await shownDaemons(place)).toMatchObject([{ host: 'host-2' }]);
  });

  it('keep a live daemon whose heartbeat seems old because the clock was set', async () => {
    place = await makeStatusPlace();
    const { clock } = place.rig;
    await daemonOn(place, 1, { clock: createManualClock(clock.now()) });
    clock.set(3_600_000);
    await daemonOn(place, 2);
    expect(await shownDaemons(place)).toHaveLength(2);
  });

  it('leave on a clean stop, and send heartbeats by themselves until then', async () => {
    place = await makeStatusPlace();
    const heartbeat = heartbeatOn(place.rig.engine, place.rig.dependencies);
    heartbeat.start();
    await expect.poll(() => shownDaemons(place as StatusPlace)).toHaveLength(1);
    await heartbeat.stop();
    expect(await shownDaemons(place)).toEqual([]);
  });

  it('make the health failing and doctor warn once none of them is alive, also while a command works', async () => {
    place = await makeStatusPlace();
    const { engine, clock } = place.rig;
    const health = async () => (await (place as StatusPlace).ask('GET', '/api/status')).json.health;
    expect(await health()).toBe('warning');
    expect(await checkDaemons(engine, clock)).toMatchObject({ state: 'ok', found: 'no daemon has run here yet' });
    await storeConfigState(engine, { loadedAt: '', rejected: null, jobs: [] }, clock.now());
    const daemon = await daemonOn(place, 1, { clock: createManualClock(clock.now()) });
    expect(await health()).toBe('warning');
    expect(await checkDaemons(engine, clock)).toEqual({
      state: 'ok',
      found: 'process 1 on host-1; no run is under way',
      hint: null,
    });
    const command = leaseManagerOn(engine, { ...place.rig.dependencies, process: processElsewhere('host-2') });
    await command.take('pull-events');
    expect(await checkDaemons(engine, clock)).toMatchObject({
      state: 'ok',
      found: 'process 1 on host-1, process 7 on host-2; under way: pull-events',
    });
    await clock.advance(21_000);
    expect(await health()).toBe('failing');
    expect(await checkDaemons(engine, clock)).toMatchObject({
      state: 'warn',
      found: expect.stringMatching(/^no daemon is alive.*process 1 on host-1 made its last heartbeat 21s ago$/),
    });
    await daemon.stop();
    expect(await health()).toBe('failing');
  });

  it('each keep the edit that they rejected, whatever the others load, until they end', async () => {
    place = await makeStatusPlace();
    const { engine, clock } = place.rig;
    const other = await daemonOn(place, 1);
    await daemonOn(place, 2, { process: thisProcess });
    const edit = { at: '', error: 'needs a restart', digest: 'x' };
    const ofOther = { ...edit, digest: 'y' };
    const stored = { loaded_at: '', rejected: { [processElsewhere('host-1', 1).holder]: ofOther }, schedules: {} };
    await engine.write((tx) => writeFact(tx, 'config', stored, clock.now()));
    const rejectedAfter = async (rejected: typeof edit | null) => {
      await storeConfigState(engine, { loadedAt: '', rejected, jobs: [] }, clock.now());
      return (await readConfigState(engine))?.rejected;
    };
    expect(await rejectedAfter(edit)).toEqual([ofOther, edit]);
    expect(await rejectedAfter(null)).toEqual([ofOther]);
    await other.stop();
    expect((await readConfigState(engine))?.rejected).toEqual([]);
  });

  it('do not include commands', async () => {
    place = await makeStatusPlace();
    const held = await leaseManagerOn(place.rig.engine, place.rig.dependencies).take('pull-events');
    expect(await place.rig.rows('select kind from sync_daemon')).toEqual([{ kind: 'command' }]);
    expect(await shownDaemons(place)).toEqual([]);
    if (!('heldBy' in held)) await held.release();
  });

  it('are in the overview and in the metrics, with the queue if there is one', async () => {
    place = await makeStatusPlace({ queue: { waiting: 7, active: 2, dead: 1 } });
    await daemonOn(place, 1, { clock: createManualClock(place.rig.clock.now()) });
    await place.rig.clock.advance(21_000);
    await daemonOn(place, 2);
    const { json } = await place.ask('GET', '/api/overview');
    expect(json.daemons).toHaveLength(2);
    expect(json.queue).toEqual({ waiting: 7, active: 2, dead: 1 });
    const families = readPrometheusText((await place.ask('GET', '/metrics')).text);
    const samples = (name: string) =>
      families.get(`roadbook_${name}`)?.samples.map(({ labels, value }) => [labels, value]);
    expect(samples('daemons_alive')).toEqual([[{}, 1]]);
    expect(samples('daemon_info')).toContainEqual([{ daemon: 'host-2:2', host: 'host-2', version: '1.2' }, 1]);
    expect(samples('daemon_alive')).toEqual([
      [{ daemon: 'host-1:1' }, 0],
      [{ daemon: 'host-2:2' }, 1],
    ]);
    expect(samples('daemon_slices_per_minute')).toEqual([[{ daemon: 'host-2:2' }, 0]]);
    expect(samples('daemon_heartbeat_timestamp_seconds')).toHaveLength(2);
    expect(samples('daemon_started_timestamp_seconds')).toHaveLength(2);
    for (const [name, value] of Object.entries(json.queue)) expect(samples(`queue_${name}`)).toEqual([[{}, value]]);
  });

  it('show no queue if there is none', async () => {
    place = await makeStatusPlace();
    expect((await place.ask('GET', '/api/status')).json).not.toHaveProperty('queue');
    const families = readPrometheusText((await place.ask('GET', '/metrics')).text);
    expect(families.get('roadbook_queue_waiting')?.samples).toEqual([]);
  });
});
