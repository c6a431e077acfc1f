// Which slices of itineraries a run reads: the period of the run, in one piece where that is not too much, since
// an itinerary lasts for days and a cut would part it from the search that looks for it whole.
import type { Interval } from '../../../../warehouse/coverage.ts';
import type { Slice } from '../../../slice.ts';
import { equalPieces, halvedWindow, type WindowOptions, windowsToRead } from '../../plan/window-slices.ts';
import { intervalOf, type Span } from '../../plan/windows.ts';
import type { PlanContext } from '../../types.ts';

const DAY_MS = 86_400_000;
const LONGEST_MS = 60 * DAY_MS;
/** A search may mean itineraries that lie within the period: a piece looks this far beyond an inner cut. */
const BEYOND_CUT_MS = 7 * DAY_MS;

export interface ItineraryOptions extends WindowOptions {
  ahead: number;
}

/** Itineraries that start in the interval. */
export interface ItineraryWork extends Interval {
  /** End of the search; later than `endAt` where the period was cut. */
  searchUntil: string;
  /** Also looks after known ones that start before it and have not ended by then. */
  earlier: boolean;
  /** Also looks after known ones that start after it. */
  later: boolean;
}

export async function planItineraries(
  context: PlanContext<ItineraryOptions>,
): Promise<Slice<ItineraryWork>[]> {
  const live = context.period === undefined;
  const spans = await windowsToRead(context);
  const last = spans.at(-1);
  return spans.flatMap((span) =>
    equalPieces(span, LONGEST_MS * context.scale).map((piece) =>
      sliceOf(piece, span, {
        earlier: live && piece.begin === last?.begin,
        later: live && piece.end === last?.end,
      }),
    ),
  );
}

/** Watching single itineraries outside of the search is rare. */
export const usualItineraryCalls = ({ lookback, ahead }: ItineraryOptions): number =>
  Math.ceil((lookback + ahead) / LONGEST_MS);

export const furtherItineraryCalls = (): string =>
  'one or two for each itinerary that is known and that the search does not bring';

function sliceOf(piece: Span, span: Span, watch: Pick<ItineraryWork, 'earlier' | 'later'>) {
  const { endAt: searchUntil } = intervalOf({ ...piece, end: Math.min(span.end, piece.end + BEYOND_CUT_MS) });
  return named({ ...intervalOf(piece), searchUntil, ...watch });
}

const named = (work: ItineraryWork): Slice<ItineraryWork> => ({
  scope: `${work.beginAt}/${work.endAt}`,
  work,
});

export function splitItineraries({ work }: Slice<ItineraryWork>): Slice<ItineraryWork>[] | undefined {
  const parts = halvedWindow(work);
  return parts?.map((part, index) =>
    named({
      ...work,
      ...part,
      searchUntil: index === parts.length - 1 ? work.searchUntil : beyond(part.endAt, work.searchUntil),
      earlier: work.earlier && index === 0,
      later: work.later && index === parts.length - 1,
    }),
  );
}

function beyond(endAt: string, searchUntil: string): string {
  const until = intervalOf({ begin: 0, end: Date.parse(endAt) + BEYOND_CUT_MS }).endAt;
  return until < searchUntil ? until : searchUntil;
}
