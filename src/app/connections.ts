// The connections of one configuration: the client of the service and the feeds of the ERP. An edit creates new
// connections, which reuse every resource whose settings are unchanged. An active run keeps the connections it started
// with; a resource is closed when no connections use it any more.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { accountSettings } from '../config/changes.ts';
import type { Config } from '../config/schema.ts';
import { SERVICE_LIMITS } from '../config/sections/service.ts';
import { replaceFile } from '../core/atomic-file.ts';
import { type LazyResource, lazyResource } from '../core/lazy-resource.ts';
import type { Log } from '../core/log.ts';
import { createLimiter, type Limiter } from '../core/rate/limiter.ts';
import type { PermitSource } from '../core/rate/rate.ts';
import type { Redactor } from '../core/text/redaction.ts';
import type { Clock } from '../core/time/clock.ts';
import { FEED_KINDS, type FeedKind } from '../erp/feed-kinds.ts';
import { samplePlans } from '../erp/items/sample-plans.ts';
import type { Feed } from '../erp/source.ts';
import { openSource } from '../erp/sources.ts';
import { createFleet, type Fleet } from '../fleet/client.ts';
import { vehicles } from '../fleet/endpoints/vehicles.ts';
import type { SessionMemory } from '../fleet/session/session-memory.ts';
import { pushJobOf } from '../sync/push/kind.ts';

export interface Service {
  fleet: Fleet;
  address: string;
}

/** Stays the same for the life of the process. */
export interface ConnectionDependencies {
  clock: Clock;
  log: Log;
  redactor: Redactor;
  /** Address of the built-in service; the first call starts it. */
  sandboxAddress(): Promise<string>;
  sessionMemory(): Promise<SessionMemory>;
  /** The source of permits for the limiter of an account. */
  permits(account: string): PermitSource;
}

export interface Connections {
  readonly config: Config;
  readonly limiter: Limiter;
  readonly service: Connection<Service>;
  readonly feeds: ReadonlyMap<FeedKind, Connection<Feed>>;
}

interface Connection<T> extends LazyResource<T> {
  /** The settings of the connection: two connections with the same key are interchangeable. */
  readonly key: string;
}

/** The current connections, and older ones that active runs still use. */
export function createConnections(config: Config, dependencies: ConnectionDependencies) {
  let current = connect(config, dependencies);
  /** One for each active run. */
  const users = new Set<{ mine: Connections }>();

  const inUse = (): Connections[] => [current, ...[...users].map(({ mine }) => mine)];
  const resourcesInUse = () => new Set(inUse().flatMap(resourcesOf));

  async function closeUnused(old: Connections): Promise<void> {
    const kept = resourcesInUse();
    for (const resource of resourcesOf(old)) if (!kept.has(resource)) await resource.close();
  }

  return {
    current: () => current,
    /** `run` keeps the connections that are current at its start. */
    async during<T>(run: (connections: Connections) => Promise<T>): Promise<T> {
      const user = { mine: current };
      users.add(user);
      try {
        return await run(user.mine);
      } finally {
        users.delete(user);
        await closeUnused(user.mine);
      }
    },
    /** Later runs get new connections. */
    async replace(next: Config): Promise<void> {
      const old = current;
      current = connect(next, dependencies, old);
      await closeUnused(old);
    },
    async close(): Promise<void> {
      for (const resource of resourcesInUse()) await resource.close();
      await current.limiter.close();
    },
  };
}

/** Opens nothing yet. */
function connect(config: Config, dependencies: ConnectionDependencies, previous?: Connections): Connections {
  const limiter = limiterFor(config, dependencies, previous);
  const service = serviceFor(config, dependencies, limiter);
  const reuse = <T>(created: Connection<T>, old: Connection<T> | undefined): Connection<T> =>
    old?.key === created.key ? old : created;
  const shared = reuse(service, previous?.service);
  const feeds = FEED_KINDS.flatMap((kind): [FeedKind, Connection<Feed>][] => {
    const created = feedFor(kind, config, dependencies, shared);
    return created === undefined ? [] : [[kind, reuse(created, previous?.feeds.get(kind))]];
  });
  return { config, limiter, service: shared, feeds: new Map(feeds) };
}

const resourcesOf = ({ service, feeds }: Connections): LazyResource<unknown>[] => [...feeds.values(), service];

/** One limiter for the life of the process, so that old and new runs together stay within its limits. */
function limiterFor({ service }: Config, dependencies: ConnectionDependencies, previous?: Connections): Limiter {
  // The built-in service runs in this process: no other user of it can be slowed down.
  const perMinute = service.baseUrl === 'sandbox' ? SERVICE_LIMITS.requestsPerMinute : service.requestsPerMinute;
  const limits = { concurrency: service.concurrency, perMinute };
  previous?.limiter.change(limits);
  const { clock, log, permits } = dependencies;
  return previous?.limiter ?? createLimiter({ ...limits, clock, log, permits: permits(accountOf(service)) });
}

/** Identifies an account at a service without revealing it. */
export const accountOf = (service: Config['service']): string =>
  createHash('sha256')
    .update(JSON.stringify(accountSettings({ ...service, baseUrl: service.baseUrl.replace(/\/$/, '') })))
    .digest('hex')
    .slice(0, 32);

function serviceFor({ service }: Config, dependencies: ConnectionDependencies, limiter: Limiter): Connection<Service> {
  const { concurrency: _, requestsPerMinute: __, ...settings } = service;
  const resource = lazyResource(
    async () => {
      const { clock, log, redactor } = dependencies;
      const isSandbox = settings.baseUrl === 'sandbox';
      const address = isSandbox ? await dependencies.sandboxAddress() : settings.baseUrl;
      const memory = await dependencies.sessionMemory();
      const fleet = createFleet({ ...settings, baseUrl: address }, { clock, log, redactor, limiter, memory });
      return { fleet, address };
    },
    ({ fleet }) => fleet.close(),
  );
  return { key: JSON.stringify(settings), ...resource };
}

function feedFor(
  kind: FeedKind,
  { erp, timezone, jobs, service: { baseUrl } }: Config,
  { clock, log }: ConnectionDependencies,
  service: LazyResource<Service>,
): Connection<Feed> | undefined {
  const feed = erp[kind];
  if (feed === undefined) return undefined;
  const reuseCodes = jobs[pushJobOf(kind)]?.options.reuse_codes === true;
  const resource = lazyResource(
    async () => {
      if (baseUrl === 'sandbox' && feed.source === 'files' && kind === 'route_plans') {
        await dropSamplePlans(feed.folder, { fleet: (await service.open()).fleet, clock, timezone });
      }
      const source = openSource(feed, { kind, zone: timezone, reuseCodes, clock, log, random: Math.random });
      return { source, options: feed.options };
    },
    ({ source }) => source.close(),
  );
  return { key: JSON.stringify([timezone, feed, reuseCodes]), ...resource };
}

/**
 * Drops a file of sample plans if the drop folder does not exist yet, so that the first start with the built-in service
 * shows a push. The plans use plates of that service.
 */
export async function dropSamplePlans(
  folder: string,
  { fleet, clock, timezone }: { fleet: Fleet; clock: Clock; timezone: string },
): Promise<void> {
  if (existsSync(folder)) return;
  const records = await fleet.call(vehicles, { visible: 1, includes: ['fleet'] });
  const plates = records.flatMap((record) => {
    const { plate } = record as { plate?: unknown };
    return typeof plate === 'string' ? [plate] : [];
  });
  const { name, text } = samplePlans({ nowMs: clock.now(), zone: timezone, plates });
  await replaceFile(join(folder, name), text);
}
