// What the engines of this folder need from the layers below, handed in once by the wiring.

import type { Log } from '../core/log.ts';
import type { Redactor } from '../core/text/redaction.ts';
import type { Clock } from '../core/time/clock.ts';
import type { FeedKind } from '../erp/feed-kinds.ts';
import type { Feed } from '../erp/source.ts';
import type { Fleet } from '../fleet/client.ts';
import type { LeaseManager } from '../warehouse/control/leases.ts';
import type { Engine } from '../warehouse/engine.ts';
import type { Privacy } from '../warehouse/privacy/privacy.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';

export interface SyncDependencies {
  fleet: Fleet;
  engine: Engine;
  clock: Clock;
  log: Log;
  redactor: Redactor;
  /** What is stored of personal values. */
  privacy: Privacy;
  /** Who works the slices of a pull. */
  dispatcher: Dispatcher;
  /** Slices worked on at once; bounds memory as well as the load on the service. */
  concurrency: number;
  /** Time zone of local days. */
  timezone: string;
  /** Folder for picture files. */
  images: string;
  /** Keeps the runs of several processes apart; absent where one process has the warehouse to itself. */
  leases?: LeaseManager;
  /** Told of every slice that was loaded. */
  onSlice?(): void;
  /** The feed of items to push, opened when first asked for; undefined where the configuration has none. */
  erp(kind: FeedKind): Promise<Feed | undefined>;
}
