// Plans the slices of a daily-summary run. The rows have no date, so a slice is one local day of vehicles or of drivers.
// Trailing days are read again, because the service recalculates them; the current day is covered only until now. Coverage
// is kept for each vehicle, so a new vehicle gets its history: its own days, and the days of drivers over all vehicles,
// because its share was missing in them. Days of drivers are read with every vehicle that they were ever read with.

import { chunks } from '../../../../core/chunks.ts';
import { DAY_MS } from '../../../../core/time/durations.ts';
import { type LocalDay, localDays } from '../../../../core/time/local-days.ts';
import { dailySummary as summaryCall } from '../../../../fleet/endpoints/daily-summary.ts';
import { coverageOf, type ScopedInterval, scopesLike } from '../../../../warehouse/control/coverage.ts';
import { knownIds } from '../../../../warehouse/queries/dimension-keys.ts';
import { vehicle } from '../../../../warehouse/tables/vehicle.ts';
import type { Cost, Workload } from '../../../job.ts';
import type { Slice } from '../../../slice.ts';
import { chunksFor } from '../../plan/chunks.ts';
import { driverScope, vehicleScope } from '../../plan/scopes.ts';
import { TOO_MANY } from '../../plan/slice-limits.ts';
import { intervalOf, spansToRead } from '../../plan/windows.ts';
import { askableId, canBeAsked } from '../../records/record-id.ts';
import type { Plan, PlanContext, Source, WarehouseReader } from '../../types.ts';
import { daysWithKnownOwner, type Subject } from './owners.ts';

/** Most vehicles of one call, at full scale. */
const MOST_VEHICLES = 500;
/** Most vehicles of one slice, because each has a row in memory. */
const VEHICLES_PER_SLICE = 10_000;

export interface SummaryWork {
  subject: Subject;
  day: LocalDay;
  vehicles: number[];
  /** Most vehicles of one call; default MOST_VEHICLES. */
  most?: number;
  /** The vehicles of the day are divided over several slices. */
  isPart?: boolean;
}

interface SummaryOptions {
  since: number;
  lookback: number;
}

/** Drivers have a scope for each vehicle, so that their day is due again when a vehicle was not included. */
const scopeOf = (subject: Subject, id: number): string => (subject === 'driver' ? driverScope(id) : vehicleScope(id));

/** The scope `drivers` shows BI tools when the day of the drivers was last read. */
const scopesOf = ({ subject, vehicles }: SummaryWork): string[] => [
  ...(subject === 'driver' ? ['drivers'] : []),
  ...vehicles.map((id) => scopeOf(subject, id)),
];

export async function planDailySummaries(context: PlanContext<SummaryOptions>): Promise<Plan<SummaryWork>> {
  const { options, now, period, warehouse, timezone, scale } = context;
  const coverage = await coverageOf(warehouse, context.coverageName);
  const vehicles = (await knownIds(warehouse, vehicle)).filter(canBeAsked);
  const idsOf = { vehicle: vehicles, driver: await withReadBefore(vehicles, warehouse) };
  if (idsOf.driver.length === 0) return { slices: [] };
  const days = localDays([{ begin: now - options.since, end: now }], timezone);
  const dueFor = async (subject: Subject): Promise<SummaryWork[]> => {
    const byDay = new Map<string, { day: LocalDay; ids: Set<number> }>();
    const add = (day: LocalDay, id: number): void => {
      const due = byDay.get(day.date) ?? { day, ids: new Set() };
      byDay.set(day.date, due);
      due.ids.add(id);
    };
    // Computing local days is slow, and most vehicles have the same coverage.
    const alike = Map.groupBy(idsOf[subject], (id) => JSON.stringify(coverage.get(scopeOf(subject, id)) ?? []));
    for (const [covered, ids] of alike) {
      const spans = spansToRead({ now, ...options, period, covered: JSON.parse(covered) });
      for (const day of localDays(spans, timezone)) for (const id of ids) add(day, id);
    }
    const owned = period === undefined ? await daysWithKnownOwner(subject, days[0]?.date ?? '', context) : [];
    for (const { date, owner } of owned) {
      const day = days.find((each) => each.date === date);
      if (day !== undefined && (subject === 'driver' || vehicles.includes(owner))) add(day, owner);
    }
    return [...byDay.values()]
      .sort((a, b) => a.day.begin - b.day.begin)
      .map(({ day, ids }) => ({ subject, day, vehicles: [...ids].sort((a, b) => a - b) }));
  };
  const works = [
    ...(await dueFor('vehicle')).flatMap(inBoundedSlices),
    // The figures of a driver are over all vehicles, so one slice must include all vehicles.
    ...(await dueFor('driver')).map((work) => ({ ...work, vehicles: idsOf.driver })),
  ];
  // Most days have the same vehicles, and share the list of their scopes.
  const shared = new Map<string, SliceFacts>();
  const slices = works.map(({ day, ...group }) => {
    // Scale the actual number of vehicles: if calls were never full, scaling MOST_VEHICLES would not make them smaller.
    const most = Math.ceil(Math.min(MOST_VEHICLES, group.vehicles.length) * scale);
    const work = { ...group, day, most };
    const name = JSON.stringify(group);
    const facts = shared.get(name) ?? { scopes: scopesOf(work), calls: callsOf(work, context).length };
    shared.set(name, facts);
    return sliceOf(work, facts);
  });
  return { slices };
}

/**
 * Also the vehicles that days of drivers were read with before, although their rows were deleted: without their share, the
 * figures of a driver would be too small, and a driver of no other vehicle would count as missing.
 */
async function withReadBefore(vehicles: readonly number[], warehouse: WarehouseReader): Promise<number[]> {
  const prefix = driverScope('%').slice(0, -1);
  const scopes = await scopesLike(warehouse, driverScope('%'));
  const before = scopes.flatMap((scope) => askableId({ id: scope.slice(prefix.length) }) ?? []);
  // A long id is a text, here as in the table.
  return [...new Set([...vehicles, ...(before as number[])])];
}

const inBoundedSlices = (work: SummaryWork): SummaryWork[] =>
  chunks(work.vehicles, VEHICLES_PER_SLICE).map((vehicles, _, all) => ({
    ...work,
    vehicles,
    isPart: all.length > 1,
  }));

type SliceFacts = Pick<ScopedInterval, 'scopes'> & Required<Pick<Slice, 'calls'>>;

function sliceOf(work: SummaryWork, { scopes, calls }: SliceFacts): Slice<SummaryWork> {
  const { subject, day, vehicles, isPart } = work;
  const part = isPart === true ? ` ${vehicles[0]}-${vehicles.at(-1)} (${vehicles.length})` : '';
  return {
    scope: `${subject} ${day.date}${part}`,
    work,
    covers: [{ scopes, ...intervalOf(day) }],
    calls,
  };
}

/**
 * The same slice with half as many vehicles per call: rows of one title can be distinguished or added up only in one slice. That
 * makes answers smaller, but neither records nor calls fewer.
 */
export function splitDailySummaries(slice: Slice<SummaryWork>, code: string): Slice<SummaryWork>[] | undefined {
  const { scope, work } = slice;
  const asked = Math.min(work.most ?? MOST_VEHICLES, work.vehicles.length);
  if (asked < 2 || code === TOO_MANY) return undefined;
  const most = Math.ceil(asked / 2);
  return [{ ...slice, scope: `${scope.replace(SMALLER_CALLS, '')} by ${most}`, work: { ...work, most } }];
}

const SMALLER_CALLS = / by \d+$/;

/**
 * For each day in reach, a call for every MOST_VEHICLES vehicles, once by vehicle and once by driver. Every run reads a day
 * again until it is out of reach.
 */
export function summaryCost({ lookback }: Pick<SummaryOptions, 'lookback'>, { vehicles, periodMs }: Workload): Cost {
  const days = Math.ceil(lookback / DAY_MS) + 1;
  return { calls: days * 2 * Math.ceil(vehicles / MOST_VEHICLES), readsPerRecord: (days * DAY_MS) / periodMs };
}

/** The vehicles of each call. */
export const callsOf = (work: SummaryWork, { urlBytes }: Pick<Source, 'urlBytes'>): number[][] =>
  chunksFor(work.vehicles, work.most ?? MOST_VEHICLES, (part) => urlBytes(summaryCall, requestOf(work, part)));

export function requestOf({ subject, day }: SummaryWork, vehicles: number[]) {
  // End at the last second of the day: the service may include the next day in a period that ends at midnight.
  const { beginAt, endAt } = intervalOf({ begin: day.begin, end: day.end - 1_000 });
  return {
    initial_date: beginAt,
    end_date: endAt,
    daily_type: 'aggregate' as const,
    aggregated_fields: [subject],
    vehicles_id: vehicles,
  };
}
