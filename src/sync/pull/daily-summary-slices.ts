// How daily summaries are read: the rows carry no date, so a slice is one local day of all vehicles or of all
// drivers. Trailing days are read again, because the service recalculates them; the day that still goes on is
// covered only until now.
import { dailySummary as summaryCall } from '../../fleet/endpoints/daily-summary.ts';
import { coverageOf } from '../../warehouse/coverage.ts';
import { idsByLabel, knownIds } from '../../warehouse/dimension-keys.ts';
import type { Table } from '../../warehouse/table.ts';
import { dailySummary } from '../../warehouse/tables/daily-summary.ts';
import { driver } from '../../warehouse/tables/driver.ts';
import { vehicle } from '../../warehouse/tables/vehicle.ts';
import { chunksFor } from './chunks.ts';
import { type LocalDay, localDays } from './local-days.ts';
import type { Harvest, PlanContext, Slice, Source } from './pull-job.ts';
import { intervalOf, spansToRead } from './windows.ts';

type Subject = 'vehicle' | 'driver';

const SUBJECTS: Readonly<Record<Subject, { table: Table; labels: readonly string[] }>> = {
  vehicle: { table: vehicle, labels: ['plate', 'title'] },
  driver: { table: driver, labels: ['name'] },
};

/** Vehicles or drivers of one call. */
const MOST_IDS = 500;

interface SummaryWork {
  subject: Subject;
  day: LocalDay;
}

export async function planDailySummaries(
  context: PlanContext<{ since: number; lookback: number }>,
): Promise<Slice<SummaryWork>[]> {
  const { options, now, period, warehouse, coverage: name, timezone } = context;
  const coverage = await coverageOf(warehouse, name);
  return (Object.keys(SUBJECTS) as Subject[]).flatMap((subject) => {
    const spans = spansToRead({ now, ...options, period, covered: coverage.get(subject) ?? [] });
    return localDays(spans, timezone).map((day) => ({
      scope: `${subject} ${day.date}`,
      work: { subject, day },
    }));
  });
}

export async function readDailySummaries({ work }: Slice<SummaryWork>, source: Source): Promise<Harvest> {
  const { subject, day } = work;
  const { table, labels } = SUBJECTS[subject];
  const ids = await knownIds(source.warehouse, table);
  const parts = chunksFor(ids, MOST_IDS, (part) => source.urlBytes(summaryCall, requestOf(work, part)));
  const answers = await Promise.all(parts.map((part) => source.call(summaryCall, requestOf(work, part))));
  const owners = await idsByLabel(source.warehouse, table, labels);
  const records = answers.flat().map((record) => dated(record, work, owners));
  const readUntil = Math.min(day.end, Date.parse(source.readAt));
  return {
    loads: [{ table: dailySummary, record: summaryCall.record, records }],
    whole: [{ table: dailySummary, extent: { day: { in: [day.date] }, subject: { in: [subject] } } }],
    covers:
      readUntil > day.begin
        ? [{ scopes: [subject], ...intervalOf({ begin: day.begin, end: readUntil }) }]
        : [],
  };
}

function requestOf({ subject, day }: SummaryWork, ids: number[]) {
  const { beginAt, endAt } = intervalOf({ begin: day.begin, end: day.end - 1_000 });
  return {
    // To the last second of the day: a period that ends at midnight may be read as holding the next day.
    initial_date: beginAt,
    end_date: endAt,
    daily_type: 'aggregate' as const,
    aggregated_fields: [subject],
    vehicles_id: subject === 'vehicle' ? ids : [],
    driver_ids: subject === 'driver' ? ids : [],
  };
}

/** The record with what its call knew: day, subject, and who the title stands for. */
function dated(record: unknown, { subject, day }: SummaryWork, owners: ReadonlyMap<string, number>): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  const owner = owners.get(String((record as { title?: unknown }).title)) ?? null;
  return { ...record, day: day.date, subject, [`${subject}_id`]: owner };
}
