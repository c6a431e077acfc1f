// Every call's request: what a valid one sends, and each rule that an invalid one breaks, by path.
import { describe, expect, it } from 'vitest';
import { Fatal } from '../../../src/core/errors.ts';
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
import { login } from '../../../src/fleet/endpoints/login.ts';
import { pointsOfInterest } from '../../../src/fleet/endpoints/points-of-interest.ts';
import { renew } from '../../../src/fleet/endpoints/renew.ts';
import { routePlan } from '../../../src/fleet/endpoints/route-plan.ts';
import { routePlans } from '../../../src/fleet/endpoints/route-plans.ts';
import { routePoint } from '../../../src/fleet/endpoints/route-point.ts';
import { vehicles } from '../../../src/fleet/endpoints/vehicles.ts';
import type { CollectionForm } from '../../../src/fleet/interpretations.ts';

type AnyEndpoint = Endpoint<never, unknown>;

function issuesOf(endpoint: AnyEndpoint, request: unknown): string {
  try {
    endpoint.prepare(request as never, 'json');
  } catch (error) {
    expect(error).toBeInstanceOf(Fatal);
    expect(error).toMatchObject({ code: 'request_invalid' });
    return (error as Error).message;
  }
  throw new Error('The request was accepted');
}

const sent = (endpoint: AnyEndpoint, request: unknown, form: CollectionForm = 'json') => {
  const { path, query, body } = endpoint.prepare(request as never, form);
  const decoded = decodeURIComponent(query);
  return { path, query: decoded, body: body === undefined ? undefined : JSON.parse(body) };
};

const A = '2025-03-12T00:00:00-03:00';
const B = '2025-03-13T00:00:00-03:00';
const PERIOD = { date_time_start: A, date_time_end: B };
const REVERSED = { date_time_start: B, date_time_end: A };
const POINT = { title: 'x', latitude: 1, longitude: 2 };
const STOP = { name: 'x', latitude: 1, longitude: 2 };
const planOf = (data: object) => ({
  data: { date_time_start: A, date_time_end: B, external_code: 'x', route_points: [STOP], ...data },
});

describe('an invalid request is rejected by path, before it is sent', () => {
  const wrong: [AnyEndpoint, unknown, string[]][] = [
    [login, { username: 'x' }, ['parent_username', 'password', 'realm']],
    [checklist, {}, ['id']],
    [checklist, { id: -1 }, ['id']],
    [checklists, {}, ['date_time_start', 'date_time_end']],
    [checklists, { date_time_start: '2025-03-12', date_time_end: B }, ['date_time_start']],
    [checklists, REVERSED, ['date_time_end']],
    [checklists, { ...PERIOD, checklist_code: 'x', user_ids: ['x'] }, ['checklist_code', 'user_ids[0]']],
    [checklistAnswers, { id: 1, includes: ['table'] }, ['includes[0]']],
    [checklistAnswers, { id: 1, includes: [] }, ['includes']],
    [checklistPicture, { picture: '' }, ['picture']],
    [importRoutePlan, {}, ['data']],
    [importRoutePlan, { optimize: 'yes', ...planOf({}) }, ['optimize']],
    [routePlans, { route_plan_statuses: ['P', 'Z'] }, ['route_plan_statuses[1]']],
    [routePlans, { includes: ['route_points'] }, ['includes[0]']],
    [routePlans, { begin_date: B, end_date: A }, ['end_date']],
    [routePlan, {}, ['route_plan_id', 'includes']],
    [routePlan, { route_plan_id: 1, includes: ['vehicle.device'] }, ['includes[0]']],
    [routePoint, { route_plan_id: 1 }, ['external_code']],
    [pointsOfInterest, { point_of_interest_category_id: 10 }, ['point_of_interest_category_id']],
    [createPointOfInterest, {}, ['data']],
    [changePointOfInterest, { data: POINT }, ['id']],
    [createItinerary, { data: [] }, ['data']],
    [changeItinerary, { data: { description: 'x' } }, ['id']],
    [createAgent, { data: null, name: 'x' }, ['data', 'name']],
    [itinerary, { id: '7/../8' }, ['id']],
    [itineraries, { includes: ['customer'] }, ['date_time_start', 'date_time_end', 'includes[0]']],
    [drivers, { cnh_category_id: 10 }, ['cnh_category_id']],
    [drivers, { is_deliveryman: 1 }, ['is_deliveryman']],
    [vehicles, {}, ['includes']],
    [vehicles, { includes: ['driver'], status: 'X', visible: 3 }, ['includes[0]', 'status', 'visible']],
    [vehicles, { includes: ['fleet'], date_created_begin: B, date_created_end: A }, ['date_created_end']],
    [dailySummary, {}, ['initial_date', 'end_date', 'vehicles_id']],
    [dailySummary, { initial_date: A, end_date: B, vehicles_id: [] }, ['vehicles_id']],
    [dailySummary, { initial_date: B, end_date: A, vehicles_id: [1], daily_type: 'x' }, ['end_date', 'daily_type']],
    [
      dailySummary,
      { initial_date: A, end_date: B, vehicles_id: [1], aggregated_fields: ['x'] },
      ['aggregated_fields[0]'],
    ],
    [events, { periods: [{ begin: A, end: B }], event_category: 1 }, ['vehicles_id']],
    [events, { periods: [{ begin: A, end: B }], event_category: 1, driver_ids: [] }, ['vehicles_id']],
    [
      events,
      { periods: [{ begin: B, end: A }], event_category: 15, vehicles_id: [1] },
      ['periods[0].end', 'event_category'],
    ],
    [events, { periods: [{ begin: A, end: B }], event_category: 1, vehicles_id: [1], distance: -1 }, ['distance']],
  ];
  it.each(wrong)('$name', (endpoint, request, paths) => {
    const message = issuesOf(endpoint, request);
    expect(message).toContain(`The call ${endpoint.name} was not sent`);
    for (const path of paths) expect(message).toContain(path.includes(': ') ? path : `${path}: `);
  });

  it('never has a value of the request in the message', () => {
    expect(issuesOf(drivers, { name: '', cpf: 52998224725 })).not.toContain('52998224725');
    expect(issuesOf(checklists, { date_time_start: 'SECRET', date_time_end: 'SECRET' })).not.toContain('SECRET');
  });
});

describe('a valid request is sent as the service reads it', () => {
  it('date-times of a query in UTC, in a body as given', () => {
    expect(sent(checklists, PERIOD).query).toBe(
      'date_time_start=2025-03-12T03:00:00Z&date_time_end=2025-03-13T03:00:00Z',
    );
    expect(sent(importRoutePlan, planOf({})).body.data.date_time_start).toBe(A);
  });

  it('collections in the configured form', () => {
    const request = { ...PERIOD, user_ids: [1, 2], includes: ['user', 'checklist_form'] };
    expect(sent(checklists, request, 'json').query).toContain('&user_ids=[1,2]&includes=["user","checklist_form"]');
    expect(sent(checklists, request, 'comma').query).toContain('&user_ids=1,2&includes=user,checklist_form');
    expect(sent(checklists, request, 'repeat').query).toContain(
      '&user_ids=1&user_ids=2&includes=user&includes=checklist_form',
    );
  });

  it.each(['json', 'comma', 'repeat'] as const)('collections of the event query in JSON, also with %s', (form) => {
    const request = {
      periods: [{ begin: A, end: B }],
      event_category: 2,
      vehicles_id: [1, '9007199254740993'],
      driver_ids: [],
      includes: ['vehicle', 'driver'],
      aggregated_field: 'vehicle',
    };
    expect(sent(events, request, form).query).toBe(
      'periods=[{"begin":"2025-03-12T03:00:00Z","end":"2025-03-13T03:00:00Z"}]&event_category=2' +
        '&vehicles_id=[1,9007199254740993]&driver_ids=[]&aggregated_field=vehicle&includes=vehicle,driver',
    );
  });

  it('includes that are typed as text as a comma list', () => {
    expect(sent(itineraries, { ...PERIOD, includes: ['vehicle', 'driver'] }).query).toContain(
      'includes=vehicle,driver',
    );
    expect(sent(drivers, { includes: ['department'] }).query).toBe('is_deliveryman=1&includes=department');
    expect(sent(drivers, { is_deliveryman: false }).query).toBe('is_deliveryman=0');
  });

  it('documented defaults are filled in', () => {
    expect(sent(checklistAnswers, { id: 1 }).query).toBe('id=1&includes=["checklist_form_field"]');
    expect(sent(routePoint, { route_plan_id: 1, external_code: 'a b' }).query).toContain('includes=["routes_info"]');
    expect(sent(dailySummary, { initial_date: A, end_date: B, vehicles_id: [1] }).query).toContain(
      'daily_type=aggregate',
    );
    expect(sent(importRoutePlan, planOf({})).body).toMatchObject({
      optimize: true,
      geocoding: true,
      source: 'G',
      has_time_window: false,
      is_async: false,
    });
  });

  it('ids in the path, the rest in the body', () => {
    expect(sent(itinerary, { id: 7 })).toEqual({ path: '/itinerary/7', query: '', body: undefined });
    expect(sent(checklist, { id: '9007199254740993' }).path).toBe('/checklist/9007199254740993');
    expect(sent(changeItinerary, { id: 7, data: { description: 'x' } })).toEqual({
      path: '/itinerary/7',
      query: '',
      body: { data: { description: 'x' } },
    });
  });

  it('the category of a point as an object, the flag of an agent twice', () => {
    const category = { point_of_interest_category: { id: 3 } };
    const numbered = { ...POINT, point_of_interest_category_id: 3 };
    expect(sent(createPointOfInterest, { data: numbered }).body).toEqual({ data: { ...POINT, ...category } });
    expect(sent(changePointOfInterest, { id: 5, data: { ...POINT, ...category } }).body).toEqual({
      data: { id: 5, ...POINT, ...category },
    });
    expect(sent(createAgent, { data: { name: 'x' } }).body).toEqual({
      data: { name: 'x', is_deliveryman: true },
      is_deliveryman: true,
    });
  });

  it('a renewal without payload, except where it carries the refresh token', () => {
    expect(sent(renew, {}).body).toBeUndefined();
    expect(sent(renew, { refreshToken: 'r' }).body).toEqual({ refresh_token: 'r' });
  });
});
