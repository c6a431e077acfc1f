// A resource that the service lists completely: one slice that is a full refresh, so a row that no answer contains has
// vanished, unless the service cuts such a listing off. A listing has no period: it covers everything up to the instant of
// the request.
import { z } from 'zod';
import type { ListEndpoint } from '../../../fleet/endpoint.ts';
import { EVER, UNTIL_READ } from '../../../warehouse/control/coverage.ts';
import type { Table } from '../../../warehouse/schema/table.ts';
import { knownLimit, type Question } from '../../probe/answers.ts';
import type { Slice } from '../../slice.ts';
import { ACCOUNT_SCOPE } from '../plan/scopes.ts';
import type { Plan, SliceResult, Source } from '../types.ts';

/**
 * If a complete listing needs several requests, they are read and committed together. `limits` are the questions of the probe
 * whose answers say where the service cuts them off.
 */
export function listing<Request>(
  endpoint: ListEndpoint<Request>,
  table: Table,
  limits: readonly Question[],
  ...requests: Request[]
) {
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
      const known = await Promise.all(limits.map((question) => knownLimit(source.warehouse, question)));
      // An answer that may be cut off does not show which rows have vanished.
      const isWhole = answers.every(({ length }) => length < Math.min(...known));
      return {
        loads: [{ table, endpoint, records: answers.flat() }],
        fullRefresh: isWhole ? [{ table, range: {} }] : [],
      };
    },
    cost: () => ({ calls: requests.length }),
  };
}
