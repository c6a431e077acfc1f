// Rare cases in which push could break a promise: an answer that contradicts the actual outcome, a person who acts in
// between, a code or title that is used twice.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isoInstant } from '../../../src/core/time/clock.ts';
import { act, cancel } from '../../../src/sync/push/actions.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { HOUR_MS } from '../../support/push/push-faults.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS, itinerary, plan, plans, pointOfInterest } from '../../support/push/push-samples.ts';

afterAll(stopPostgres);

const JOB = 'push-route-plans';
const POINTS = 'push-points-of-interest';
const CALL = 'import-route-plan' as const;
const MINUTE = 60_000;
const LATER = { date_time_end: '2025-03-13T19:00:00-03:00' };
const on = (day: string) => ({
  date_time_start: `2025-03-${day}T08:00:00-03:00`,
  date_time_end: `2025-03-${day}T18:00:00-03:00`,
});

const week = (day: string) => ({
  date_time_start_estimated: `2025-03-${day}T08:00:00-03:00`,
  date_time_end_estimated: `2025-03-${Number(day) + 7}T18:00:00-03:00`,
});

describe('never twice', () => {
  it('a confirmed plan that a person cancelled is read back before it is sent again', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.runs(JOB, 1);
    await act(place.engine, await place.entry('P1'), cancel({ isForced: true }), place.now());
    place.drop('route_plans', 'b.json', plan('P1', LATER));
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('a plan whose answer was lost is not sent again if the service shows none of the plans it accepted since', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 10 * HOUR_MS } });
    place.drop('route_plans', 'a.json', plan('SHOWN-LATE'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: CALL, fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'b.json', plan('LOST'));
    await place.runs(JOB, 3);
    expect(place.sandbox.ledger().plans).toEqual({ 'SHOWN-LATE': 1, LOST: 1 });
  });

  it('a plan that was turned away after it was created is not sent for another day in addition', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: CALL, fault: '403', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1', on('13')));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', on('17')));
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('a plan that a status rejected after it was created is not sent before the service can have shown it', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE } });
    place.sandbox.addFault({ call: CALL, fault: '409', after_commit: true, times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', LATER));
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('a plan that a cut listing leaves out is searched in its own period, as after a lost outbox', async () => {
    const place = await makePushPlace({
      answering: async ({ pathname }, original, { method }) => {
        if (method !== 'GET' || pathname !== '/import/route_plan') return undefined;
        const { data } = (await original()) as { data?: unknown[] };
        return data && { body: { data: data.slice(0, 100) } };
      },
    });
    const minute = (n: number): string => isoInstant(Date.parse('2025-03-13T09:00:00Z') + n * MINUTE);
    const many = plans(120).map((each, n) => ({
      ...each,
      date_time_start: minute(5 * n),
      date_time_end: minute(5 * n + 3),
    }));
    place.drop('route_plans', 'a.json', many);
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.drop('route_plans', 'b.json', many);
    await place.run(JOB);
    expect(new Set(Object.values(place.sandbox.ledger().plans))).toEqual(new Set([1]));
  });
});

describe('never lost', () => {
  it('a point that was accepted without an identifier is not claimed by another code of the same title', async () => {
    const sandbox = { createdVisibleAfterMs: 2 * MINUTE, shapes: { created: 'empty' } } as never;
    const place = await makePushPlace({ sandbox });
    const shop = (external_code: string, phone: string) => pointOfInterest('Shop', { external_code, phone });
    place.drop('points_of_interest', 'a.json', [shop('Z', '2')]);
    await place.runs(POINTS, 1);
    place.drop('points_of_interest', 'b.json', [shop('C1', '1')]);
    await place.runs(POINTS, 2);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 2 });
    expect((await place.entry('C1')).remote_id).not.toBe((await place.entry('Z')).remote_id);
  });

  const twoUses = async (): Promise<PushPlace> => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('R7', on('13')));
    await place.run(JOB, { reuse_codes: true });
    place.drop('route_plans', 'b.json', plan('R7', on('14')));
    await place.run(JOB, { reuse_codes: true });
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
    return place;
  };

  it('a file is accepted although an earlier use of a code is offered again once codes are not reused', async () => {
    const place = await twoUses();
    place.drop('route_plans', 'c.json', [plan('R7', on('13')), plan('P2')]);
    await place.run(JOB);
    expect(place.sandbox.ledger().plans).toEqual({ R7: 2, P2: 1 });
  });

  it('an unknown use of a code stays unknown when it is offered again once codes are not reused', async () => {
    const place = await twoUses();
    await place.engine.write(({ sql }) =>
      sql('push_outbox').where({ code_use: 1 }).update({ state: 'unknown', unclear_sends: 1 }),
    );
    place.sandbox.addFault({ call: 'route-plans', fault: '503' });
    place.drop('route_plans', 'c.json', plan('R7', on('13')));
    await place.run(JOB);
    expect((await place.outbox())[0]).toMatchObject({ code_use: 1, state: 'unknown' });
  });

  it('a plan is accepted whose code was used before, after the first use has passed its retention', async () => {
    const place = await makePushPlace();
    for (const day of ['13', '14', '15']) {
      place.drop('route_plans', `${day}.json`, plan('R7', on(day)));
      await place.run(JOB, { reuse_codes: true, keep_confirmed: '36h' });
      await place.clock.advance(24 * HOUR_MS);
    }
    expect(place.sandbox.ledger().plans).toEqual({ R7: 3 });
  });

  it('newer content is not dropped when a file gives a code in two spellings', async () => {
    const place = await makePushPlace();
    const [cpf] = CPFS;
    place.sandbox.addFault({ call: 'drivers', fault: '503' });
    place.drop('agents', 'a.json', [agent(cpf, { external_code: cpf, name: 'Old' })]);
    await place.run('push-agents');
    const dotted = cpf.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
    place.drop('agents', 'b.json', [
      agent(cpf, { external_code: cpf, name: 'New' }),
      agent(cpf, { external_code: dotted, name: 'New' }),
    ]);
    await place.run('push-agents');
    const [entry] = await place.outbox();
    expect([entry?.state, entry?.payload?.includes('Old') ?? false]).toEqual(['rejected', false]);
  });
});

describe('never silent', () => {
  it('a change that never gets a clear answer makes the run partial', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { phone: '1' }));
    await place.runs(POINTS, 1);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: 'reset-before-commit' });
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { phone: '2' }));
    const statuses = new Set<string>();
    for (let hours = 0; hours < 8; hours++) {
      statuses.add((await place.run(POINTS)).status);
      await place.clock.advance(HOUR_MS);
    }
    expect(await place.entry('Shop')).toMatchObject({ state: 'ready' });
    expect([...statuses]).toContain('partial');
  });

  it('a point that exists twice stays an alarm until one is removed', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', '0.json', [
      pointOfInterest('Shop', { external_code: 'C1' }),
      pointOfInterest('Shop', { external_code: 'C2' }),
    ]);
    await place.run(POINTS);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { external_code: 'C1' }));
    expect(await place.run(POINTS)).toMatchObject({ status: 'partial', error: { code: 'found_twice' } });
    await place.clock.advance(HOUR_MS);
    expect(await place.run(POINTS)).toMatchObject({ status: 'partial', error: { code: 'found_twice' } });
  });

  it('an itinerary that exists twice stays an alarm after the ERP has changed it', async () => {
    const place = await makePushPlace();
    const job = 'push-itineraries';
    for (const file of ['a.json', 'b.json']) {
      place.drop('itineraries', file, [itinerary('I1')]);
      place.sandbox.addFault({ call: 'itineraries', fault: 'no-records' });
      await place.run(job);
      place.sandbox.clearFaults();
      await place.engine.write(({ sql }) => sql('push_outbox').delete());
    }
    place.drop('itineraries', 'c.json', [itinerary('I1')]);
    expect(await place.run(job)).toMatchObject({ status: 'partial', error: { code: 'found_twice' } });
    place.drop('itineraries', 'd.json', [itinerary('I1', { description: 'Other' })]);
    await place.run(job);
    await place.clock.advance(HOUR_MS);
    expect(await place.run(job)).toMatchObject({ status: 'partial', error: { code: 'found_twice' } });
  });
});

describe('a date in an implausible year', () => {
  it.each(['sqlite', 'postgres'] as const)(
    'is rejected and acknowledged, and holds up no other item (%s)',
    async (engine) => {
      const place = await makePushPlace({ engine });
      const endless = { date_time_end: '9999-12-31T23:59:59-03:00' };
      const yearZero = {
        date_time_start: '0001-01-01T00:00:00+03:00',
        date_time_end: '0001-01-02T00:00:00+03:00',
      };
      place.drop('route_plans', 'a.json', [plan('ENDLESS', endless), plan('ZERO', yearZero)]);
      place.drop('route_plans', 'b.json', plan('GOOD'));
      await place.run(JOB);
      const states = (await place.outbox()).map(({ external_code, state }) => [external_code, state]);
      expect(Object.fromEntries(states)).toEqual({
        ENDLESS: 'rejected',
        ZERO: 'rejected',
        GOOD: 'confirmed',
      });
      expect(existsSync(join(place.folder('route_plans'), 'failed', 'a.json.result.json'))).toBe(true);
    },
  );

  it('that an earlier version accepted neither exceeds the years of a search nor stops the others', async () => {
    const place = await makePushPlace();
    place.drop('itineraries', 'a.json', [itinerary('LONG', week('13')), itinerary('LONGER', week('14'))]);
    place.sandbox.addFault({ call: 'create-itinerary', fault: '403', times: 2 });
    await place.run('push-itineraries');
    await place.engine.write(({ sql }) =>
      sql('push_outbox').where({ external_code: 'LONGER' }).update({ period_end: '9999-12-31T12:00:00.000Z' }),
    );
    await place.runs('push-itineraries', 3);
    expect((await place.entry('LONG')).state).toBe('confirmed');
  });

  it('that an earlier version could not read is reported by every run', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    place.sandbox.addFault({ call: CALL, fault: '403', times: 1 });
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').update({ period_start: null, next_attempt_at: null }));
    expect((await place.run(JOB)).error).toMatchObject({ code: 'no_period' });
  });
});
