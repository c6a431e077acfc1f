// Reads one slice of events: a call for each category. A vehicle that comes back after a long silence has that
// silence read again, because a device that was offline may bring its past along.
import { isoInstant } from '../../../../core/time/clock.ts';
import { events } from '../../../../fleet/endpoints/events.ts';
import type { ScopedInterval } from '../../../../warehouse/control/coverage.ts';
import type { Row } from '../../../../warehouse/engine.ts';
import { earliestAcross } from '../../../../warehouse/queries/events-across.ts';
import { recordColumns } from '../../../../warehouse/schema/table.ts';
import { event } from '../../../../warehouse/tables/event.ts';
import type { Slice } from '../../../slice.ts';
import { intervalOf, type Span, without } from '../../plan/windows.ts';
import type { FullRefreshRange } from '../../records/types.ts';
import type { SliceResult, Source } from '../../types.ts';
import { categoriesOf, type EventOptions, type EventWork, eventRequest, eventScope } from './plan.ts';

export async function readEvents(
  { work }: Slice<EventWork>,
  source: Source,
  options: EventOptions,
): Promise<SliceResult> {
  const { vehicles } = work;
  const spans = await widened(work, source);
  const categories = categoriesOf(options);
  const fullRefresh = spans.map((span) => refreshOf(span, vehicles, categories));
  const firsts = firstOfEach(spans);
  const loads = await source.mapCalls(categories, async (category, { call, prepare }) => {
    const answer = await call(events, eventRequest(vehicles, spans, category));
    const records = answer.map((record) => withCategory(record, category));
    return prepare({ table: event, endpoint: events, records }, { fullRefresh, each: firsts.note });
  });
  return {
    loads,
    fullRefresh,
    invalidated: await silences({ ...work, spans }, firsts.found, source, options),
  };
}

/**
 * A span that begins where the run was cut begins with the earliest stored event across the cut, because no other slice
 * has that one whole either. At most twice its length, so that a slice that is cut again gets smaller.
 */
const widened = ({ vehicles, spans, reads = [] }: EventWork, { warehouse }: Source): Promise<Span[]> =>
  Promise.all(
    spans.map(async ({ begin, end }) => {
      const around = reads.find((span) => span.begin < begin && begin < span.end);
      if (around === undefined) return { begin, end };
      const from = isoInstant(Math.max(around.begin, begin - (end - begin)));
      const earliest = await earliestAcross(warehouse, vehicles, { from, at: isoInstant(begin) });
      return { begin: earliest === undefined ? begin : Date.parse(earliest), end };
    }),
  );

/** A record that does not say its category is of the one that was asked for. */
function withCategory(record: unknown, category: number): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  const said = (record as { event_category?: unknown }).event_category;
  return said === undefined || said === null ? { ...record, event_category: category } : record;
}

/** Only rows that lie in the period altogether: how the service treats the others is not documented. */
function refreshOf(span: Span, vehicles: number[], categories: number[]): FullRefreshRange {
  const { beginAt: from, endAt: to } = intervalOf(span);
  const range = {
    vehicle_id: { in: vehicles },
    event_category: { in: categories },
    begin_date: { from, to },
    end_date: { from, to },
  };
  return { table: event, range };
}

const DAY_MS = 86_400_000;

const [VEHICLE_AT, BEGIN_AT] = ['vehicle_id', 'begin_date'].map((name) =>
  recordColumns(event).findIndex((column) => column.name === name),
) as [number, number];

/**
 * The silences that new events end. An event that is stored already ends none, so that a silence is read again once.
 * What the run reads anyway is left out, unless the vehicle came back only just now and may still be telling its past.
 */
async function silences(
  { spans, reads }: EventWork,
  firsts: readonly Map<number, string>[],
  source: Source,
  options: EventOptions,
): Promise<ScopedInterval[]> {
  if (reads === undefined) return [];
  const lately = (reads.at(-1)?.end ?? 0) - options.lookback;
  const found: ScopedInterval[] = [];
  for (const firstAt of firsts) {
    const latest = await source.warehouse.latest(event, 'vehicle_id', 'begin_date', firstAt);
    for (const [id, text] of firstAt) {
      const first = Date.parse(text);
      const last = Date.parse(latest.get(id) ?? '');
      if (!(first - last > options.silence)) continue;
      // Whole days, so that vehicles that were silent together are read together.
      const silence = { begin: Math.floor(last / DAY_MS) * DAY_MS, end: first };
      const scopes = [eventScope(id, options)];
      const others = without(silence, first < lately ? reads : spans);
      found.push(...others.map((span) => ({ scopes, ...intervalOf(span) })));
    }
  }
  return found;
}

/** For each span, when the first event of each vehicle began in it. */
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
