// A resource that the service searches by period. Each run reads the due periods in windows of bounded length. Known
// records that a search should have returned and did not are read by id: a moved record is stored with its new dates, and
// a record has vanished only if the service no longer knows it.
import { isJsonObject } from '../../../core/json.ts';
import { isoInstant } from '../../../core/time/clock.ts';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import { toInstant } from '../../../fleet/instants.ts';
import { type Interval, UNTIL_READ } from '../../../warehouse/control/coverage.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import type { Cost, Workload } from '../../job.ts';
import type { Slice } from '../../slice.ts';
import { ACCOUNT_SCOPE } from '../plan/scopes.ts';
import {
  aheadOption,
  equalParts,
  halvedWindow,
  type WindowOptions,
  windowOptions,
  windowsToRead,
} from '../plan/window-slices.ts';
import { intervalOf, searchPeriod, spanOf } from '../plan/windows.ts';
import { idOf, type RecordId } from '../records/record-id.ts';
import type { Load } from '../records/types.ts';
import type { Plan, PlanContext, SliceResult, Source, WarehouseReader } from '../types.ts';
import { goneFrom, readUnlisted } from './unlisted.ts';

export interface WindowedResource<Request> {
  /** Column with the instant by which a record is searched. */
  at: string;
  request(window: Interval): Request;
  /** Longest period of one search, ms. Longer than the default lookback, so that a usual run needs one search. */
  longestMs: number;
  /**
   * Defaults of the options. `lookback` has to be longer than the service takes to show a late record. Without `ahead` the
   * future is not read.
   */
  lookback: string;
  ahead?: string;
  /** For records with a duration, if a search may return only those that lie completely in its period. */
  lasting?: {
    /** Column with the instant at which a record ends. */
    until: string;
    /** How far a search extends beyond the end of its window, ms. */
    beyondMs: number;
  };
  /** Column that is set once a record no longer changes; such a record is not read by id. */
  final?: string;
  /** Completes a record that was read by id, if the search returns more fields. */
  complete?(record: unknown, source: Source): Promise<unknown>;
}

/** Reads the records whose instant lies in the interval. */
export interface WindowWork extends Interval {
  /** End of the search, if it extends beyond the interval. */
  searchUntil?: string;
  /** Also checks known records that start before the interval and end in it or later. */
  earlier?: boolean;
  /** Also checks known records that start after the interval. */
  later?: boolean;
}

export function windowed<Request>(
  search: ListEndpoint<Request>,
  byId: ListEndpoint<{ id: RecordId }>,
  table: Table,
  resource: WindowedResource<Request>,
) {
  const { request, longestMs, lookback, ahead, lasting, complete } = resource;
  const options = windowOptions(lookback);

  const sliceOf = (work: WindowWork): Slice<WindowWork> => ({
    scope: `${work.beginAt}/${work.endAt}`,
    work,
    covers: [{ scopes: [ACCOUNT_SCOPE], beginAt: work.beginAt, endAt: work.endAt }],
    furtherCalls: `one or two for each known ${table.name} that the search does not return`,
  });

  /** Extends the search beyond the window, but not beyond the end of the search that was cut. */
  const searchEnd = ({ endAt }: Interval, limitAt = UNTIL_READ): Pick<WindowWork, 'searchUntil'> => {
    if (lasting === undefined) return {};
    const beyondAt = isoInstant(Date.parse(endAt) + lasting.beyondMs);
    return { searchUntil: beyondAt < limitAt ? beyondAt : limitAt };
  };

  /** Whether a record starts in the window or is stored there. One without a readable start belongs to every window. */
  const belongsTo = ({ beginAt, endAt }: Interval, known: readonly RecordId[]) => {
    const ids = new Set(known.map(String));
    return (record: unknown): boolean => {
      const value = isJsonObject(record) ? record[resource.at] : undefined;
      const at = typeof value === 'string' ? toInstant(value) : undefined;
      return at === undefined || (beginAt <= at && at < endAt) || ids.has(idOf(record));
    };
  };

  async function plan(context: PlanContext<WindowOptions>): Promise<Plan<WindowWork>> {
    const spans = await windowsToRead(context);
    const last = spans.at(-1);
    const checksOutside = lasting !== undefined && context.period === undefined;
    const works = spans.flatMap((span) =>
      equalParts(span, longestMs * context.scale).map((part) => ({
        ...intervalOf(part),
        ...searchEnd(intervalOf(part), intervalOf(span).endAt),
        ...(checksOutside && { earlier: part.begin === last?.begin, later: part.end === last?.end }),
      })),
    );
    return { slices: works.map(sliceOf) };
  }

  function split({ work }: Slice<WindowWork>): Slice<WindowWork>[] | undefined {
    return halvedWindow(work)?.map((half) =>
      sliceOf({
        ...half,
        ...searchEnd(half, work.searchUntil ?? half.endAt),
        ...(work.earlier && { earlier: half.beginAt === work.beginAt }),
        ...(work.later && { later: half.endAt === work.endAt }),
      }),
    );
  }

  /** The records of the window. `gone` are the ids of stored records in it that the service no longer knows. */
  async function readWindow(work: WindowWork, source: Source): Promise<{ load: Load; gone: RecordId[] }> {
    const { beginAt, endAt, searchUntil = endAt } = source.isCompared ? { ...work, ...searchEnd(work) } : work;
    const answer = await source.call(search, request(searchPeriod(spanOf({ beginAt, endAt: searchUntil }))));
    const open = source.openIds(table);
    const known = (await knownIn(work, table, resource, source.warehouse)).filter((id) => !open.has(String(id)));
    const isOfWindow = belongsTo(work, known);
    const listed = source.isCompared ? answer.filter((each) => isOfWindow(each) && !open.has(idOf(each))) : answer;
    const { found, gone } = await readUnlisted(byId, known, listed, source);
    const completed = complete === undefined ? found : await source.mapCalls(found, complete);
    return { load: { table, endpoint: search, records: [...listed, ...completed] }, gone };
  }

  return {
    options: ahead === undefined ? options : options.extend({ ahead: aheadOption(ahead) }),
    into: [[search, table] as const],
    coverage: 'account' as const,
    plan,
    async read({ work }: Slice<WindowWork>, source: Source): Promise<SliceResult> {
      const { load, gone } = await readWindow(work, source);
      return { loads: [load], fullRefresh: goneFrom(table, 'id', gone) };
    },
    split,
    cost: ({ lookback, ahead = 0 }: WindowOptions, { periodMs }: Workload): Cost => ({
      calls: Math.ceil((lookback + periodMs + ahead) / longestMs),
    }),
    /** For a resource that reads more than the records of the window. */
    readWindow,
  };
}

/** Ids of the stored records that the window must account for. */
async function knownIn<Request>(
  { beginAt, endAt, earlier, later }: WindowWork,
  table: Table,
  { at, lasting, final }: WindowedResource<Request>,
  warehouse: WarehouseReader,
): Promise<RecordId[]> {
  const rows: { id: RecordId }[] = await warehouse.read((sql) => {
    const query = sql(table.name).whereNull('_missing_since').select('id');
    if (final !== undefined) query.whereNull(final);
    return query.where((those) => {
      those.where((inside) => inside.where(at, '>=', beginAt).where(at, '<', endAt));
      if (later) those.orWhere(at, '>=', endAt);
      if (!earlier || lasting === undefined) return;
      those.orWhere((still) => still.where(at, '<', beginAt).where(lasting.until, '>=', beginAt));
      those.orWhereNull(at).orWhereNull(lasting.until);
    });
  });
  return rows.map(({ id }) => id);
}
