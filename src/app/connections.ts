// What one configuration opens towards the outside: the client of the service and the feeds of the ERP. An edit
// makes new connections, which take over every part whose settings stay the same. Runs that are under way end on
// the connections they began with; a part is closed when no connections hold it any more.
import { createHash } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { type LazyResource, lazyResource } from '../core/lazy-resource.ts';
import type { Log } from '../core/log.ts';
import { createLimiter, type Limiter } from '../core/rate/limiter.ts';
import type { PermitSource } from '../core/rate/permits.ts';
import type { Redactor } from '../core/text/redaction.ts';
import type { Clock } from '../core/time/clock.ts';
import { FEED_KINDS, type FeedKind } from '../erp/feed-kinds.ts';
import type { Feed } from '../erp/source.ts';
import { openSource } from '../erp/sources.ts';
import { createFleet, type Fleet } from '../fleet/client.ts';
import type { SessionMemory } from '../fleet/session/session-memory.ts';
import { dropSamplePlans } from '../sync/push/sample-drop.ts';

export interface Service {
  fleet: Fleet;
  address: string;
}

/** What stays the same for the life of the process. */
export interface ConnectionDependencies {
  clock: Clock;
  log: Log;
  redactor: Redactor;
  /** Address of the built-in service, which is started by the first who asks. */
  sandboxAddress(): Promise<string>;
  sessionMemory(): Promise<SessionMemory>;
  /** Where the limiter of an account gets its permits. */
  permits(account: string): PermitSource;
}

export interface Connections {
  readonly config: Config;
  readonly limiter: AccountLimiter;
  readonly service: LazyResource<Service>;
  readonly feeds: ReadonlyMap<FeedKind, LazyResource<Feed>>;
}

interface AccountLimiter extends Limiter {
  readonly account: string;
}

/** The connections of now, and those that runs under way still hold. */
export interface ConnectionsByConfig {
  current(): Connections;
  /** Runs on the connections of now, to its end. */
  during<T>(run: (connections: Connections) => Promise<T>): Promise<T>;
  /** New connections for whoever comes next. */
  replace(config: Config): Promise<void>;
  close(): Promise<void>;
}

export function createConnections(config: Config, around: ConnectionDependencies): ConnectionsByConfig {
  let current = connect(config, around);
  const users = new Map<Connections, number>();

  const partsInUse = () => new Set([current, ...users.keys()].flatMap(partsOf));

  function count(connections: Connections, change: 1 | -1): void {
    const left = (users.get(connections) ?? 0) + change;
    if (left > 0) users.set(connections, left);
    else users.delete(connections);
  }

  async function closeUnused(old: Connections): Promise<void> {
    const inUse = partsInUse();
    for (const part of partsOf(old)) if (!inUse.has(part)) await part.close();
  }

  return {
    current: () => current,
    async during(run) {
      const mine = current;
      count(mine, 1);
      try {
        return await run(mine);
      } finally {
        count(mine, -1);
        await closeUnused(mine);
      }
    },
    async replace(next) {
      const old = current;
      current = connect(next, around, old);
      await closeUnused(old);
    },
    async close() {
      const limiters = new Set([current, ...users.keys()].map(({ limiter }) => limiter));
      for (const part of partsInUse()) await part.close();
      for (const limiter of limiters) await limiter.close();
    },
  };
}

/** Opens nothing yet. */
function connect(config: Config, around: ConnectionDependencies, previous?: Connections): Connections {
  const limiter = limiterFor(config, around, previous);
  const service = serviceFor(config, around, limiter);
  const kept = <T>(part: LazyResource<T>, old: LazyResource<T> | undefined): LazyResource<T> =>
    old?.key === part.key ? old : part;
  const shared = kept(service, previous?.service);
  const feeds = FEED_KINDS.flatMap((kind): [FeedKind, LazyResource<Feed>][] => {
    const part = feedFor(kind, config, around, shared);
    return part === undefined ? [] : [[kind, kept(part, previous?.feeds.get(kind))]];
  });
  return { config, limiter, service: shared, feeds: new Map(feeds) };
}

const partsOf = ({ service, feeds }: Connections): LazyResource<unknown>[] => [...feeds.values(), service];

/** One limiter for one account, whatever else changes: old and new runs together keep its limits. */
function limiterFor(
  { service }: Config,
  around: ConnectionDependencies,
  previous?: Connections,
): AccountLimiter {
  const limits = { concurrency: service.concurrency, perMinute: service.requestsPerMinute };
  const account = accountOf(service);
  if (previous?.limiter.account !== account) {
    const { clock, log } = around;
    return { account, ...createLimiter({ ...limits, clock, log, permits: around.permits(account) }) };
  }
  previous.limiter.change(limits);
  return previous.limiter;
}

/** Tells one account at one service from another, and tells nobody who it is. */
const accountOf = ({ baseUrl, username, parentUsername, realm }: Config['service']): string =>
  createHash('sha256')
    .update(JSON.stringify([baseUrl, username, parentUsername, realm]))
    .digest('hex')
    .slice(0, 32);

function serviceFor(
  { service }: Config,
  around: ConnectionDependencies,
  limiter: Limiter,
): LazyResource<Service> {
  const { concurrency: _, requestsPerMinute: __, ...settings } = service;
  return lazyResource(
    JSON.stringify(settings),
    async () => {
      const { clock, log, redactor } = around;
      const isSandbox = settings.baseUrl === 'sandbox';
      const address = isSandbox ? await around.sandboxAddress() : settings.baseUrl;
      const memory = await around.sessionMemory();
      const fleet = createFleet({ ...settings, baseUrl: address }, { clock, log, redactor, limiter, memory });
      return { fleet, address };
    },
    ({ fleet }) => fleet.close(),
  );
}

function feedFor(
  kind: FeedKind,
  { erp, timezone, jobs, service: { baseUrl } }: Config,
  { clock, log }: ConnectionDependencies,
  service: LazyResource<Service>,
): LazyResource<Feed> | undefined {
  const feed = erp[kind];
  if (feed === undefined) return undefined;
  const reuseCodes = jobs[`push-${kind.replaceAll('_', '-')}`]?.options.reuse_codes === true;
  return lazyResource(
    JSON.stringify([timezone, feed, reuseCodes]),
    async () => {
      if (baseUrl === 'sandbox' && feed.source === 'files' && kind === 'route_plans') {
        await dropSamplePlans(feed.folder, { fleet: (await service.open()).fleet, clock, timezone });
      }
      const source = openSource(feed, { kind, zone: timezone, reuseCodes, clock, log, random: Math.random });
      return { source, options: feed.options };
    },
    ({ source }) => source.close(),
  );
}
