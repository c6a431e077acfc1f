// Plans the slices of a checklist run: the search windows, and failed pictures that are due again.

import { z } from 'zod';
import { chunks } from '../../../../core/chunks.ts';
import { durationOption } from '../../../../core/time/duration-option.ts';
import { DAY_MS } from '../../../../core/time/durations.ts';
import { checklist as checklistById } from '../../../../fleet/endpoints/checklist.ts';
import { checklists } from '../../../../fleet/endpoints/checklists.ts';
import { checklist } from '../../../../warehouse/tables/checklist.ts';
import type { Cost, Workload } from '../../../job.ts';
import type { Slice } from '../../../slice.ts';
import { type WindowWork, windowed } from '../../presets/windowed.ts';
import type { Plan, PlanContext } from '../../types.ts';
import { picturesToRetry, type WantedPicture } from './pictures.ts';

const PICTURES_PER_SLICE = 100;

/** The summaries of checklists, by the instant they were filled in. */
export const summaries = windowed(checklists, checklistById, checklist, {
  at: 'date_executed',
  request: ({ beginAt, endAt }) => ({
    date_time_start: beginAt,
    date_time_end: endAt,
    includes: ['user', 'checklist_form'],
  }),
  // Longer than the default lookback, so that a usual run needs one search.
  longestMs: 3 * DAY_MS,
  lookback: '2d',
});

export const checklistOptions = summaries.options.extend({
  settle: durationOption(
    '48h',
    'Answers of a checklist older than this are read again only if its summary changes (default 48h).',
  ),
  max_picture_mb: z
    .number()
    .positive()
    .default(10)
    .describe('Largest picture, in MiB; a larger one is given up for good (default 10).'),
});

export type ChecklistOptions = z.output<typeof checklistOptions>;

/** Checklists that were filled in within a period, or single pictures. */
export type ChecklistWork = WindowWork | { pictures: WantedPicture[] };

const OPENING = 'one for each checklist to open or that the search does not return, and one for each new picture';

export async function planChecklists(context: PlanContext<ChecklistOptions>): Promise<Plan<ChecklistWork>> {
  const { slices } = await summaries.plan(context);
  const windows = slices.map((slice) => ({ ...slice, furtherCalls: OPENING }));
  return { slices: [...windows, ...(context.period === undefined ? await pictureSlices(context) : [])] };
}

async function pictureSlices({ warehouse, now }: PlanContext<ChecklistOptions>) {
  const due = await picturesToRetry(warehouse, now);
  return chunks(due, PICTURES_PER_SLICE).map(
    (pictures, index): Slice<ChecklistWork> => ({
      scope: `failed pictures from ${index * PICTURES_PER_SLICE + 1}`,
      work: { pictures },
      calls: pictures.length,
    }),
  );
}

export const splitChecklists = ({ work, ...slice }: Slice<ChecklistWork>): Slice<ChecklistWork>[] | undefined =>
  'pictures' in work ? undefined : summaries.split({ ...slice, work });

/**
 * The searches, a call for each checklist younger than `settle`, and a call for each new picture. Every run reads a
 * checklist again until `settle` has passed.
 */
export function checklistCost(options: ChecklistOptions, load: Workload): Cost {
  const { vehicles, periodMs, checklistsADay = 1, picturesADay = 0 } = load;
  const unsettledDays = Math.ceil(options.settle / DAY_MS);
  const opened = vehicles * checklistsADay * unsettledDays;
  const pictures = (vehicles * picturesADay * periodMs) / DAY_MS;
  return {
    calls: summaries.cost(options, load).calls + opened + pictures,
    readsPerRecord: (unsettledDays * DAY_MS) / periodMs,
  };
}
