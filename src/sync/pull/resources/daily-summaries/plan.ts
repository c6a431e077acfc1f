// How daily summaries are read: the rows carry no date, so a slice is one local day, of vehicles or of drivers.
// Trailing days are read again, because the service recalculates them; the day that still goes on is covered only
// until now. Coverage is kept for each vehicle, so a new one gets its history: its own days, and those of the drivers
// over all vehicles, since its share was missing in them.
import { pieces } from '../../../../core/pieces.ts';
import { dailySummary as summaryCall } from '../../../../fleet/endpoints/daily-summary.ts';
import { coverageOf, type Interval } from '../../../../warehouse/coverage.ts';
import { knownIds } from '../../../../warehouse/dimension-keys.ts';
import type { RowRange } from '../../../../warehouse/engine.ts';
import { dailySummary } from '../../../../warehouse/tables/daily-summary.ts';
import { vehicle } from '../../../../warehouse/tables/vehicle.ts';
import type { Workload } from '../../../job.ts';
import type { Slice } from '../../../slice.ts';
import { chunksFor } from '../../plan/chunks.ts';
import { type LocalDay, localDays } from '../../plan/local-days.ts';
import { intervalOf, spansToRead } from '../../plan/windows.ts';
import { canBeAsked } from '../../presets/unlisted.ts';
import type { Covers, PlanContext, SliceResult, Source } from '../../types.ts';
import { mergeByTitle, titleOf } from './merge.ts';
import { daysWithKnownOwner, type Owners, ownersOf, type Subject, unknownOwners } from './owners.ts';

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
export const summaryScope = (subject: Subject, vehicleId: number | '%'): string =>
  subject === 'driver' ? `drivers of vehicle ${vehicleId}` : `vehicle ${vehicleId}`;

/** `drivers` tells BI when their day was last read. */
const scopesOf = ({ subject, vehicles }: SummaryWork): string[] => [
  ...(subject === 'driver' ? ['drivers'] : []),
  ...vehicles.map((id) => summaryScope(subject, id)),
];

export async function planDailySummaries(
  context: PlanContext<SummaryOptions>,
): Promise<Slice<SummaryWork>[]> {
  const { options, now, period, warehouse, timezone, scale } = context;
  const coverage = await coverageOf(warehouse, context.coverage);
  const vehicles = (await knownIds(warehouse, vehicle)).filter(canBeAsked);
  if (vehicles.length === 0) return [];
  const daysOf = onceForEach((covered: Interval[]) =>
    localDays(spansToRead({ now, ...options, period, covered }), timezone),
  );
  const days = localDays([{ begin: now - options.since, end: now }], timezone);
  const dueFor = async (subject: Subject): Promise<SummaryWork[]> => {
    const byDay = new Map<string, { day: LocalDay; ids: Set<number> }>();
    const add = (day: LocalDay, id: number): void => {
      const due = byDay.get(day.date) ?? { day, ids: new Set() };
      byDay.set(day.date, due);
      due.ids.add(id);
    };
    for (const id of vehicles)
      for (const day of daysOf(coverage.get(summaryScope(subject, id)) ?? [])) add(day, id);
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
  return works.map((work) =>
    // Of as many as there are: a scale of calls that are never full would teach nothing.
    sliceOf({ ...work, most: Math.ceil(Math.min(MOST_VEHICLES, work.vehicles.length) * scale) }),
  );
}

/** Most vehicles have the same coverage, and days of a zone take long to tell. */
function onceForEach<Argument, Result>(work: (argument: Argument) => Result): (argument: Argument) => Result {
  const results = new Map<string, Result>();
  return (argument) => {
    const name = JSON.stringify(argument);
    const result = results.get(name) ?? work(argument);
    results.set(name, result);
    return result;
  };
}

const inBoundedSlices = (work: SummaryWork): SummaryWork[] =>
  pieces(work.vehicles, MOST_OF_A_SLICE).map((vehicles, _, all) => ({
    ...work,
    vehicles,
    isPart: all.length > 1,
  }));

function sliceOf(work: SummaryWork): Slice<SummaryWork> {
  const { subject, day, vehicles, isPart } = work;
  const part = isPart === true ? ` ${vehicles[0]}-${vehicles.at(-1)} (${vehicles.length})` : '';
  return { scope: `${subject} ${day.date}${part}`, work };
}

/** The same in calls of half as many vehicles: rows of one title can be told apart or added up in one slice only. */
export function splitDailySummaries({ scope, work }: Slice<SummaryWork>): Slice<SummaryWork>[] | undefined {
  const asked = Math.min(work.most ?? MOST_VEHICLES, work.vehicles.length);
  if (asked < 2) return undefined;
  const most = Math.ceil(asked / 2);
  return [{ scope: `${scope.replace(SMALLER_CALLS, '')} by ${most}`, work: { ...work, most } }];
}

const SMALLER_CALLS = / by \d+$/;

/** A day whose figures could not be read again must not pass for final. */
export const daysDueAgain = ({ work }: Slice<SummaryWork>): Covers[] => [
  { scopes: scopesOf(work), ...intervalOf(work.day) },
];

/** Each day in reach for every so many vehicles, once by vehicle and once by driver. */
export const usualSummaryCalls = ({ lookback }: SummaryOptions, { vehicles }: Workload): number =>
  daysInReach(lookback) * 2 * Math.ceil(vehicles / MOST_VEHICLES);

/** A day is met by every run until it is out of reach. */
export const usualSummaryReadings = ({ lookback }: SummaryOptions, { periodMs }: Workload): number =>
  (daysInReach(lookback) * DAY_MS) / periodMs;

const daysInReach = (lookback: number): number => Math.ceil(lookback / DAY_MS) + 1;

export async function readDailySummaries({ work }: Slice<SummaryWork>, source: Source): Promise<SliceResult> {
  const { subject, day } = work;
  const answers = await source.mapCalls(callsOf(work, source), (part, calling) =>
    calling.call(summaryCall, requestOf(work, part)),
  );
  const owners = await ownersOf(subject, source);
  const { records, refused } = mergeByTitle({
    // A vehicle is in one answer only, so two rows with its title are never one vehicle's.
    answers: subject === 'driver' ? answers : [answers.flat()],
    isAmbiguous: owners.isAmbiguous,
    isPart: work.isPart ?? false,
  });
  const unknown = [...new Set(records.map(titleOf))].filter(owners.isUnknown);
  const readUntil = Math.min(day.end, Date.parse(source.readAt));
  const covered = intervalOf({ begin: day.begin, end: readUntil });
  return {
    loads: [
      {
        table: dailySummary,
        endpoint: summaryCall,
        records: records.map((record) => dated(record, work, owners)),
        refused: refused.map(({ record, reason }) => ({ record: dated(record, work, owners), reason })),
      },
    ],
    unknown: await unknownOwners(subject, day.date, unknown, source),
    fullRefresh: [{ table: dailySummary, range: rangeOf(work) }],
    covers: readUntil > day.begin ? [{ scopes: scopesOf(work), ...covered }] : [],
  };
}

/** The vehicles of each call. */
const callsOf = (work: SummaryWork, { urlBytes }: Pick<Source, 'urlBytes'>): number[][] =>
  chunksFor(work.vehicles, work.most ?? MOST_VEHICLES, (part) =>
    urlBytes(summaryCall, requestOf(work, part)),
  );

export const summaryCalls = ({ work }: Slice<SummaryWork>, context: PlanContext<SummaryOptions>): number =>
  callsOf(work, context).length;

function rangeOf({ subject, day, vehicles }: SummaryWork): RowRange {
  const range: RowRange = { day: { in: [day.date] }, subject: { in: [subject] } };
  return subject === 'vehicle' ? { ...range, vehicle_id: { in: vehicles } } : range;
}

function requestOf({ subject, day }: SummaryWork, vehicles: number[]) {
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

function dated(record: unknown, { subject, day }: SummaryWork, { ownerOf }: Owners): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  const owner = ownerOf(titleOf(record));
  return { ...record, day: day.date, subject, [`${subject}_id`]: owner };
}
