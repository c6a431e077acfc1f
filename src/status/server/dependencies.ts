// Dependencies of the status server. Values that can change while the daemon runs are functions, so that each
// request reads the current one.
import type { Config } from '../../config/schema.ts';
import type { LogTail } from '../../core/log-tail.ts';
import type { SessionState } from '../../fleet/session/session.ts';
import type { SyncDependencies } from '../../sync/dependencies.ts';
import type { Dispatcher } from '../../sync/dispatch/dispatcher.ts';
import type { NamedJob } from '../../sync/job.ts';
import type { RunTotals } from '../../sync/run-totals.ts';

export interface StatusServerDependencies
  extends Pick<SyncDependencies, 'engine' | 'clock' | 'log' | 'redactor' | 'privacy'> {
  version: string;
  jobs: readonly NamedJob[];
  logTail: LogTail;
  /** What the runs of this process have counted. */
  totals: RunTotals;
  /** The actions on a job. Each returns a sentence that says what happens now. */
  jobActions: Record<'run' | 'pause' | 'resume', (job: string) => Promise<string>>;
  running(): { file: string; config: Config; loadedAt: string };
  /** The error of the last rejected edit, with file:line:column; null if the file is in effect. */
  rejectedEdit(): Promise<string | null>;
  session(): Promise<SessionState>;
  /** Counts of the queue that the daemons share; null if there is no queue. */
  queueFacts: Dispatcher['facts'];
}
