// A resource that the service lists as a whole: one slice, a full refresh, so a row that no answer holds has vanished. A
// listing has no period: it covers everything until the moment it was asked for.
import { z } from 'zod';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import { EVER, UNTIL_READ } from '../../../warehouse/control/coverage.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import type { Slice } from '../../slice.ts';
import { ACCOUNT_SCOPE } from '../plan/scopes.ts';
import type { Plan, SliceResult, Source } from '../types.ts';

/** Where it takes several requests to list all, they are read and committed as one. */
export function listing<Request>(endpoint: ListEndpoint<Request>, table: Table, ...requests: Request[]) {
  const covers = [{ scopes: [ACCOUNT_SCOPE], beginAt: EVER, endAt: UNTIL_READ }];
  return {
    options: z.object({}),
    into: [[endpoint, table] as const],
    coverage: 'account' as const,
    plan: (): Plan<Request[]> => ({
      slices: [{ scope: ACCOUNT_SCOPE, work: requests, covers, calls: requests.length }],
    }),
    async read({ work }: Slice<Request[]>, source: Source): Promise<SliceResult> {
      const answers = await source.mapCalls(work, (request, { call }) => call(endpoint, request));
      return {
        loads: [{ table, endpoint, records: answers.flat() }],
        fullRefresh: [{ table, range: {} }],
      };
    },
    cost: () => ({ calls: requests.length }),
  };
}
