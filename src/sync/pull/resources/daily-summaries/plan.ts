// Which slices of daily summaries a run reads: the rows carry no date, so a slice is one local day, of vehicles or of drivers.
// Trailing days are read again, because the service recalculates them; the day that still goes on is covered only
// until now. Coverage is kept for each vehicle, so a new one gets its history: its own days, and those of the drivers
// over all vehicles, since its share was missing in them.
import { chunks } from '../../../../core/chunks.ts';
import { dailySummary as summaryCall } from '../../../../fleet/endpoints/daily-summary.ts';
import { coverageOf, type Interval } from '../../../../warehouse/control/coverage.ts';
import { knownIds } from '../../../../warehouse/queries/dimension-keys.ts';
import { vehicle } from '../../../../warehouse/tables/vehicle.ts';
import type { Cost, Workload } from '../../../job.ts';
import type { Slice } from '../../../slice.ts';
import { chunksFor } from '../../plan/chunks.ts';
import { type LocalDay, localDays } from '../../plan/local-days.ts';
import { driverScope, vehicleScope } from '../../plan/scopes.ts';
import { intervalOf, spansToRead } from '../../plan/windows.ts';
import { canBeAsked } from '../../records/record-id.ts';
import type { Plan, PlanContext, Source } from '../../types.ts';
import { daysWithKnownOwner, type Subject } from './owners.ts';

const DAY_MS = 86_400_000;
/** Vehicles of one call at full scale. */
const MOST_VEHICLES = 500;
/** Vehicles of one slice: as many rows are in memory. */
const MOST_OF_A_SLICE = 10_000;

export interface SummaryWork {
  subject: Subject;
  day: LocalDay;
  vehicles: number[];
  /** Vehicles of one call; MOST_VEHICLES unless told. */
  most?: number;
  /** The vehicles of the day are divided over several slices. */
  isPart?: boolean;
}

interface SummaryOptions {
  since: number;
  lookback: number;
}

/** A day of drivers is due again for every vehicle that it was not read with. */
const scopeOf = (subject: Subject, id: number): string =>
  subject === 'driver' ? driverScope(id) : vehicleScope(id);

/** `drivers` tells BI when their day was last read. */
const scopesOf = ({ subject, vehicles }: SummaryWork): string[] => [
  ...(subject === 'driver' ? ['drivers'] : []),
  ...vehicles.map((id) => scopeOf(subject, id)),
];

export async function planDailySummaries(context: PlanContext<SummaryOptions>): Promise<Plan<SummaryWork>> {
  const { options, now, period, warehouse, timezone, scale } = context;
  const coverage = await coverageOf(warehouse, context.coverageName);
  const vehicles = (await knownIds(warehouse, vehicle)).filter(canBeAsked);
  if (vehicles.length === 0) return { slices: [] };
  // Most vehicles have the same coverage, and days of a zone take long to tell; most days have the same vehicles.
  const daysOf = onceForEach(JSON.stringify, (covered: Interval[]) =>
    localDays(spansToRead({ now, ...options, period, covered }), timezone),
  );
  const sharedOf = onceForEach(withoutDay, (work: SummaryWork) => ({
    scopes: scopesOf(work),
    calls: callsOf(work, context).length,
  }));
  const days = localDays([{ begin: now - options.since, end: now }], timezone);
  const dueFor = async (subject: Subject): Promise<SummaryWork[]> => {
    const byDay = new Map<string, { day: LocalDay; ids: Set<number> }>();
    const add = (day: LocalDay, id: number): void => {
      const due = byDay.get(day.date) ?? { day, ids: new Set() };
      byDay.set(day.date, due);
      due.ids.add(id);
    };
    for (const id of vehicles)
      for (const day of daysOf(coverage.get(scopeOf(subject, id)) ?? [])) add(day, id);
    const owned = period === undefined ? await daysWithKnownOwner(subject, days[0]?.date ?? '', context) : [];
    for (const { date, owner } of owned) {
      const day = days.find((each) => each.date === date);
      if (day !== undefined && (subject === 'driver' || vehicles.includes(owner))) add(day, owner);
    }
    return [...byDay.values()]
      .sort((a, b) => a.day.begin - b.day.begin)
      .map(({ day, ids }) => ({ subject, day, vehicles: [...ids] }));
  };
  const works = [
    ...(await dueFor('vehicle')).flatMap(inBoundedSlices),
    // The figures of a driver are over all vehicles, so all of them belong to one slice.
    ...(await dueFor('driver')).map((work) => ({ ...work, vehicles })),
  ];
  const slices = works.map((work) => {
    // Of as many as there are: a scale of calls that are never full would teach nothing.
    const most = Math.ceil(Math.min(MOST_VEHICLES, work.vehicles.length) * scale);
    return sliceOf({ ...work, most }, sharedOf({ ...work, most }));
  });
  return { slices };
}

function onceForEach<Argument, Result>(
  nameOf: (argument: Argument) => string,
  work: (argument: Argument) => Result,
): (argument: Argument) => Result {
  const results = new Map<string, Result>();
  return (argument) => {
    const name = nameOf(argument);
    const result = results.get(name) ?? work(argument);
    results.set(name, result);
    return result;
  };
}

const withoutDay = ({ day: _, ...work }: SummaryWork): string => JSON.stringify(work);

const inBoundedSlices = (work: SummaryWork): SummaryWork[] =>
  chunks(work.vehicles, MOST_OF_A_SLICE).map((vehicles, _, all) => ({
    ...work,
    vehicles,
    isPart: all.length > 1,
  }));

/** A day whose figures could not be read again must not pass for final. */
function sliceOf(
  work: SummaryWork,
  { scopes, calls }: { scopes: string[]; calls: number },
): Slice<SummaryWork> {
  const { subject, day, vehicles, isPart } = work;
  const part = isPart === true ? ` ${vehicles[0]}-${vehicles.at(-1)} (${vehicles.length})` : '';
  return {
    scope: `${subject} ${day.date}${part}`,
    work,
    covers: [{ scopes, ...intervalOf(day) }],
    staysDue: true,
    calls,
  };
}

/** The same in calls of half as many vehicles: rows of one title can be told apart or added up in one slice only. */
export function splitDailySummaries(slice: Slice<SummaryWork>): Slice<SummaryWork>[] | undefined {
  const { scope, work } = slice;
  const asked = Math.min(work.most ?? MOST_VEHICLES, work.vehicles.length);
  if (asked < 2) return undefined;
  const most = Math.ceil(asked / 2);
  return [{ ...slice, scope: `${scope.replace(SMALLER_CALLS, '')} by ${most}`, work: { ...work, most } }];
}

const SMALLER_CALLS = / by \d+$/;

/**
 * Each day in reach for every so many vehicles, once by vehicle and once by driver. A day is met by every run until it is
 * out of reach.
 */
export function summaryCost(
  { lookback }: Pick<SummaryOptions, 'lookback'>,
  { vehicles, periodMs }: Workload,
): Cost {
  const days = Math.ceil(lookback / DAY_MS) + 1;
  return { calls: days * 2 * Math.ceil(vehicles / MOST_VEHICLES), readings: (days * DAY_MS) / periodMs };
}

/** The vehicles of each call. */
export const callsOf = (work: SummaryWork, { urlBytes }: Pick<Source, 'urlBytes'>): number[][] =>
  chunksFor(work.vehicles, work.most ?? MOST_VEHICLES, (part) =>
    urlBytes(summaryCall, requestOf(work, part)),
  );

export function requestOf({ subject, day }: SummaryWork, vehicles: number[]) {
  // To the last second of the day: a period that ends at midnight may be read as holding the next day.
  const { beginAt, endAt } = intervalOf({ begin: day.begin, end: day.end - 1_000 });
  return {
    initial_date: beginAt,
    end_date: endAt,
    daily_type: 'aggregate' as const,
    aggregated_fields: [subject],
    vehicles_id: vehicles,
  };
}
