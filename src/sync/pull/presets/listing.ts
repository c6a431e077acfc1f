// The plan of a job that reads whole listings: one slice a request, and what a listing no longer holds has
// vanished. Such a listing has no period: it covers everything until the moment it was asked for.
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import { EVER } from '../../../warehouse/coverage.ts';
import type { RowRange } from '../../../warehouse/engine.ts';
import type { Table } from '../../../warehouse/table.ts';
import type { Slice } from '../../slice.ts';
import type { Load } from '../records/types.ts';
import type { SliceResult, Source } from '../types.ts';

export interface ListingPart<Request> {
  scope: string;
  request: Request;
  /** The rows that this request lists; all of the table unless told. */
  range?: RowRange;
}

export interface Listing<Request> {
  tables: readonly Table[];
  records: readonly Pick<Load, 'table' | 'endpoint'>[];
  plan(): Slice<ListingPart<Request>>[];
  read(slice: Slice<ListingPart<Request>>, source: Source): Promise<SliceResult>;
}

export function listing<Request>(
  endpoint: ListEndpoint<Request>,
  table: Table,
  parts: readonly ListingPart<Request>[],
): Listing<Request> {
  return {
    tables: [table],
    records: [{ table, endpoint }],
    plan: () => parts.map((part) => ({ scope: part.scope, work: part })),
    async read({ scope, work }, source) {
      const records = await source.call(endpoint, work.request);
      return {
        loads: [{ table, endpoint, records }],
        fullRefresh: [{ table, range: work.range ?? {} }],
        covers: [{ scopes: [scope], beginAt: EVER, endAt: source.readAt }],
      };
    },
  };
}
