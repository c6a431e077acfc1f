// Validation before sending: every rule of every kind, all issues at once, and no value in any reason.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { FeedKind } from '../../../src/erp/feed-kinds.ts';
import { itemOf } from '../../../src/erp/items/item.ts';
import { validateItem } from '../../../src/erp/items/schemas.ts';

const ZONE = 'America/Sao_Paulo';

function reasons(kind: FeedKind, given: JsonObject): string[] {
  const read = itemOf(given, 'here', { kind, zone: ZONE });
  if ('readError' in read) return [`read error: ${read.readError.reason}`];
  return validateItem(kind, read.item);
}

const stop = { name: 'Stop', latitude: -23.5, longitude: -46.6 };
const plan = (changes: JsonObject = {}): JsonObject => ({
  external_code: 'P1',
  date_time_start: '2026-05-18T08:00',
  date_time_end: '2026-05-18T18:00',
  route_points: [stop],
  ...changes,
});
const withPoint = (changes: JsonObject): JsonObject => plan({ route_points: [stop, { ...stop, ...changes }] });

const wholePlan = plan({
  vehicle_plate: 'abc-1d23',
  document_number: '529.982.247-25',
  vehicle_plates: ['ABC1234'],
  entity: [{ vehicle_plate: 'ABC1234', document_number: '52998224725' }],
  options: { optimize: false, source: 'G' },
  route_points: [
    { name: 'A', address: 'Rua Um, 1', type: 'pa', external_code: 7 },
    { name: 'B', address: { street: 'Rua Um', number: 1, note: '\\u0000 🚚' } },
    {
      ...stop,
      type: 'ENTREGA',
      time_window: { start: '2026-05-18T09:00', end: '2026-05-18T10:00' },
      route_point_items: [{ external_code: 'i', value: 1.5, capacity: 2 }],
    },
  ],
});

describe('a route plan', () => {
  test('that keeps every rule has no issue', () => {
    expect(reasons('route_plans', wholePlan)).toEqual([]);
  });

  test.each<[JsonObject, string]>([
    [plan({ date_time_start: null }), 'date_time_start: is required'],
    [plan({ date_time_end: '2026-02-30T08:00' }), 'date_time_end: is not an ISO 8601 date-time'],
    [plan({ date_time_end: '18/05/2026 08:00' }), 'date_time_end: is not an ISO 8601 date-time'],
    [plan({ date_time_end: '9999-12-31T23:59:59-03:00' }), 'date_time_end: is not an ISO 8601 date-time of the years'],
    [plan({ date_time_start: '0001-01-01T00:00' }), 'date_time_start: is not an ISO 8601 date-time of the years'],
    [plan({ date_time_end: '2026-05-18T07:59' }), 'date_time_end: is before date_time_start'],
    [plan({ route_points: [] }), 'route_points: at least one is required'],
    [plan({ route_points: 'x' }), 'route_points: is not a list'],
    [plan({ route_points: [1] }), 'route_points[0]: is not an object'],
    [plan({ vehicle_plate: 'AB1234' }), 'vehicle_plate: is not a plate'],
    [plan({ vehicle_plates: ['ABC1234', 'x'] }), 'vehicle_plates: is not a list of plates'],
    [plan({ document_number: '11111111111' }), 'document_number: is not a tax number'],
    [
      plan({ vehicle_plates: ['ABC1234'], document_numbers: ['52998224725'] }),
      'document_numbers: give only one of vehicle_plates and document_numbers',
    ],
    [plan({ entity: [{ vehicle_plate: 'ABC1234' }] }), 'entity[0].document_number: is required'],
    [plan({ Vehicle_Plate: 'ABC1234' }), 'Vehicle_Plate: is not a known field (did you mean "vehicle_plate"?)'],
    [plan({ options: { optimise: true } }), 'options.optimise: is not a known field'],
    [withPoint({ name: '' }), 'route_points[1].name: is required'],
    [withPoint({ latitude: -91 }), 'route_points[1].latitude: outside -90..90'],
    [withPoint({ longitude: 181 }), 'route_points[1].longitude: outside -180..180'],
    [withPoint({ latitude: '-23.5' }), 'route_points[1].latitude: is not a number'],
    [withPoint({ latitude: null }), 'route_points[1].latitude: give both coordinates or none'],
    [withPoint({ latitude: null, longitude: null }), 'route_points[1].address: give an address or coordinates'],
    [
      withPoint({ address: { street: 'Rua Um', parts: ['nul \0 inside'] } }),
      'route_points[1].address: contains a NUL or half a character',
    ],
    [
      withPoint({ address: { 'street\ud800': 'Rua Um' } }),
      'route_points[1].address: contains a NUL or half a character',
    ],
    [withPoint({ external_code: 'x'.repeat(501) }), 'route_points[1].external_code: is longer than 500 characters'],
    [withPoint({ type: 'Almoço' }), 'route_points[1].type: is not one of Partida, Coleta, Entrega, Chegada'],
    [withPoint({ delivery_time: -1 }), 'route_points[1].delivery_time: is not a whole number of seconds from 0'],
    [
      withPoint({ time_window: { start: '2026-05-18T07:00', end: '2026-05-18T09:00' } }),
      'route_points[1].time_window.start: is outside the period of the plan',
    ],
    [
      withPoint({ time_window: { start: '2026-05-18T10:00', end: '2026-05-18T09:00' } }),
      'route_points[1].time_window.end: is before start',
    ],
    [
      withPoint({ route_point_items: [{ quantity: 1 }] }),
      'route_points[1].route_point_items[0].external_code: is required',
    ],
    [
      plan({
        route_points: [
          { ...stop, external_code: 'a' },
          { ...stop, external_code: 'a' },
        ],
      }),
      'route_points[1].external_code: is already used by route_points[0]',
    ],
  ])('%j is rejected: %s', (given, reason) => {
    const found = reasons('route_plans', given);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(reason);
  });

  test('reports all its issues at once', () => {
    const wrong = plan({
      date_time_end: '2026-05-17T08:00',
      colour: 'red',
      vehicle_plate: 'x',
      route_points: [
        { latitude: 100, longitude: 200 },
        { name: 'no place', time_window: { start: '2026-05-19T08:00', ende: '2026-05-19T09:00' } },
      ],
      options: { optimize: 'yes' },
    });
    expect(reasons('route_plans', wrong)).toEqual([
      'vehicle_plate: is not a plate of the form ABC1234 or ABC1D23',
      'route_points[0].name: is required',
      'route_points[0].latitude: outside -90..90',
      'route_points[0].longitude: outside -180..180',
      'route_points[1].time_window.end: is required',
      'route_points[1].time_window.ende: is not a known field (did you mean "end"?)',
      'route_points[1].address: give an address or coordinates',
      'colour: is not a known field',
      'date_time_end: is before date_time_start',
      'route_points[1].time_window.start: is outside the period of the plan',
      'options.optimize: is neither true nor false',
    ]);
  });

  test("is rejected without a person's number in the reason", () => {
    const found = reasons('route_plans', plan({ document_number: '52998224726' }));
    expect(found.join()).not.toMatch(/\d{3,}/);
  });

  test('with a time window of another form is not validated', () => {
    expect(reasons('route_plans', withPoint({ time_window: ['08:00', '10:00'] }))).toEqual([]);
  });
});

const poi = { title: 'Depot', latitude: 1, longitude: 2, point_of_interest_category_id: 1 };
const agent = { name: 'Sample Agent', cpf: '529.982.247-25', is_deliveryman: true };
const itinerary = {
  external_id: 'I1',
  vehicle_id: 1,
  driver_id: 2,
  date_time_start_estimated: '2026-05-18T08:00',
  date_time_end_estimated: '2026-05-18T18:00',
};

describe('a plan with a great many issues', () => {
  test.each([
    ['points', plan({ route_points: Array.from({ length: 5_000 }, () => ({})) })],
    ['items', withPoint({ route_point_items: Array.from({ length: 150_000 }, () => ({})) })],
    ['drivers', plan({ entity: Array.from({ length: 150_000 }, () => ({})) })],
  ])('in its %s lists the first hundred', (_where, given) => {
    const found = validateItem('route_plans', { data: given });
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toBe('more issues are not listed');
  });
});

describe('a plan', () => {
  const read = (given: JsonObject) => itemOf(given, 'a.json', { kind: 'route_plans', zone: 'UTC' });
  const many = (length: number) => Array.from({ length }, () => ({}));

  test.each([
    ['10,000 points', plan({ route_points: many(10_001) })],
    ['50,000 items', withPoint({ route_point_items: many(50_000) })],
    ['50,000 drivers', plan({ entity: many(50_000) })],
  ])('is not read where it has more than %s', (_what, given) => {
    expect(read(given)).toEqual({
      readError: {
        origin: 'a.json',
        externalCode: given.external_code,
        startDay: '2026-05-18',
        reason:
          'route_points: has more than 10,000 points, or more than 50,000 points, items and drivers; split the plan',
      },
    });
  });

  test('is read where it has 10,000 points with 4 items each', () => {
    const points = Array.from({ length: 10_000 }, () => ({ route_point_items: many(4) }));
    expect(read(plan({ route_points: points }))).toHaveProperty('item');
  });
});

describe('the other kinds', () => {
  test.each<[FeedKind, JsonObject]>([
    ['points_of_interest', poi],
    ['points_of_interest', { title: 'D', latitude: 1, longitude: 2, point_of_interest_category: { id: 0 } }],
    ['agents', agent],
    ['itineraries', itinerary],
  ])('%s that keep every rule have no issue', (kind, given) => {
    expect(reasons(kind, given)).toEqual([]);
  });

  test.each<[FeedKind, JsonObject, string]>([
    ['points_of_interest', { ...poi, longitude: null }, 'longitude: is required'],
    [
      'points_of_interest',
      { ...poi, point_of_interest_category_id: 10 },
      'point_of_interest_category_id: is not one of',
    ],
    ['points_of_interest', { ...poi, point_of_interest_category: { id: 1 } }, 'give only one of'],
    [
      'points_of_interest',
      { ...poi, point_of_interest_category_id: null, point_of_interest_category: { id: null } },
      'point_of_interest_category.id: is required',
    ],
    [
      'points_of_interest',
      { ...poi, point_of_interest_category_id: null, point_of_interest_category: 1 },
      'point_of_interest_category: is not an object with an id',
    ],
    ['agents', { ...agent, cpf: '52998224726' }, 'cpf: is not a tax number with valid check digits'],
    ['agents', { ...agent, name: null }, 'name: is required'],
    ['agents', { ...agent, options: {} }, 'options: is not a known field'],
    ['itineraries', { ...itinerary, driver_id: 'x' }, 'driver_id: is not a whole number from 0'],
    ['itineraries', { ...itinerary, date_time_end_estimated: '2026-05-18T07:00' }, 'is before'],
    ['itineraries', { ...itinerary, external_id: null }, 'read error: external_id: is missing'],
  ])('%s: %j is rejected: %s', (kind, given, reason) => {
    const found = reasons(kind, given);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(reason);
  });
});

describe('the canonical form', () => {
  test('has zoned date-times, documented types, plain plates and documents, and nothing that is null', () => {
    const read = itemOf(
      plan({
        vehicle_plate: 'abc-1d23',
        document_number: 1234567890,
        entity: null,
        route_points: [{ ...stop, type: 'CO', info: '', external_code: 7 }],
      }),
      'here',
      { kind: 'route_plans', zone: ZONE },
    );
    expect(read).toEqual({
      item: {
        externalCode: 'P1',
        startDay: '2026-05-18',
        origin: 'here',
        data: {
          external_code: 'P1',
          date_time_start: '2026-05-18T08:00:00-03:00',
          date_time_end: '2026-05-18T18:00:00-03:00',
          vehicle_plate: 'ABC1D23',
          document_number: '01234567890',
          route_points: [{ ...stop, type: 'Coleta', external_code: '7' }],
        },
      },
    });
  });

  test('takes the code of an agent or point of interest out of the data', () => {
    const read = itemOf({ external_code: 9, title: 'D' }, 'x', { kind: 'points_of_interest', zone: ZONE });
    expect(read).toEqual({ item: { externalCode: '9', startDay: '', origin: 'x', data: { title: 'D' } } });
  });
});

describe('an item inside data', () => {
  const data = { name: 'A', cpf: '52998224725' };
  const agent = (given: JsonObject) => itemOf(given, 'record 1', { kind: 'agents', zone: ZONE });

  test('has the fields of its kind beside it too, and no other', () => {
    const parsed = agent({ id: 7, options: {}, external_code: 'M-7', rg: '1', data });
    expect(parsed).toEqual({ item: expect.objectContaining({ externalCode: 'M-7', data: { ...data, rg: '1' } }) });
    for (const external_code of ['1001', 1001, null, ''])
      expect(agent({ external_code: 1001, data: { ...data, external_code } })).toMatchObject({
        item: { externalCode: '1001' },
      });
  });

  test('is not read if they differ, in whatever order', () => {
    const reason = 'name: is given twice, inside and beside `data`, with different values';
    expect(agent({ name: 'B', external_code: 'M-7', data })).toMatchObject({
      readError: { externalCode: 'M-7', reason },
    });
    const options = { optimize: true, geocoding: false };
    const inner = { external_code: 'P1', options: { geocoding: false, optimize: true } };
    const parsed = itemOf({ options, data: inner }, 'record 1', { kind: 'route_plans', zone: ZONE });
    expect(parsed).toMatchObject({ item: { options } });
  });
});

describe('the start day', () => {
  const startDay = (kind: FeedKind, given: JsonObject): string => {
    const read = itemOf(given, 'here', { kind, zone: ZONE });
    if ('readError' in read) throw new Error(read.readError.reason);
    return read.item.startDay;
  };

  test.each<[string, FeedKind, JsonObject, string]>([
    ['of a plan', 'route_plans', plan({ date_time_start: '2026-05-18T08:00' }), '2026-05-18'],
    ['of a plan before midnight', 'route_plans', plan({ date_time_start: '2026-05-19T02:00Z' }), '2026-05-18'],
    ['of a plan after midnight', 'route_plans', plan({ date_time_start: '2026-05-19T03:00Z' }), '2026-05-19'],
    ['of a plan whose start cannot be read', 'route_plans', plan({ date_time_start: 'soon' }), ''],
    ['of a plan without a start', 'route_plans', plan({ date_time_start: null }), ''],
    ['of an itinerary', 'itineraries', { ...itinerary, date_time_start_estimated: '2026-05-18 23:30' }, '2026-05-18'],
    ['of a point of interest', 'points_of_interest', poi, ''],
    ['of an agent', 'agents', agent, ''],
  ])('%s is its local date', (_what, kind, given, day) => expect(startDay(kind, given)).toBe(day));

  test('is known for an item whose options cannot be read', () => {
    const read = itemOf(plan({ options: 7 }), 'here', { kind: 'route_plans', zone: ZONE });
    expect(read).toMatchObject({ readError: { externalCode: 'P1', startDay: '2026-05-18' } });
  });
});

describe('a field named __proto__', () => {
  const hidden = (field: JsonObject): JsonObject => JSON.parse(`{"__proto__":${JSON.stringify(field)}}`);

  test('replaces no required field of an item', () => {
    const whole = hidden(plan());
    expect(reasons('route_plans', whole)).toEqual(['read error: external_code: is missing']);
    expect(reasons('route_plans', { ...whole, external_code: 'P1' })).toEqual([
      'date_time_start: is required',
      'date_time_end: is required',
      'route_points: at least one is required',
      '__proto__: is not a known field',
    ]);
  });

  test('replaces no required field of a point', () => {
    expect(reasons('route_plans', plan({ route_points: [hidden(stop)] }))).toEqual([
      'route_points[0].name: is required',
      'route_points[0].__proto__: is not a known field',
      'route_points[0].address: give an address or coordinates',
    ]);
  });

  test.each<[string, JsonObject]>([
    ['entity[0]', plan({ entity: [{ vehicle_plate: 'ABC1234', document_number: '52998224725', ...hidden({}) }] })],
    ['options', plan({ options: hidden({ optimize: true }) })],
    ['route_points[1].route_point_items[0]', withPoint({ route_point_items: [{ external_code: 'i', ...hidden({}) }] })],
  ])('is rejected in %s', (at, given) => {
    expect(reasons('route_plans', given)).toEqual([`${at}.__proto__: is not a known field`]);
  });
});
