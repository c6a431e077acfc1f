// Reads one slice of events: a call for each category. A vehicle that comes back after a long silence has that
// silence read again, because a device that was offline may bring its past along.
import { EVENT_CATEGORIES } from '../../core/code-lists.ts';
import { events } from '../../fleet/endpoints/events.ts';
import { recordColumns } from '../../warehouse/table.ts';
import { event } from '../../warehouse/tables/event.ts';
import type { Workload } from '../job.ts';
import {
  type EventOptions,
  type EventWork,
  eventRequest,
  eventScope,
  usualEventSlices,
} from './event-plan.ts';
import type { Covers, Harvest, PlanContext, Slice, Source, Whole } from './pull-job.ts';
import type { Sorted } from './sorting.ts';
import { intervalOf, type Span } from './windows.ts';

export async function readEvents(
  { work }: Slice<EventWork>,
  source: Source,
  options: EventOptions,
): Promise<Harvest> {
  const { vehicles, spans, live } = work;
  const categories = categoriesOf(options);
  const loads = await Promise.all(
    categories.map(async (category) => {
      const answer = await source.call(events, eventRequest(vehicles, spans, category));
      const records = answer.map((record) => withCategory(record, category));
      return source.sort({ table: event, record: events.record, records });
    }),
  );
  const scopes = vehicles.map((id) => eventScope(id, options));
  return {
    loads,
    whole: spans.map((span) => wholeOf(span, vehicles, categories)),
    covers: spans.map((span) => ({ scopes, ...intervalOf(span) })),
    uncovers: live ? await silences(work, loads, source, options) : [],
  };
}

const categoriesOf = ({ categories }: EventOptions): number[] =>
  categories === 'all' ? EVENT_CATEGORIES.map(({ id }) => id) : categories;

export const eventCalls = (_slice: Slice<EventWork>, { options }: PlanContext<EventOptions>): number =>
  categoriesOf(options).length;

/** A call for each category and slice; a slice is so many vehicle-days. */
export const usualEventCalls = (options: EventOptions, { vehicles, periodMs }: Workload): number =>
  usualEventSlices(options.lookback + periodMs, vehicles) * categoriesOf(options).length;

/** An event is met by every run until it lies further behind than `lookback`. */
export const usualEventReadings = ({ lookback }: EventOptions, { periodMs }: Workload): number =>
  (lookback + periodMs) / periodMs;

/** A record that does not say its category is of the one that was asked for. */
function withCategory(record: unknown, category: number): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  const said = (record as { event_category?: unknown }).event_category;
  return said === undefined || said === null ? { ...record, event_category: category } : record;
}

/** Only rows that lie in the period altogether: how the service treats the others is not documented. */
function wholeOf(span: Span, vehicles: number[], categories: number[]): Whole {
  const { beginAt: from, endAt: to } = intervalOf(span);
  const extent = {
    vehicle_id: { in: vehicles },
    event_category: { in: categories },
    begin_date: { from, to },
    end_date: { from, to },
  };
  return { table: event, extent };
}

const DAY_MS = 86_400_000;

const [VEHICLE_AT, BEGIN_AT] = ['vehicle_id', 'begin_date'].map((name) =>
  recordColumns(event).findIndex((column) => column.name === name),
) as [number, number];

async function silences(
  { spans }: EventWork,
  loads: readonly Sorted[],
  source: Source,
  options: EventOptions,
): Promise<Covers[]> {
  const firstAt = new Map<number, number>();
  for (const row of loads.flatMap(({ rows }) => rows)) {
    const id = row[VEHICLE_AT];
    const at = Date.parse(String(row[BEGIN_AT]));
    if (typeof id === 'number' && !Number.isNaN(at)) firstAt.set(id, Math.min(at, firstAt.get(id) ?? at));
  }
  const latest = await source.warehouse.latest(event, 'vehicle_id', 'begin_date', [...firstAt.keys()]);
  const readFrom = spans[0]?.begin ?? 0;
  return [...firstAt].flatMap(([id, first]) => {
    const lastAt = Date.parse(latest.get(id) ?? '');
    // Whole days, so that vehicles that were silent together are read together.
    const gap = { begin: Math.floor(lastAt / DAY_MS) * DAY_MS, end: Math.min(first, readFrom) };
    const isSilence = first - lastAt > options.silence && gap.begin < gap.end;
    return isSilence ? [{ scopes: [eventScope(id, options)], ...intervalOf(gap) }] : [];
  });
}
