// Reads one slice of events: a call for each category. A vehicle that comes back after a long silence has that
// silence read again, because a device that was offline may bring its past along.
import { EVENT_CATEGORIES } from '../core/code-lists.ts';
import { events } from '../fleet/endpoints/events.ts';
import { event } from '../warehouse/tables/event.ts';
import { type EventOptions, type EventWork, eventRequest, eventScope } from './event-plan.ts';
import type { Covers, Harvest, Slice, Source, Whole } from './pull-job.ts';
import { intervalOf, type Span } from './windows.ts';

export async function readEvents(
  { work }: Slice<EventWork>,
  source: Source,
  options: EventOptions,
): Promise<Harvest> {
  const { vehicles, spans, live } = work;
  const categories = options.categories === 'all' ? EVENT_CATEGORIES.map(({ id }) => id) : options.categories;
  const answers = await Promise.all(
    categories.map(async (category) => {
      const records = await source.call(events, eventRequest(vehicles, spans, category));
      return records.map((record) => withCategory(record, category));
    }),
  );
  const records = answers.flat();
  const scopes = vehicles.map((id) => eventScope(id, options));
  return {
    loads: [{ table: event, record: events.record, records }],
    whole: spans.map((span) => wholeOf(span, vehicles, categories)),
    covers: spans.map((span) => ({ scopes, ...intervalOf(span) })),
    uncovers: live ? await silences(work, records, source, options) : [],
  };
}

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

interface Sighting {
  vehicle?: { id?: unknown };
  begin_date?: unknown;
}

async function silences(
  { spans }: EventWork,
  records: readonly unknown[],
  source: Source,
  options: EventOptions,
): Promise<Covers[]> {
  const firstAt = new Map<number, number>();
  for (const record of records as (Sighting | null)[]) {
    const id = Number(record?.vehicle?.id);
    const at = Date.parse(String(record?.begin_date));
    if (Number.isInteger(id) && !Number.isNaN(at)) firstAt.set(id, Math.min(at, firstAt.get(id) ?? at));
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
