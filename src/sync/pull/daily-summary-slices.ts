// How daily summaries are read: the rows carry no date, so a slice is one local day, of vehicles or of drivers.
// Trailing days are read again, because the service recalculates them; the day that still goes on is covered only
// until now. Coverage of vehicles is kept for each, so a new one gets its history.
import { dailySummary as summaryCall } from '../../fleet/endpoints/daily-summary.ts';
import { coverageOf } from '../../warehouse/coverage.ts';
import { idsByLabel, knownIds } from '../../warehouse/dimension-keys.ts';
import type { Extent } from '../../warehouse/engine.ts';
import type { Table } from '../../warehouse/table.ts';
import { dailySummary } from '../../warehouse/tables/daily-summary.ts';
import { driver } from '../../warehouse/tables/driver.ts';
import { vehicle } from '../../warehouse/tables/vehicle.ts';
import type { Workload } from '../job.ts';
import { chunksFor } from './chunks.ts';
import { type LocalDay, localDays } from './local-days.ts';
import type { Harvest, PlanContext, Slice, Source } from './pull-job.ts';
import { canBeAsked } from './unlisted.ts';
import { intervalOf, spansToRead } from './windows.ts';

type Subject = 'vehicle' | 'driver';

const SUBJECTS: Readonly<Record<Subject, { table: Table; labels: readonly string[] }>> = {
  vehicle: { table: vehicle, labels: ['plate', 'title'] },
  driver: { table: driver, labels: ['name'] },
};

const DAY_MS = 86_400_000;
/** Vehicles of one call. */
const MOST_VEHICLES = 500;

export interface SummaryWork {
  subject: Subject;
  day: LocalDay;
  vehicles: number[];
}

interface SummaryOptions {
  since: number;
  lookback: number;
}

const scopesOf = ({ subject, vehicles }: Pick<SummaryWork, 'subject' | 'vehicles'>): string[] =>
  subject === 'driver' ? ['drivers'] : vehicles.map((id) => `vehicle ${id}`);

export async function planDailySummaries(
  context: PlanContext<SummaryOptions>,
): Promise<Slice<SummaryWork>[]> {
  const { options, now, period, warehouse, timezone } = context;
  const coverage = await coverageOf(warehouse, context.coverage);
  const vehicles = (await knownIds(warehouse, vehicle)).filter(canBeAsked);
  const daysOf = (scope: string): LocalDay[] =>
    localDays(spansToRead({ now, ...options, period, covered: coverage.get(scope) ?? [] }), timezone);
  const byDay = new Map<string, SummaryWork>();
  for (const id of vehicles) {
    for (const day of daysOf(`vehicle ${id}`)) {
      const work = byDay.get(day.date) ?? { subject: 'vehicle', day, vehicles: [] };
      byDay.set(day.date, work);
      work.vehicles.push(id);
    }
  }
  // The figures of a driver are over all vehicles, so all of them are asked for together.
  const drivers = vehicles.length === 0 ? [] : daysOf('drivers');
  const works = [...byDay.values(), ...drivers.map((day) => ({ subject: 'driver' as const, day, vehicles }))];
  return works.map((work) => ({ scope: `${work.subject} ${work.day.date}`, work }));
}

/** Each day in reach once for drivers, and once for every so many vehicles. */
export const usualSummaryCalls = ({ lookback }: SummaryOptions, { vehicles }: Workload): number =>
  (Math.ceil(lookback / DAY_MS) + 1) * (1 + Math.ceil(vehicles / MOST_VEHICLES));

export async function readDailySummaries({ work }: Slice<SummaryWork>, source: Source): Promise<Harvest> {
  const { subject, day, vehicles } = work;
  const { table, labels } = SUBJECTS[subject];
  const bytesOf = (part: number[]) => source.urlBytes(summaryCall, requestOf(work, part));
  const parts = subject === 'driver' ? [vehicles] : chunksFor(vehicles, MOST_VEHICLES, bytesOf);
  const answers = await Promise.all(parts.map((part) => source.call(summaryCall, requestOf(work, part))));
  const owners = await idsByLabel(source.warehouse, table, labels);
  const ownerOf = (title: string) =>
    ownerByLabel(owners, labels, (label) => source.asStored(table, label, title));
  const { records, refused } = tellApart(answers.flat(), work, ownerOf);
  const readUntil = Math.min(day.end, Date.parse(source.readAt));
  const covered = intervalOf({ begin: day.begin, end: readUntil });
  return {
    loads: [{ table: dailySummary, record: summaryCall.record, records, refused }],
    whole: [{ table: dailySummary, extent: extentOf(work) }],
    covers: readUntil > day.begin ? [{ scopes: scopesOf(work), ...covered }] : [],
  };
}

function extentOf({ subject, day, vehicles }: SummaryWork): Extent {
  const extent: Extent = { day: { in: [day.date] }, subject: { in: [subject] } };
  return subject === 'vehicle' ? { ...extent, vehicle_id: { in: vehicles } } : extent;
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

/** The records with what their call knew. Two rows with one title cannot be told apart: neither is loaded. */
function tellApart(answers: readonly unknown[], work: SummaryWork, ownerOf: OwnerOf) {
  const titles = new Map<string, number>();
  for (const record of answers) titles.set(titleOf(record), (titles.get(titleOf(record)) ?? 0) + 1);
  const isShared = (record: unknown): boolean => (titles.get(titleOf(record)) ?? 0) > 1;
  const reason = 'title: two rows of one day have it, so that neither can be told from the other';
  return {
    records: answers.filter((record) => !isShared(record)).map((record) => dated(record, work, ownerOf)),
    refused: answers.filter(isShared).map((record) => ({ record: dated(record, work, ownerOf), reason })),
  };
}

type OwnerOf = (title: string) => number | null;

/** By any of the labels, as the warehouse holds them. */
function ownerByLabel(
  owners: ReadonlyMap<string, number>,
  labels: readonly string[],
  asStored: (label: string) => string | null,
): number | null {
  for (const label of labels) {
    const owner = owners.get(asStored(label) ?? '');
    if (owner !== undefined) return owner;
  }
  return null;
}

const titleOf = (record: unknown): string => String((record as { title?: unknown } | null)?.title);

function dated(record: unknown, { subject, day }: SummaryWork, ownerOf: OwnerOf): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  const owner = ownerOf(titleOf(record));
  return { ...record, day: day.date, subject, [`${subject}_id`]: owner };
}
