// Every write of the service against the sandbox over HTTP, in each shape of answer. A write whose outcome is unclear
// is not sent again.
import { describe, expect, it } from 'vitest';
import { Ambiguous, Fatal, Retriable, Skippable } from '../../../src/core/errors.ts';
import { changeItinerary } from '../../../src/fleet/endpoints/change-itinerary.ts';
import { changePointOfInterest } from '../../../src/fleet/endpoints/change-point-of-interest.ts';
import { createAgent } from '../../../src/fleet/endpoints/create-agent.ts';
import { createItinerary } from '../../../src/fleet/endpoints/create-itinerary.ts';
import { createPointOfInterest } from '../../../src/fleet/endpoints/create-point-of-interest.ts';
import { drivers } from '../../../src/fleet/endpoints/drivers.ts';
import { importRoutePlan } from '../../../src/fleet/endpoints/import-route-plan.ts';
import { itinerary } from '../../../src/fleet/endpoints/itinerary.ts';
import { pointsOfInterest } from '../../../src/fleet/endpoints/points-of-interest.ts';
import { routePlans } from '../../../src/fleet/endpoints/route-plans.ts';
import { serviceMessage } from '../../../src/fleet/transport/failures.ts';
import { failureOf, fitting, openBoth, openFleet } from '../../support/fleet/fleet-setup.ts';

const PLAN = {
  optimize: false,
  geocoding: false,
  data: {
    date_time_start: '2025-03-12T08:00:00-03:00',
    date_time_end: '2025-03-12T18:00:00-03:00',
    external_code: 'PLAN-1',
    route_points: [
      { name: 'Depot', type: 'PA', latitude: -23.5, longitude: -46.6, order: 1 },
      { name: 'Customer', type: 'Entrega', address: 'Rua Um, 1', external_code: 'NF-1', order: 2 },
    ],
  },
};
const POINT = { title: 'Depot', latitude: -23.5, longitude: -46.6 };

describe('writes', () => {
  it('import-route-plan: reports the routed points, and the plan exists', async () => {
    const { fleet, sandbox } = await openBoth();
    const answer = await fleet.call(importRoutePlan, PLAN);
    expect(answer).toMatchObject({
      routePoints: 2,
      wrongLines: [],
      wrongRoutePlans: [],
      unassignedPoints: [],
    });
    expect(sandbox.ledger().plans).toEqual({ 'PLAN-1': 1 });
    const found = await fitting(fleet, routePlans, {
      begin_date: PLAN.data.date_time_start,
      end_date: PLAN.data.date_time_end,
      route_plan_code: 'PLAN-1',
    });
    expect(found.map(({ external_code }) => external_code)).toEqual(['PLAN-1']);
  });

  it('import-route-plan: a plan that no vehicle can drive is returned as wrong', async () => {
    const { fleet, sandbox } = await openBoth();
    const answer = await fleet.call(importRoutePlan, {
      ...PLAN,
      data: { ...PLAN.data, vehicle_plate: 'ZZZ0000' },
    });
    expect(answer.wrongRoutePlans).toHaveLength(1);
    expect(sandbox.ledger().plans).toEqual({});
  });

  it.each(['object', 'data-object', 'id-only', 'empty'] as const)(
    'create-point-of-interest and change-point-of-interest: read the id from an answer of shape %s',
    async (created) => {
      const { fleet } = await openBoth({ shapes: { created } });
      const answer = await fleet.call(createPointOfInterest, {
        data: { ...POINT, point_of_interest_category_id: 7 },
      });
      const all = await fitting(fleet, pointsOfInterest, { point_of_interest_category_id: 7 });
      const id = all.find(({ title }) => title === 'Depot')?.id as number;
      expect(answer.id).toBe(created === 'empty' ? undefined : id);
      const data = { ...POINT, title: 'New depot', point_of_interest_category: { id: 8 } };
      expect((await fleet.call(changePointOfInterest, { id, data })).id).toBe(created === 'empty' ? undefined : id);
      const changed = await fitting(fleet, pointsOfInterest, { point_of_interest_category_id: 8 });
      expect(changed.find((point) => point.id === id)?.title).toBe('New depot');
    },
  );

  it.each(['data-object', 'id-only'] as const)(
    'create-itinerary and change-itinerary: use the id from an answer of shape %s',
    async (created) => {
      const { fleet } = await openBoth({ shapes: { created } });
      const { id } = await fleet.call(createItinerary, {
        data: {
          description: 'Round trip',
          external_id: 'IT-1',
          date_time_start_estimated: '2025-03-12T08:00:00Z',
          date_time_end_estimated: '2025-03-12T09:00:00Z',
          start_local: 'Here',
          end_local: 'There',
        },
      });
      await fleet.call(changeItinerary, { id: id as number, data: { description: 'One way' } });
      const [one] = await fitting(fleet, itinerary, { id: id as number });
      expect(one).toMatchObject({ id, description: 'One way', external_id: 'IT-1' });
    },
  );

  it('create-agent: the agent is listed', async () => {
    const { fleet } = await openBoth();
    const { id } = await fleet.call(createAgent, { data: { name: 'New Agent', cpf: '52998224725' } });
    const found = await fitting(fleet, drivers, { id });
    expect(found).toMatchObject([{ id, name: 'New Agent', is_deliveryman: true }]);
  });

  it.each([
    ['reset-before-commit', 0],
    ['reset-after-commit', 1],
    ['truncated', 1],
    ['html', 1],
    ['empty', 1],
    ['500', 0],
    ['503', 0],
  ] as const)('after %s the outcome is ambiguous and nothing is sent again', async (fault, accepted) => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'import-route-plan', fault });
    const failure = await failureOf(fleet.call(importRoutePlan, PLAN));
    expect(failure).toBeInstanceOf(Ambiguous);
    expect(failure.code).toBe('answer_unclear');
    expect(sandbox.ledger().requests['import-route-plan']).toBe(1);
    expect(sandbox.ledger().plans['PLAN-1'] ?? 0).toBe(accepted);
  });

  it('after a timeout or an abort in flight the outcome is ambiguous', async () => {
    const { fleet, sandbox } = await openBoth({}, { settings: { timeoutMs: 1_000 } });
    sandbox.addFault({ call: 'import-route-plan', fault: 'hang' });
    expect(await failureOf(fleet.call(importRoutePlan, PLAN))).toBeInstanceOf(Ambiguous);
    const stop = new AbortController();
    const onRequest = () => setImmediate(() => stop.abort());
    const failure = await failureOf(fleet.call(importRoutePlan, PLAN, { signal: stop.signal, onRequest }));
    expect(failure).toBeInstanceOf(Ambiguous);
  });

  it.each([
    ['401', Fatal, 'unauthorised'],
    ['403', Fatal, 'forbidden'],
    ['429', Retriable, 'throttled'],
    ['redirect', Ambiguous, 'answer_unclear'],
  ] as const)('%s may arrive after the write was done, so nothing is sent again', async (fault, kind, code) => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'import-route-plan', fault, after_commit: true, seconds: 0, times: 1 });
    const failure = await failureOf(fleet.call(importRoutePlan, PLAN));
    expect(failure).toBeInstanceOf(kind);
    expect(failure.code).toBe(code);
    expect(sandbox.ledger()).toMatchObject({
      requests: { 'import-route-plan': 1 },
      plans: { 'PLAN-1': 1 },
    });
  });

  it('401 has the token replaced for the next call', async () => {
    const { fleet, sandbox } = await openBoth();
    sandbox.addFault({ call: 'import-route-plan', fault: 'expired-token', times: 1 });
    expect(await failureOf(fleet.call(importRoutePlan, PLAN))).toMatchObject({ code: 'unauthorised' });
    expect((await fleet.call(importRoutePlan, PLAN)).routePoints).toBe(2);
    expect(sandbox.ledger().plans).toEqual({ 'PLAN-1': 1 });
  });

  it('an unreachable service received nothing: retriable', async () => {
    const { fleet } = openFleet('http://127.0.0.1:1', undefined);
    const failure = await failureOf(fleet.call(importRoutePlan, PLAN));
    expect(failure).toBeInstanceOf(Retriable);
    expect(failure.code).toBe('service_unreachable');
  });

  it('a rejection is skippable; the answer of the service is kept beside the message', async () => {
    const { fleet } = await openBoth();
    const failure = await failureOf(fleet.call(createItinerary, { data: { description: 'No dates' } }));
    expect(failure).toBeInstanceOf(Skippable);
    expect(failure).toMatchObject({ code: 'request_rejected', message: 'POST /itinerary/ answered 422' });
    expect(serviceMessage(failure)).toContain('date_time_start_estimated');
  });
});
