// The four kinds of push as a test needs them: job, feed, calls, and which list of the ledger counts them.
import type { FeedKind } from '../../../src/erp/feed-kinds.ts';
import type { Fault, Ledger } from '../../../src/sandbox/sandbox.ts';
import { agent, CPFS, itinerary, plan, pointOfInterest } from './push-samples.ts';

export interface PushCase {
  job: string;
  kind: FeedKind;
  create: Fault['call'];
  list: Fault['call'];
  /** Calls of the list that one search of the service takes. */
  readsPerSearch: number;
  ledger: keyof Pick<Ledger, 'plans' | 'points_of_interest' | 'agents' | 'itineraries'>;
  /** The n-th item, from 0. */
  item(n: number): Record<string, unknown>;
  /** The name by which the ledger counts it. */
  name(n: number): string;
}

export const pushCases: readonly PushCase[] = [
  {
    job: 'push-route-plans',
    kind: 'route_plans',
    create: 'import-route-plan',
    list: 'route-plans',
    readsPerSearch: 1,
    ledger: 'plans',
    item: (n) => plan(`P${n}`),
    name: (n) => `P${n}`,
  },
  {
    job: 'push-points-of-interest',
    kind: 'points_of_interest',
    create: 'create-point-of-interest',
    list: 'points-of-interest',
    readsPerSearch: 1,
    ledger: 'points_of_interest',
    item: (n) => pointOfInterest(`Shop ${n}`),
    name: (n) => `Shop ${n}`,
  },
  {
    job: 'push-agents',
    kind: 'agents',
    create: 'create-agent',
    list: 'drivers',
    readsPerSearch: 2,
    ledger: 'agents',
    item: (n) => agent(CPFS[n] ?? ''),
    name: (n) => CPFS[n] ?? '',
  },
  {
    job: 'push-itineraries',
    kind: 'itineraries',
    create: 'create-itinerary',
    list: 'itineraries',
    readsPerSearch: 1,
    ledger: 'itineraries',
    item: (n) => itinerary(`I${n}`),
    name: (n) => `I${n}`,
  },
];
