// Plans the slices of an event run. A slice is some vehicles over some periods, with all categories of the group; vehicles
// that need the same periods share slices. Vehicle-days, the length of the URL and the number of vehicles that the service was
// found to accept limit the size of a slice.

import { z } from 'zod';
import { inTwo } from '../../../../core/chunks.ts';
import { EVENT_CATEGORIES } from '../../../../core/code-lists.ts';
import { DAY_MS } from '../../../../core/time/durations.ts';
import { events } from '../../../../fleet/endpoints/events.ts';
import { coverageOf } from '../../../../warehouse/control/coverage.ts';
import { knownIds } from '../../../../warehouse/queries/dimension-keys.ts';
import { vehicle } from '../../../../warehouse/tables/vehicle.ts';
import type { Cost, Workload } from '../../../job.ts';
import { knownLimit } from '../../../probe/answers.ts';
import type { Slice } from '../../../slice.ts';
import { chunksFor, idsThatFit } from '../../plan/chunks.ts';
import { coverageToday } from '../../plan/daily-lookback.ts';
import { vehicleScope } from '../../plan/scopes.ts';
import { cutSpan, halves, intervalOf, joined, type Span, searchPeriod, spansToRead } from '../../plan/windows.ts';
import { canBeAsked } from '../../records/record-id.ts';
import type { Plan, PlanContext } from '../../types.ts';

const HOUR_MS = 3_600_000;
/** Vehicle-days of a slice at full scale: about twenty thousand events for a busy fleet. */
const VEHICLE_DAYS = 100;
/** Most periods of one call. */
const MOST_PERIODS = 10;
/** Bytes of a URL for one period, and for everything except periods and vehicles. */
const PERIOD_BYTES = 110;
const USUAL_URL_BYTES = 200;
const LEAST_SPAN_MS = 60_000;
/** Events this recent may not have reached the service yet. */
const HOLD_BACK_MS = 60_000;

export const categoriesOption = z
  .union([z.literal('all'), z.array(z.int()).min(1)])
  .default('all')
  .describe('Categories to read: `all`, or a list of ids (default all).');

export interface EventOptions {
  since: number;
  lookback: number;
  daily_lookback: number;
  silence: number;
  categories: 'all' | number[];
}

export interface EventWork {
  vehicles: number[];
  spans: Span[];
  /**
   * All spans that the run reads for these vehicles, if earlier runs have read them before. Otherwise absent: a gap may
   * then be history that is not read yet, and not a silence.
   */
  reads?: Span[];
  /** Half of the vehicles of a slice that the service rejected. */
  isHalf?: boolean;
}

/** Coverage is kept for each group of categories. */
export const eventGroup = ({ categories }: Pick<EventOptions, 'categories'>): string =>
  `categories ${categories === 'all' ? 'all' : categories.toSorted((a, b) => a - b).join(',')}`;

export const eventRequest = (vehicles: number[], spans: readonly Span[], category: number) => ({
  event_category: category,
  vehicles_id: vehicles,
  periods: spans.map(searchPeriod).map(({ beginAt, endAt }) => ({ begin: beginAt, end: endAt })),
  includes: [...INCLUDES],
});

const INCLUDES = ['vehicle', 'driver', 'location_start', 'location_end'] as const;

export const eventScope = (id: number, options: EventOptions): string => vehicleScope(id, eventGroup(options));

export async function planEvents(context: PlanContext<EventOptions>): Promise<Plan<EventWork>> {
  const { needs, finish } = await vehiclesByNeed(context);
  const accepted = await knownLimit(context.warehouse, 'vehicle_ids');
  const slices = needs.flatMap(({ spans, vehicles, known }) => {
    const days = spans.reduce((sum, { begin, end }) => sum + (end - begin) / DAY_MS, 0);
    const vehicleDays = VEHICLE_DAYS * context.scale;
    const most = Math.max(1, Math.min(accepted, Math.floor(vehicleDays / Math.min(1, days))));
    const sample = cutSpan(spans[0] ?? { begin: 0, end: 1 }, HOUR_MS).slice(0, MOST_PERIODS);
    const groups = chunksFor(vehicles, most, (part) => context.urlBytes(events, eventRequest(part, sample, 1)));
    return groups.flatMap((part) => {
      const lengthMs = Math.max(LEAST_SPAN_MS, Math.floor((vehicleDays * DAY_MS) / part.length));
      const reads = known ? spans : undefined;
      const scopes = part.map((id) => eventScope(id, context.options));
      const calls = categoriesOf(context.options).length;
      return packed(spans, lengthMs).map((pack) => sliceOf({ vehicles: part, spans: pack, reads }, scopes, calls));
    });
  });
  return { slices, finish };
}

/** Vehicles that need the same periods; `known` if earlier runs have read these vehicles. */
interface Need {
  spans: Span[];
  vehicles: number[];
  known: boolean;
}

/** Covered intervals of the vehicles, by scope. */
async function coverageOfVehicles(context: PlanContext<EventOptions>, ids: readonly number[]) {
  const coverage = await coverageOf(context.warehouse, context.coverageName);
  const scopes = new Set(ids.map((id) => eventScope(id, context.options)));
  return new Map([...coverage].filter(([scope]) => scopes.has(scope)));
}

async function vehiclesByNeed(context: PlanContext<EventOptions>) {
  const { options, now, period, warehouse } = context;
  const ids = (await knownIds(warehouse, vehicle)).filter(canBeAsked);
  const { coverage, finish } = await coverageToday(context, await coverageOfVehicles(context, ids));
  const needs = new Map<string, Need>();
  for (const id of ids) {
    const covered = coverage.get(eventScope(id, options)) ?? [];
    const spans = spansToRead({ now, ...options, holdBack: HOLD_BACK_MS, period, covered });
    const known = period === undefined && covered.length > 0;
    const name = JSON.stringify({ spans, known });
    const need = needs.get(name) ?? { spans, vehicles: [], known };
    needs.set(name, need);
    need.vehicles.push(id);
  }
  return { needs: [...needs.values()], finish };
}

/** Cuts the spans on a grid, then packs the parts into calls of at most `lengthMs`. Adjacent parts of a call are merged. */
function packed(spans: readonly Span[], lengthMs: number): Span[][] {
  const packs: Span[][] = [];
  let room = 0;
  for (const part of spans.flatMap((span) => cutSpan(span, lengthMs))) {
    const length = part.end - part.begin;
    const last = packs.at(-1);
    if (last === undefined || length > room || last.length === MOST_PERIODS) {
      packs.push([part]);
      room = lengthMs - length;
    } else {
      last.push(part);
      room -= length;
    }
  }
  return packs.map(joined);
}

/** `scopes` are the scopes of the vehicles, in the same order. */
function sliceOf(work: EventWork, scopes: readonly string[], calls: number | undefined): Slice<EventWork> {
  const { vehicles, spans } = work;
  const periods = spans.map(intervalOf);
  const names = `${vehicles[0]}-${vehicles.at(-1)} (${vehicles.length})`;
  return {
    scope: `vehicles ${names} ${periods.map(({ beginAt, endAt }) => `${beginAt}/${endAt}`).join(' ')}`,
    work,
    covers: periods.map((period) => ({ scopes, ...period })),
    calls,
  };
}

/** Halves the vehicles first, then the number of periods, then the length of the period. */
export function splitEvents({ work, covers, calls }: Slice<EventWork>): Slice<EventWork>[] | undefined {
  const { vehicles, spans } = work;
  const scopes = covers?.[0]?.scopes ?? [];
  const part = (own: Partial<EventWork>, ofPart = scopes) => sliceOf({ ...work, ...own }, ofPart, calls);
  if (vehicles.length > 1) {
    const [some, others] = [inTwo(vehicles), inTwo(scopes)];
    return some.map((half, index) => part({ vehicles: half }, others[index]));
  }
  if (spans.length > 1) return inTwo(spans).map((half) => part({ spans: half }));
  const shorter = spans[0] === undefined ? undefined : halves(spans[0], LEAST_SPAN_MS);
  return shorter?.map((span) => part({ spans: [span] }));
}

/**
 * Halves the vehicles once, if the service rejects the first of them alone too. A half that was read moves on, so the next run
 * plans the other by itself and halves it again, until the vehicle that the service rejects is alone. To cut further in one
 * run would cost hundreds of calls whenever the service rejects every request.
 */
export function splitRejectedEvents(slice: Slice<EventWork>): Slice<EventWork>[] | undefined {
  if (slice.work.isHalf || slice.work.vehicles.length < 2) return undefined;
  return splitEvents({ ...slice, work: { ...slice.work, isHalf: true } });
}

export const categoriesOf = ({ categories }: EventOptions): number[] =>
  categories === 'all' ? EVENT_CATEGORIES.map(({ id }) => id) : categories;

/** A call for each category and slice. Every run reads an event again until it is older than `lookback`. */
export function eventCost(options: EventOptions, { vehicles, periodMs }: Workload): Cost {
  const readMs = options.lookback + periodMs;
  return {
    calls: usualSlices(readMs, vehicles) * categoriesOf(options).length,
    readsPerRecord: readMs / periodMs,
  };
}

/** Slices of a run that reads the same period of every vehicle, at full scale. */
function usualSlices(periodMs: number, vehicles: number): number {
  const days = periodMs / DAY_MS;
  const periods = Math.min(MOST_PERIODS, Math.ceil(periodMs / HOUR_MS) + 1);
  const fitting = idsThatFit(USUAL_URL_BYTES + periods * PERIOD_BYTES);
  const together = Math.min(vehicles, fitting, Math.floor(VEHICLE_DAYS / Math.min(1, days)));
  return Math.ceil(vehicles / Math.max(1, together)) * Math.ceil((days * together) / VEHICLE_DAYS);
}
