// A resource that the service searches by period. Each run reads what is due in windows of bounded length. Known records
// that a search should have brought and did not are read by id: moved ones are stored where they are now, and only what
// the service no longer knows has vanished.
import { z } from 'zod';
import { lookbackOption } from '../../../core/reach-limits.ts';
import { isoInstant } from '../../../core/time/clock.ts';
import { durationOption } from '../../../core/time/duration-option.ts';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import type { Interval } from '../../../warehouse/control/coverage.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import type { Cost, Workload } from '../../job.ts';
import type { Slice } from '../../slice.ts';
import { ACCOUNT_SCOPE } from '../plan/scopes.ts';
import { equalPieces, halvedWindow, type WindowOptions, windowsToRead } from '../plan/window-slices.ts';
import { intervalOf } from '../plan/windows.ts';
import type { RecordId } from '../records/record-id.ts';
import type { Load } from '../records/types.ts';
import type { Plan, PlanContext, SliceResult, Source, WarehouseReader } from '../types.ts';
import { goneFrom, readUnlisted } from './unlisted.ts';

export interface WindowedResource<Request> {
  /** Column with the instant by which the search finds a record. */
  at: string;
  request(window: Interval): Request;
  /** Longest period of one search, ms. */
  longestMs: number;
  /** Defaults of the options; without `ahead` the future is not read. */
  lookback: string;
  ahead?: string;
  /** Where records last and a search may mean those that lie in its period as a whole. */
  lasting?: {
    /** Column with the instant at which a record ends. */
    until: string;
    /** How far a search looks beyond a cut, ms. */
    beyondMs: number;
  };
  /** Column that is set once a record no longer changes; such a record is not read by id. */
  final?: string;
  /** Completes a record that was read by id, where the search tells more of it. */
  complete?(record: unknown, source: Source): Promise<unknown>;
}

/** Records whose instant lies in the interval. */
export interface WindowWork extends Interval {
  /** End of the search where it looks beyond the interval. */
  searchUntil?: string;
  /** Also looks after known records that start before it and have not ended by then. */
  earlier?: boolean;
  /** Also looks after known records that start after it. */
  later?: boolean;
}

export function windowed<Request>(
  search: ListEndpoint<Request>,
  byId: ListEndpoint<{ id: RecordId }>,
  table: Table,
  resource: WindowedResource<Request>,
) {
  const { request, longestMs, lasting, complete } = resource;

  const sliceOf = (work: WindowWork): Slice<WindowWork> => ({
    scope: `${work.beginAt}/${work.endAt}`,
    work,
    covers: [{ scopes: [ACCOUNT_SCOPE], beginAt: work.beginAt, endAt: work.endAt }],
    furtherCalls: `one or two for each ${table.name} that is known and that the search does not bring`,
  });

  /** Beyond the window, but no further than where the search before the cut ended. */
  const searchEnd = ({ endAt }: Interval, limitAt: string): Pick<WindowWork, 'searchUntil'> => {
    if (lasting === undefined) return {};
    const beyondAt = isoInstant(Date.parse(endAt) + lasting.beyondMs);
    return { searchUntil: beyondAt < limitAt ? beyondAt : limitAt };
  };

  async function plan(context: PlanContext<WindowOptions>): Promise<Plan<WindowWork>> {
    const spans = await windowsToRead(context);
    const last = spans.at(-1);
    const looksAround = lasting !== undefined && context.period === undefined;
    const works = spans.flatMap((span) =>
      equalPieces(span, longestMs * context.scale).map((piece) => ({
        ...intervalOf(piece),
        ...searchEnd(intervalOf(piece), intervalOf(span).endAt),
        ...(looksAround && { earlier: piece.begin === last?.begin, later: piece.end === last?.end }),
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

  /** What is in the window, and by `gone` what was in it and the service no longer knows. */
  async function readWindow(work: WindowWork, source: Source): Promise<{ load: Load; gone: RecordId[] }> {
    const { beginAt, endAt, searchUntil = endAt } = work;
    const listed = await source.call(search, request({ beginAt, endAt: searchUntil }));
    const known = await knownIn(work, table, resource, source.warehouse);
    const { found, gone } = await readUnlisted(byId, known, listed, source);
    const completed = complete === undefined ? found : await source.mapCalls(found, complete);
    return { load: { table, endpoint: search, records: [...listed, ...completed] }, gone };
  }

  return {
    options: windowOptions(resource),
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

function windowOptions({ lookback, ahead }: Pick<WindowedResource<never>, 'lookback' | 'ahead'>) {
  const behind = {
    since: durationOption('30d', 'How far back a first run reads (default 30d).'),
    lookback: lookbackOption(lookback, `How far behind the edge each run reads again (default ${lookback}).`),
  };
  if (ahead === undefined) return z.object(behind);
  const future = durationOption(ahead, `How far into the future each run reads (default ${ahead}).`);
  return z.object({ ...behind, ahead: future });
}

/** Ids of the stored records that the window answers for. */
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
