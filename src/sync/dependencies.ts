// The dependencies that pull, push, returns and upkeep need from the layers below. The app wires them once.

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
import type { Outages } from './outages.ts';
import type { RunTotals } from './run-totals.ts';

export interface SyncDependencies {
  fleet: Fleet;
  engine: Engine;
  clock: Clock;
  log: Log;
  redactor: Redactor;
  /** Decides how personal values are stored. */
  privacy: Privacy;
  /** Distributes the slices of a pull over processes. */
  dispatcher: Dispatcher;
  /** Slices in progress at once; limits memory use and the load on the service. */
  concurrency: number;
  /** Time zone of local days. */
  timezone: string;
  /** Folder for picture files. */
  images: string;
  /** Prevents two processes from running the same job at once; absent if only one process uses the warehouse. */
  leases?: LeaseManager;
  /** Called after each slice that was loaded. */
  onSlice?(): void;
  /** Counts the runs of this process for the metrics; absent where nobody reads them. */
  totals?: RunTotals;
  /** The outages that runs of this process have met. Default: each failure is logged. */
  outages?: Outages;
  /** The feed of items to push, opened on first use; undefined if the configuration has none. */
  erp(kind: FeedKind): Promise<Feed | undefined>;
}
