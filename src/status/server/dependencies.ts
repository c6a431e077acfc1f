// What the status server is given by the wiring. Everything that may change while the daemon runs is asked for
// anew each time.
import type { Config } from '../../config/schema.ts';
import type { Log } from '../../core/log.ts';
import type { LogTail } from '../../core/log-tail.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { SessionState } from '../../fleet/session/session.ts';
import type { QueueFacts } from '../../sync/dispatch/dispatcher.ts';
import type { NamedJob } from '../../sync/job.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { Privacy } from '../../warehouse/privacy/privacy.ts';

export interface RunningConfig {
  file: string;
  config: Config;
  loadedAt: string;
}

/** What may be ordered for a job; each tells in plain words what happens now. */
export interface JobActions {
  run(job: string): Promise<string>;
  pause(job: string): Promise<string>;
  resume(job: string): Promise<string>;
}

export interface StatusServerDependencies {
  version: string;
  engine: Engine;
  clock: Clock;
  log: Log;
  redactor: Redactor;
  /** What is stored of personal values. */
  privacy: Privacy;
  jobs: readonly NamedJob[];
  logTail: LogTail;
  orders: JobActions;
  running(): RunningConfig;
  /** The last edit that was refused, with file:line:column; null where the file is in effect. */
  refusedEdit(): Promise<string | null>;
  session(): Promise<SessionState>;
  /** What waits in the queue that the daemons share; absent or null where there is none. */
  queueFacts?(): Promise<QueueFacts | null>;
}
