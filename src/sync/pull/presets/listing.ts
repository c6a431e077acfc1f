// A resource that the service lists completely: one slice that is a full refresh, so a row that no answer contains has
// vanished. A listing has no period: it covers everything up to the instant of the request.
import { z } from 'zod';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import { EVER, UNTIL_READ } from '../../../warehouse/control/coverage.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import type { Slice } from '../../slice.ts';
import { ACCOUNT_SCOPE } from '../plan/scopes.ts';
import type { Plan, SliceResult, Source } from '../types.ts';

/** If a complete listing needs several requests, they are read and committed together. */
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
