// Reads one slice of events: a call for each category. When a vehicle reports again after a long silence, the period of
// that silence is read again, because a device that was offline may deliver its past events late.

import { asRoadbookError } from '../../../../core/errors.ts';
import { isoInstant } from '../../../../core/time/clock.ts';
import { DAY_MS } from '../../../../core/time/durations.ts';
import { events } from '../../../../fleet/endpoints/events.ts';
import type { ScopedInterval } from '../../../../warehouse/control/coverage.ts';
import type { Row } from '../../../../warehouse/engine.ts';
import { recordColumns } from '../../../../warehouse/schema/table.ts';
import { event } from '../../../../warehouse/tables/event.ts';
import { knownLimit } from '../../../probe/answers.ts';
import type { Slice } from '../../../slice.ts';
import { isRejected, tooMany } from '../../plan/slice-limits.ts';
import { intervalOf, type Span, without } from '../../plan/windows.ts';
import { withRequested } from '../../records/record-id.ts';
import type { FullRefreshRange } from '../../records/types.ts';
import type { SliceResult, Source } from '../../types.ts';
import { categoriesOf, type EventOptions, type EventWork, eventRequest, eventScope, splitEvents } from './plan.ts';

export async function readEvents(slice: Slice<EventWork>, source: Source, options: EventOptions): Promise<SliceResult> {
  const { work } = slice;
  const { vehicles } = work;
  const cutOffAt = await knownLimit(source.warehouse, 'event_listing');
  const spans = await widened(work, source);
  const categories = categoriesOf(options);
  // What is stored in the added part only is not missing: that is judged with its own slice.
  const own = source.isCompared ? work.spans : spans;
  const fullRefresh = spans.map((span, index) => refreshOf(span, own[index] ?? span, vehicles, categories));
  const firsts = firstOfEach(spans);
  let isWhole = true;
  let rejected: number | undefined;
  const reading = source.mapCalls(categories, async (category, { call, prepare }) => {
    const answer = await call(events, eventRequest(vehicles, spans, category)).catch((thrown: unknown) => {
      // The first rejection aborts the other calls, which then end with the same error.
      if (isRejected(asRoadbookError(thrown))) rejected ??= category;
      throw thrown;
    });
    if (answer.length >= cutOffAt) {
      isWhole = false;
      if (splitEvents(slice) !== undefined)
        throw tooMany(`${answer.length} events of a category, where the service cuts listings off`);
    }
    const records = answer.map((record) => withRequested(record, 'event_category', category));
    return prepare({ table: event, endpoint: events, records }, { fullRefresh, each: firsts.note });
  });
  const loads = await reading.catch(async (thrown: unknown) => {
    if (rejected === undefined || !isRejected(asRoadbookError(thrown))) throw thrown;
    if (!(await isFirstAccepted(vehicles, spans, rejected, source))) throw thrown;
    throw tooMany('vehicles of which the service accepts the first alone');
  });
  return {
    loads,
    // An answer that may be cut off does not show which rows have vanished.
    fullRefresh: isWhole ? fullRefresh : [],
    invalidated: await silences({ ...work, spans }, firsts.found, source, options),
  };
}

/**
 * Whether the service accepts a request of several vehicles for the first of them. Then it rejects their number or one of the
 * others, and the slice is halved until that is gone. Otherwise it may reject every request, and to halve on would cost
 * hundreds of calls.
 */
async function isFirstAccepted([first, ...others]: number[], spans: Span[], category: number, { call }: Source) {
  if (first === undefined || others.length === 0) return false;
  try {
    await call(events, eventRequest([first], spans, category));
    return true;
  } catch (thrown) {
    if (isRejected(asRoadbookError(thrown))) return false;
    throw thrown;
  }
}

/**
 * If a span begins at a cut between slices, it is extended back to the start of the earliest stored event across the cut:
 * no other slice reads that event completely. A span at most doubles, so that a slice that is cut again gets smaller. A
 * comparison is a slice of all days, so it begins at a cut.
 */
const widened = ({ vehicles, spans, reads = [] }: EventWork, { warehouse, isCompared }: Source): Promise<Span[]> =>
  Promise.all(
    spans.map(async ({ begin, end }) => {
      const around = isCompared ? [{ begin: 0, end }] : reads;
      const enclosing = around.find((span) => span.begin < begin && begin < span.end);
      if (enclosing === undefined) return { begin, end };
      const from = isoInstant(Math.max(enclosing.begin, begin - (end - begin)));
      const earliest = await warehouse.read((sql) =>
        sql(event.name)
          .whereIn('vehicle_id', vehicles)
          .where('begin_date', '>=', from)
          .where('begin_date', '<', isoInstant(begin))
          .where('end_date', '>=', isoInstant(begin))
          .whereNull('_missing_since')
          .orderBy('begin_date')
          .first('begin_date'),
      );
      const start = Date.parse(earliest?.begin_date ?? '');
      return { begin: Number.isNaN(start) ? begin : start, end };
    }),
  );

/** Only rows that lie completely in the period: how the service treats the others is not documented. They end in `own`. */
function refreshOf(span: Span, own: Span, vehicles: number[], categories: number[]): FullRefreshRange {
  const { beginAt: from, endAt: to } = intervalOf(span);
  const range = {
    vehicle_id: { in: vehicles },
    event_category: { in: categories },
    begin_date: { from, to },
    end_date: { from: intervalOf(own).beginAt, to },
  };
  return { table: event, range };
}

const [VEHICLE_AT, BEGIN_AT] = ['vehicle_id', 'begin_date'].map((name) =>
  recordColumns(event).findIndex((column) => column.name === name),
) as [number, number];

/**
 * The silences that new events end. An event that is already stored ends none, so that a silence is read again only once.
 * Periods that the run reads anyway are left out, unless the vehicle came back within the lookback and may still be
 * delivering past events.
 */
async function silences(
  { spans, reads }: EventWork,
  firsts: readonly Map<number, string>[],
  source: Source,
  options: EventOptions,
): Promise<ScopedInterval[]> {
  if (reads === undefined) return [];
  const recentFrom = (reads.at(-1)?.end ?? 0) - options.lookback;
  const found: ScopedInterval[] = [];
  for (const firstAt of firsts) {
    const latest = await source.warehouse.latest(event, 'vehicle_id', 'begin_date', firstAt);
    for (const [id, text] of firstAt) {
      const first = Date.parse(text);
      const last = Date.parse(latest.get(id) ?? '');
      if (!(first - last > options.silence)) continue;
      // Begin at a full day, so that vehicles with similar silences share slices.
      const silence = { begin: Math.floor(last / DAY_MS) * DAY_MS, end: first };
      const scopes = [eventScope(id, options)];
      const others = without(silence, first < recentFrom ? reads : spans);
      found.push(...others.map((span) => ({ scopes, ...intervalOf(span) })));
    }
  }
  return found;
}

/** For each span, the start of each vehicle's first event in it. */
function firstOfEach(spans: readonly Span[]) {
  const firsts = spans.map(({ end }) => ({ until: isoInstant(end), of: new Map<number, string>() }));
  return {
    note(row: Row): void {
      const id = row[VEHICLE_AT];
      const at = row[BEGIN_AT];
      if (typeof id !== 'number' || typeof at !== 'string') return;
      const own = firsts.find(({ until }) => at < until)?.of;
      const first = own?.get(id);
      if (first === undefined || at < first) own?.set(id, at);
    },
    found: firsts.map(({ of }) => of),
  };
}
