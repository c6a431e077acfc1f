// What a push does when it is cut, doubled or overtaken: two runs at once, a stop in the middle of a send, a
// process that died, an ERP that changes its mind while nobody knows the outcome.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makePushPlace } from '../support/push-place.ts';
import { plan, plans } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const HOUR_MS = 3_600_000;

describe('a push', () => {
  it('sends everything once when two runs work at the same time', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plans(40));
    const summaries = await Promise.all([place.run(JOB), place.run(JOB)]);
    await place.run(JOB);
    expect(summaries.map(({ status }) => status)).toEqual(['ok', 'ok']);
    const counts = Object.values(place.sandbox.ledger().plans);
    expect(counts).toEqual(Array(40).fill(1));
    expect(
      (await place.outbox()).every(({ state, told_at }) => state === 'confirmed' && told_at !== null),
    ).toBe(true);
  });

  it('leaves nothing in sending when it is stopped, and sends nothing twice afterwards', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({
      call: 'import-route-plan',
      fault: 'hang',
      after_commit: true,
      skip: 2,
      times: 4,
    });
    place.drop('route_plans', 'a.json', plans(12));
    const stop = new AbortController();
    const run = place.run(JOB, {}, stop.signal);
    while ((place.sandbox.ledger().faults_injected.hang ?? 0) < 4) await nextTurn();
    stop.abort();
    expect(await run).toMatchObject({ error: { code: 'stopped' } });
    const states = (await place.outbox()).map(({ state }) => state);
    expect(states).not.toContain('sending');
    expect(states.filter((state) => state === 'unknown').length).toBeGreaterThan(0);
    await place.run(JOB);
    expect(Object.values(place.sandbox.ledger().plans)).toEqual(Array(12).fill(1));
  });

  it('reads back what a dead process left in sending, whether it had arrived or not', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('ARRIVED'), plan('NEVER')]);
    place.sandbox.addFault({ call: 'import-route-plan', fault: '403', skip: 1 });
    place.parts.concurrency = 1;
    await place.run(JOB);
    place.sandbox.clearFaults();
    const dead = { state: 'sending', owner_run_id: 'of a dead process', remote_id: null };
    await place.engine.write(async ({ sql }) => {
      for (const code of ['ARRIVED', 'NEVER']) {
        const { options, ...data } = plan(code);
        await sql('push_outbox')
          .where({ external_code: code })
          .update({ ...dead, payload: JSON.stringify({ data, options }) });
      }
    });
    await place.run(JOB);
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'unknown']);
    await place.clock.advance(HOUR_MS);
    await place.run(JOB);
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
    expect(place.sandbox.ledger().plans).toEqual({ ARRIVED: 1, NEVER: 1 });
  });

  it('leaves an entry alone that a living run is sending', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'hang', after_commit: true, times: 1 });
    const stop = new AbortController();
    const first = place.run(JOB, {}, stop.signal);
    while ((place.sandbox.ledger().faults_injected.hang ?? 0) < 1) await nextTurn();
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unknown: 0 });
    expect((await place.outbox())[0]?.state).toBe('sending');
    stop.abort();
    await first;
    expect((await place.outbox())[0]?.state).toBe('unknown');
  });

  it('keeps a newer content for when it knows the outcome: flagged where the older one had arrived', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1, times: 3 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { date_time_end: '2025-03-13T20:00:00-03:00' }));
    for (let runs = 0; runs < 3; runs++) {
      await place.run(JOB);
      await place.clock.advance(HOUR_MS);
    }
    expect((await place.outbox())[0]).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('keeps a newer content for when it knows the outcome: sent where the older one had not arrived', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { date_time_end: '2025-03-13T20:00:00-03:00' }));
    for (let runs = 0; runs < 3; runs++) {
      await place.run(JOB);
      await place.clock.advance(HOUR_MS);
    }
    expect((await place.outbox())[0]).toMatchObject({ state: 'confirmed', changed_after_push: 0 });
    const [shown] = await (
      await fetch(`${place.sandbox.url}/_sandbox/truth/route_plans?from=2025-03-13&to=2025-03-14`)
    )
      .json()
      .then((all) =>
        (all as Record<string, unknown>[]).filter(({ external_code }) => external_code === 'P1'),
      );
    expect(shown?.date_time_end).toBe('2025-03-13T23:00:00Z');
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('tells the ERP again what it was told but not noted', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').update({ told_at: null }));
    await place.run(JOB);
    expect((await place.outbox())[0]?.told_at).not.toBeNull();
    place.drop('route_plans', 'b.json', plan('P1'));
    await place.run(JOB);
    expect(readdirSync(join(place.folder('route_plans'), 'done'))).toContain('b.json');
  });

  it('waits for what it could not send, longer each time, and goes on when the service is back', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plans(3));
    place.sandbox.addFault({ call: 'import-route-plan', fault: '403', times: 1 });
    const { error } = await place.run(JOB);
    expect(error).toMatchObject({ code: 'forbidden' });
    expect((await place.outbox()).filter(({ next_attempt_at }) => next_attempt_at !== null)).toHaveLength(1);
    await place.clock.advance(HOUR_MS);
    await place.run(JOB);
    expect(Object.values(place.sandbox.ledger().plans)).toEqual([1, 1, 1]);
  });

  it('sends nothing again where the search does not show what the service has confirmed', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 1_000 * HOUR_MS } });
    place.drop('route_plans', 'a.json', plan('SHOWN-NEVER'));
    await place.run(JOB);
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'b.json', plan('LOST'));
    for (let runs = 0; runs < 5; runs++) {
      await place.run(JOB);
      await place.clock.advance(HOUR_MS);
    }
    expect((await place.run(JOB)).error).toMatchObject({ code: 'search_blind' });
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['unknown', 'confirmed']);
    expect(place.sandbox.ledger().plans).toEqual({ 'SHOWN-NEVER': 1, LOST: 1 });
  });
});
