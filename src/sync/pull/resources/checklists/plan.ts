// Which slices of checklists a run reads: the period of the run in pieces of some days, and pictures that
// failed and are due again.
import { z } from 'zod';
import { durationOption } from '../../../../core/duration-option.ts';
import { lookbackOption } from '../../../../core/reach-limits.ts';
import type { Interval } from '../../../../warehouse/coverage.ts';
import type { Workload } from '../../../job.ts';
import type { Slice } from '../../../slice.ts';
import { equalPieces, halvedWindow, windowsToRead } from '../../plan/window-slices.ts';
import { intervalOf } from '../../plan/windows.ts';
import type { PlanContext } from '../../types.ts';
import { picturesToRetry, type WantedPicture } from './pictures.ts';

const DAY_MS = 86_400_000;
/** Longer than the usual lookback, so that a run with nothing new is one search. */
const LONGEST_MS = 3 * DAY_MS;
const PICTURES_A_SLICE = 100;

export const checklistOptions = z.object({
  since: durationOption('30d', 'How far back a first run reads (default 30d).'),
  lookback: lookbackOption('2d', 'How far behind the edge each run reads again (default 2d).'),
  settle: durationOption(
    '48h',
    'Answers of a checklist older than this are read again only if its summary changes (default 48h).',
  ),
  max_picture_mb: z.number().positive().default(10).describe('Largest picture, in MiB (default 10).'),
});

export type ChecklistOptions = z.output<typeof checklistOptions>;

/** Checklists that were filled in within a period, or single pictures. */
export type ChecklistWork = Interval | { pictures: WantedPicture[] };

export async function planChecklists(
  context: PlanContext<ChecklistOptions>,
): Promise<Slice<ChecklistWork>[]> {
  const spans = await windowsToRead(context);
  const windows = spans.flatMap((span) => equalPieces(span, LONGEST_MS * context.scale)).map(intervalOf);
  return [...windows.map(windowSlice), ...(context.period === undefined ? await pictureSlices(context) : [])];
}

/** A search for each piece, a call for each checklist of an unsettled day, and one for each new picture. */
export function usualChecklistCalls({ lookback, settle }: ChecklistOptions, load: Workload): number {
  const { vehicles, periodMs, checklistsADay = 1, picturesADay = 0 } = load;
  const searches = Math.ceil((lookback + periodMs) / LONGEST_MS);
  const opened = vehicles * checklistsADay * Math.ceil(settle / DAY_MS);
  return searches + opened + (vehicles * picturesADay * periodMs) / DAY_MS;
}

/** A checklist is met by every run until it is settled. */
export const usualChecklistReadings = ({ settle }: ChecklistOptions, { periodMs }: Workload): number =>
  (Math.ceil(settle / DAY_MS) * DAY_MS) / periodMs;

export const checklistCalls = ({ work }: Slice<ChecklistWork>): number =>
  'pictures' in work ? work.pictures.length : 1;

export const furtherChecklistCalls = ({ work }: Slice<ChecklistWork>): string | undefined =>
  'pictures' in work
    ? undefined
    : 'one for each checklist to open or that the search does not bring, and one for each new picture';

const windowSlice = (window: Interval): Slice<ChecklistWork> => ({
  scope: `${window.beginAt}/${window.endAt}`,
  work: window,
});

async function pictureSlices({ warehouse, now }: PlanContext<ChecklistOptions>) {
  const due = await picturesToRetry(warehouse, now);
  const slices: Slice<ChecklistWork>[] = [];
  for (let start = 0; start < due.length; start += PICTURES_A_SLICE) {
    const pictures = due.slice(start, start + PICTURES_A_SLICE);
    slices.push({ scope: `failed pictures from ${start + 1}`, work: { pictures } });
  }
  return slices;
}

export const splitChecklists = ({ work }: Slice<ChecklistWork>): Slice<ChecklistWork>[] | undefined =>
  'pictures' in work ? undefined : halvedWindow(work)?.map(windowSlice);
