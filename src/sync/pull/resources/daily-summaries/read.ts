// Reads one slice of daily summaries: a day of vehicles or of drivers, in as few calls as their URLs allow. Adds the day
// and the owner to the rows.
import { isJsonObject } from '../../../../core/json.ts';
import { dailySummary as summaryCall } from '../../../../fleet/endpoints/daily-summary.ts';
import type { RowRange } from '../../../../warehouse/engine.ts';
import { dailySummary } from '../../../../warehouse/tables/daily-summary.ts';
import type { Slice } from '../../../slice.ts';
import type { SliceResult, Source } from '../../types.ts';
import { mergeByTitle, titleOf } from './merge.ts';
import { type Owners, ownersOf, unknownOwners } from './owners.ts';
import { callsOf, requestOf, type SummaryWork } from './plan.ts';

export async function readDailySummaries({ work }: Slice<SummaryWork>, source: Source): Promise<SliceResult> {
  const { subject, day } = work;
  const answers = await source.mapCalls(callsOf(work, source), (part, calling) =>
    calling.call(summaryCall, requestOf(work, part)),
  );
  const owners = await ownersOf(subject, source);
  const { records, rejected } = mergeByTitle({
    // A vehicle is in one answer only, so two rows with the same title belong to different vehicles.
    answers: subject === 'driver' ? answers : [answers.flat()],
    isAmbiguous: owners.isAmbiguous,
    isPart: work.isPart ?? false,
  });
  const unknown = [...new Set(records.map(titleOf))].filter(owners.isUnknown);
  return {
    loads: [
      {
        table: dailySummary,
        endpoint: summaryCall,
        records: records.map((record) => dated(record, work, owners)),
        rejected: rejected.map(({ record, reason }) => ({ record: dated(record, work, owners), reason })),
      },
    ],
    unknown: await unknownOwners(subject, day.date, unknown, source),
    fullRefresh: [{ table: dailySummary, range: rangeOf(work) }],
  };
}

function rangeOf({ subject, day, vehicles }: SummaryWork): RowRange {
  const range: RowRange = { day: { in: [day.date] }, subject: { in: [subject] } };
  return subject === 'vehicle' ? { ...range, vehicle_id: { in: vehicles } } : range;
}

const dated = (record: unknown, { subject, day }: SummaryWork, { ownerOf }: Owners): unknown =>
  isJsonObject(record) ? { ...record, day: day.date, subject, [`${subject}_id`]: ownerOf(titleOf(record)) } : record;
