// Every call of the service with a request that the sandbox accepts, for tests that go through all of them.
import type { CallContext, Fleet } from '../../../src/fleet/client.ts';
import type { Endpoint } from '../../../src/fleet/endpoint.ts';
import { changeItinerary } from '../../../src/fleet/endpoints/change-itinerary.ts';
import { changePointOfInterest } from '../../../src/fleet/endpoints/change-point-of-interest.ts';
import { checklist } from '../../../src/fleet/endpoints/checklist.ts';
import { checklistAnswers } from '../../../src/fleet/endpoints/checklist-answers.ts';
import { checklistPicture } from '../../../src/fleet/endpoints/checklist-picture.ts';
import { checklists } from '../../../src/fleet/endpoints/checklists.ts';
import { createAgent } from '../../../src/fleet/endpoints/create-agent.ts';
import { createItinerary } from '../../../src/fleet/endpoints/create-itinerary.ts';
import { createPointOfInterest } from '../../../src/fleet/endpoints/create-point-of-interest.ts';
import { dailySummary } from '../../../src/fleet/endpoints/daily-summary.ts';
import { drivers } from '../../../src/fleet/endpoints/drivers.ts';
import { events } from '../../../src/fleet/endpoints/events.ts';
import { importRoutePlan } from '../../../src/fleet/endpoints/import-route-plan.ts';
import { itineraries } from '../../../src/fleet/endpoints/itineraries.ts';
import { itinerary } from '../../../src/fleet/endpoints/itinerary.ts';
import { pointsOfInterest } from '../../../src/fleet/endpoints/points-of-interest.ts';
import { routePlan } from '../../../src/fleet/endpoints/route-plan.ts';
import { routePlans } from '../../../src/fleet/endpoints/route-plans.ts';
import { routePoint } from '../../../src/fleet/endpoints/route-point.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';

/** A noon in Brazil of an ordinary week. */
export const NOON = Date.parse('2025-03-12T15:00:00Z');

const FROM = '2025-03-11T00:00:00-03:00';
const TO = '2025-03-12T00:00:00-03:00';
const PERIOD = { date_time_start: FROM, date_time_end: TO };
const POINT = { title: 'Depot', latitude: -23.5, longitude: -46.6 };

export interface AnyCall {
  name: string;
  kind: 'read' | 'write';
  send(fleet: Fleet, context?: CallContext): Promise<unknown>;
}

const call = <Q, A>(endpoint: Endpoint<Q, A>, request: () => Q): AnyCall => ({
  name: endpoint.name,
  kind: endpoint.kind,
  send: (fleet, context) => fleet.call(endpoint, request(), context),
});

export interface Targets {
  vehicle: number;
  plan: number;
  stop: string;
  checklist: number;
  picture: string;
  itinerary: number;
  point: number;
}

type Fields = Record<string, unknown>;

/** Records that the sandbox has, so that a call by id succeeds. */
export async function findTargets(fleet: Fleet): Promise<Targets> {
  const first = async <Q>(endpoint: Endpoint<Q, unknown[]>, request: Q): Promise<Fields> =>
    (await fleet.call(endpoint, request))[0] as Fields;
  const plan = await first(routePlans, { begin_date: FROM, end_date: TO });
  const whole = await first(routePlan, { route_plan_id: plan.id as number, includes: ['route_points'] });
  const stops = whole.route_points as { external_code?: string }[];
  const list = await first(checklists, PERIOD);
  return {
    vehicle: (await first(vehicles, { includes: ['fleet'] })).id as number,
    plan: plan.id as number,
    stop: stops.find(({ external_code }) => typeof external_code === 'string')?.external_code ?? '',
    checklist: list.id as number,
    picture: list.signature as string,
    itinerary: (await first(itineraries, PERIOD)).id as number,
    point: (await first(pointsOfInterest, {})).id as number,
  };
}

let made = 0;

/** All but login and renewal, which no caller makes by itself. */
export const callsOf = (at: Targets): AnyCall[] => [
  call(checklist, () => ({ id: at.checklist })),
  call(checklists, () => PERIOD),
  call(checklistAnswers, () => ({ id: at.checklist })),
  call(checklistPicture, () => ({ picture: at.picture })),
  call(importRoutePlan, () => ({
    optimize: false,
    data: {
      date_time_start: '2025-03-12T08:00:00-03:00',
      date_time_end: '2025-03-12T18:00:00-03:00',
      external_code: `PLAN-${process.pid}-${made++}`,
      route_points: [{ name: 'Depot', latitude: -23.5, longitude: -46.6, order: 1 }],
    },
  })),
  call(routePlans, () => ({ begin_date: FROM, end_date: TO })),
  call(routePlan, () => ({ route_plan_id: at.plan, includes: ['route_points' as const] })),
  call(routePoint, () => ({ route_plan_id: at.plan, external_code: at.stop })),
  call(pointsOfInterest, () => ({})),
  call(createPointOfInterest, () => ({ data: { ...POINT, title: `Depot ${process.pid} ${made++}` } })),
  call(changePointOfInterest, () => ({ id: at.point, data: POINT })),
  call(createItinerary, () => ({
    data: {
      description: `Trip ${process.pid} ${made++}`,
      date_time_start_estimated: '2025-03-12T08:00:00Z',
      date_time_end_estimated: '2025-03-12T09:00:00Z',
    },
  })),
  call(changeItinerary, () => ({ id: at.itinerary, data: { description: 'Trip' } })),
  call(itinerary, () => ({ id: at.itinerary })),
  call(itineraries, () => PERIOD),
  call(createAgent, () => ({ data: { name: `Agent ${process.pid} ${made++}`, cpf: '52998224725' } })),
  call(drivers, () => ({})),
  call(vehicles, () => ({ includes: ['fleet' as const] })),
  call(dailySummary, () => ({ initial_date: FROM, end_date: TO, vehicles_id: [at.vehicle] })),
  call(events, () => ({
    periods: [{ begin: FROM, end: TO }],
    event_category: 1,
    vehicles_id: [at.vehicle],
  })),
];
