// Sample plans for tomorrow as a drop file, so that a new user sees a push without an ERP. The places are public squares
// and the names are numbers: no personal data.
import { Temporal } from 'temporal-polyfill';
import type { JsonObject } from '../../core/json.ts';

export interface SampleOptions {
  /** Milliseconds since the epoch. */
  nowMs: number;
  /** IANA zone in which tomorrow begins. */
  zone: string;
  /** Plates of vehicles at the service, one per plan; if empty, the plans have no vehicle. */
  plates: readonly string[];
}

const PLANS = 2;
const START_HOURS = [8, 13];
const PLAN_HOURS = 4;

/** Squares of São Paulo, five per plan. */
const STOPS: readonly (readonly [type: string, latitude: number, longitude: number])[] = [
  ['Partida', -23.5503, -46.6339],
  ['Entrega', -23.5446, -46.6423],
  ['Entrega', -23.5614, -46.6559],
  ['Coleta', -23.5874, -46.6576],
  ['Chegada', -23.5505, -46.6333],
  ['Partida', -23.5329, -46.6395],
  ['Entrega', -23.5281, -46.6672],
  ['Entrega', -23.5365, -46.6854],
  ['Coleta', -23.5674, -46.6934],
  ['Chegada', -23.5338, -46.639],
];

/** The name of the file and its text. */
export function samplePlans(options: SampleOptions) {
  const today = Temporal.Instant.fromEpochMilliseconds(options.nowMs).toZonedDateTimeISO(options.zone).toPlainDate();
  const day = today.add({ days: 1 });
  const plans = Array.from({ length: PLANS }, (_, index) => samplePlan(index, day, options));
  return { name: `sample-${day}.json`, text: `${JSON.stringify(plans, undefined, 2)}\n` };
}

function samplePlan(index: number, day: Temporal.PlainDate, { zone, plates }: SampleOptions): JsonObject {
  const start = day.toZonedDateTime({ timeZone: zone, plainTime: { hour: START_HOURS[index] ?? 8 } });
  const code = `SAMPLE-${day}-${index + 1}`;
  const perPlan = STOPS.length / PLANS;
  const stops = STOPS.slice(index * perPlan, (index + 1) * perPlan);
  const plate = plates[index % Math.max(1, plates.length)];
  return {
    external_code: code,
    date_time_start: start.toString({ timeZoneName: 'never' }),
    date_time_end: start.add({ hours: PLAN_HOURS }).toString({ timeZoneName: 'never' }),
    ...(plate !== undefined && { vehicle_plate: plate }),
    route_points: stops.map(([type, latitude, longitude], i) => ({
      name: `Sample stop ${i + 1}`,
      external_code: `${code}-${i + 1}`,
      order: i + 1,
      type,
      latitude,
      longitude,
      ...(type === 'Entrega' && {
        route_point_items: [{ external_code: `${code}-${i + 1}-A`, description: 'Sample box', quantity: 1 }],
      }),
    })),
    options: { optimize: false, geocoding: false },
  };
}
