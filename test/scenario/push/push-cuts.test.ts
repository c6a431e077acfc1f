// A push that is interrupted: a stop in the middle of a send, a process that died, an ERP that changes an item while
// its outcome is unknown.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isChangedAfterPush } from '../../../src/warehouse/outbox/entry.ts';
import { HOUR_MS } from '../../support/push/push-faults.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan, plans, pointOfInterest } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const CALL = 'import-route-plan' as const;
const LATER = { date_time_end: '2025-03-13T20:00:00-03:00' };

it('leaves no entry in sending when it is stopped, and sends nothing twice afterwards', async () => {
  const place = await makePushPlace();
  place.sandbox.addFault({ call: CALL, fault: 'hang', after_commit: true, skip: 2, times: 4 });
  place.drop('route_plans', 'a.json', plans(80));
  const stop = new AbortController();
  const run = place.run(JOB, {}, stop.signal);
  while ((place.sandbox.ledger().faults_injected.hang ?? 0) < 4) await nextTurn();
  stop.abort();
  expect(await run).toMatchObject({ error: { code: 'stopped' } });
  const states = new Set((await place.outbox()).map(({ state }) => state));
  expect(states).toEqual(new Set(['confirmed', 'unknown', 'ready']));
  await place.runs(JOB, 3);
  expect(Object.values(place.sandbox.ledger().plans)).toEqual(Array(80).fill(1));
});

it('reads back the entries that a dead process left in sending, whether they had arrived or not', async () => {
  const place = await makePushPlace();
  place.dependencies.concurrency = 1;
  place.drop('route_plans', 'a.json', [plan('ARRIVED'), plan('NEVER')]);
  place.sandbox.addFault({ call: CALL, fault: '403', skip: 1 });
  await place.run(JOB);
  place.sandbox.clearFaults();
  await place.engine.write(async ({ sql }) => {
    for (const code of ['ARRIVED', 'NEVER']) {
      const { options, ...data } = plan(code);
      const sending = { state: 'sending', remote_id: null, payload: JSON.stringify({ data, options }) };
      await sql('push_outbox').where({ external_code: code }).update(sending);
    }
  });
  const states = async () => (await place.outbox()).map(({ state }) => state);
  await place.run(JOB);
  expect(await states()).toEqual(['confirmed', 'unknown']);
  expect(await place.story('NEVER')).toContainEqual(
    expect.objectContaining({
      what: 'create',
      outcome: 'unclear',
      message: expect.stringContaining('ended'),
    }),
  );
  await place.clock.advance(HOUR_MS);
  await place.run(JOB);
  expect(await states()).toEqual(['confirmed', 'confirmed']);
  expect(place.sandbox.ledger().plans).toEqual({ ARRIVED: 1, NEVER: 1 });
});

it('repeats the change that a dead process left in sending', async () => {
  const place = await makePushPlace();
  const job = 'push-points-of-interest';
  place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { phone: '1' }));
  await place.run(job);
  place.sandbox.addFault({ call: 'change-point-of-interest', fault: '403', times: 1 });
  place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { phone: '2' }));
  await place.run(job);
  await place.engine.write(({ sql }) => sql('push_outbox').update({ state: 'sending' }));
  await place.runs(job, 2);
  expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  expect(await place.entry('Shop')).toMatchObject({ state: 'confirmed', unclear_sends: 0 });
});

it.each([
  ['after', 'flagged where the older one had arrived', true],
  ['before', 'sent where the older one had not arrived', false],
] as const)(
  'keeps newer content until the outcome is known: lost %s the commit, it is %s',
  async (when, _, isFlagged) => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: `reset-${when}-commit`, times: 1 });
    place.sandbox.addFault({ call: 'route-plans', fault: '400', skip: 1, times: 3 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', LATER));
    await place.runs(JOB, 4);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
    const entry = await place.entry('P1');
    expect(entry.state).toBe('confirmed');
    expect(isChangedAfterPush(entry)).toBe(isFlagged);
    const answer = await fetch(`${place.sandbox.url}/_sandbox/truth/route_plans?from=2025-03-13&to=2025-03-14`);
    expect(await answer.json()).toContainEqual(
      expect.objectContaining({
        external_code: 'P1',
        date_time_end: `2025-03-13T${isFlagged ? '21' : '23'}:00:00Z`,
      }),
    );
  },
);

it('acknowledges an item again if the acknowledgement was sent but not stored', async () => {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run(JOB);
  await place.engine.write(({ sql }) => sql('push_outbox').update({ told_at: null }));
  await place.run(JOB);
  expect((await place.entry('P1')).told_at).not.toBeNull();
  place.drop('route_plans', 'b.json', plan('P1'));
  await place.run(JOB);
  expect(readdirSync(join(place.folder('route_plans'), 'done'))).toContain('b.json');
});

describe('what the warehouse could not store', () => {
  async function rejectingPlace(when: string) {
    const place = await makePushPlace();
    const raw = (statement: string) => place.engine.write(({ sql }) => sql.raw(statement));
    await raw(`create trigger full before ${when} begin select raise(abort, 'full'); end`);
    return { ...place, accept: () => raw('drop trigger full') };
  }

  it('of an offer is not counted', async () => {
    const place = await rejectingPlace("insert on sync_state when new.name like 'taken file%'");
    place.drop('route_plans', 'a.json', [plan('P1'), plan('BAD', { route_points: [] })]);
    expect(await place.run(JOB)).toMatchObject({ status: 'failed', records: 0, inserted: 0, rejected: 0 });
    await place.accept();
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', inserted: 2, rejected: 1, confirmed: 1 });
  });

  it('of a send is counted once, when it is stored', async () => {
    const isSecondBatch = "new.state = 'sending' and exists (select 1 from push_outbox where state = 'confirmed')";
    const place = await rejectingPlace(`update on push_outbox when ${isSecondBatch}`);
    place.drop('route_plans', 'a.json', plans(257));
    expect(await place.run(JOB)).toMatchObject({ status: 'failed', sent: 256, confirmed: 256 });
    await place.accept();
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
  });
});
