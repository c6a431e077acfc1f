// Distributes slices through a pg-boss queue that all processes on one PostgreSQL share, in a schema beside the warehouse's.
// pg-boss provides at-least-once delivery, retries, heartbeats, priorities and dead letters. The process that planned a run
// sends its slices, reads some of them like every other process, and collects the outcomes from their pg-boss jobs.
import { randomUUID } from 'node:crypto';
import type { JobInsert } from 'pg-boss';
import { chunks } from '../../core/chunks.ts';
import { asRoadbookError, Fatal, Retriable, Skippable } from '../../core/errors.ts';
import { zeroCounts } from '../../core/glossary.ts';
import { lazyResource } from '../../core/lazy-resource.ts';
import { type Clock, systemClock, within } from '../../core/time/clock.ts';
import type { QueueHome } from '../../warehouse/engine.ts';
import type { Slice, SliceOutcome } from '../slice.ts';
import type { Dispatcher, QueueFacts, SliceWork } from './dispatcher.ts';
import { DEAD, messageOf, outcomeFromJson, QUEUE, type SliceMessage } from './messages.ts';
import { startWorkers, type WorkerDependencies, wake } from './worker.ts';

/**
 * Seconds. A worker without a heartbeat for `heartbeat` loses its slice at the next check (every `supervise`). A failed
 * slice is retried after `retryDelay`. A statement fails after `statementTimeout`, because none of the queue takes long.
 * Slices in progress get `drain` once the daemon drains, the same as in the pull engine.
 */
export const QUEUE_TIMES = {
  heartbeat: 15,
  refresh: 5,
  supervise: 5,
  retryDelay: 1,
  statementTimeout: 20,
  drain: 5,
};

/** The maximum of pg-boss: a slice may wait hours for the account's rate limit. Missing heartbeats reveal dead workers. */
const LONGEST_SLICE_S = 24 * 3_600;
/** A process that stalls inside a transaction must not keep locks that the others need. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** Retries of a slice before it becomes a dead letter. */
const MOST_RETRIES = 5;
/** Finished slices are kept this long, for inspection. */
const KEEP_S = 3_600;
const MAINTENANCE_S = 300;
const CONNECTIONS = 4;
/** How often the outcomes of a run are polled, and of how many jobs at a time: the first jobs end first. */
const POLL_MS = 250;
const JOBS_PER_POLL = 500;
const JOBS_PER_STATEMENT = 1_000;
/** How long the server may take to close the connections. */
const DISCONNECT_MS = 5_000;
/** Of the first slice of a run; each later one has one less. pg-boss stores priorities as 32-bit integers. */
const PRIORITY = { live: 2_000_000_000, history: 1_500_000_000, backfill: 1_000_000_000 };

export interface PgBossOptions extends Omit<WorkerDependencies, 'clock' | 'refreshSeconds'> {
  /** The database and schema for the queue; undefined if the warehouse cannot hold one. */
  home(): Promise<QueueHome | undefined>;
  /** Default: real time. */
  clock?: Clock;
  times?: typeof QUEUE_TIMES;
}

interface JobRow {
  id: string;
  state: 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed';
  output: object | null;
}

/** Opens nothing yet. */
export function createPgBossDispatcher(options: PgBossOptions): Dispatcher {
  const { log, jobs, clock = systemClock, times = QUEUE_TIMES } = options;
  const stopping = new AbortController();
  /** When it closes, slices that are still in progress return to the queue. */
  const queue = lazyResource(
    () => openQueue(options),
    ({ boss }) => viaQueue(() => boss.stop({ graceful: false })),
  );
  /** Ends with the queue. Slices in progress get `drain`, then pg-boss retries them elsewhere. */
  const workers = lazyResource(
    async () => {
      const { boss } = await queue.open();
      await startWorkers(boss, stopping.signal, { ...options, clock, refreshSeconds: times.refresh });
      return boss;
    },
    (boss) => viaQueue(() => boss.stop({ close: false, timeout: times.drain * 1_000 })),
  );
  const query = async <Row>(text: (table: string) => string, values: unknown[]): Promise<Row[]> => {
    const { boss, table } = await queue.open();
    return viaQueue(async () => (await boss.getDb().executeSql(text(table), values)).rows);
  };

  /** Returns the slices by the ids of their jobs. */
  async function send(slices: readonly Slice[], { context, isHistory }: SliceWork): Promise<[string, Slice][]> {
    const { boss } = await queue.open();
    const isLimited = jobs.find(({ name }) => name === context.job)?.slicesAtOnce !== undefined;
    const first = (slice: Slice): number =>
      PRIORITY[context.period?.resumable === true ? 'backfill' : isHistory(slice) ? 'history' : 'live'];
    const inserts = slices.map((slice, turn): JobInsert<SliceMessage> & { id: string } => ({
      id: randomUUID(),
      data: messageOf(slice, context),
      priority: first(slice) - turn,
      ...(isLimited && { group: { id: context.job } }),
    }));
    for (const some of chunks(inserts, JOBS_PER_STATEMENT)) await viaQueue(() => boss.insert(QUEUE, some));
    return inserts.map(({ id }, i) => [id, slices[i] as Slice]);
  }

  async function dispatch(work: SliceWork): Promise<void> {
    const { slices, context, take, signal } = work;
    if (slices.length === 0 || signal.aborted || context.draining?.aborted === true) return;
    let pending = new Map(await send(slices, work));
    let isComplete = true;

    /** Takes the outcomes of the slices that have ended; true if there was one. */
    async function collect(ids: readonly string[]): Promise<boolean> {
      const found = await query<JobRow>(STATES, [QUEUE, ids]);
      const rows = new Map(found.map((row) => [row.id, row]));
      const ended = ids.filter((id) => !UNFINISHED.has(rows.get(id)?.state));
      for (const id of ended) {
        const row = rows.get(id);
        // The run itself has cancelled the slice.
        if (signal.aborted && row?.state !== 'completed') continue;
        const outcome = sliceOutcome(pending.get(id) as Slice, row);
        // Send the parts before the outcome is taken: if sending fails, the next poll repeats it. Put them first in `pending`,
        // because they are read next, as those of a new run, and each poll covers only the first jobs.
        if (outcome.end === 'cut' && !signal.aborted)
          pending = new Map([...(await send(outcome.slices, work)), ...pending]);
        pending.delete(id);
        if (outcome.end === 'failed') isComplete = false;
        take(outcome);
      }
      return ended.length > 0;
    }

    if (!stopping.signal.aborted) wake(await workers.open());
    // A failed poll does not end the run: workers continue, and the signal aborts if the lease is lost.
    while (pending.size > 0 && !signal.aborted) {
      const isNews = await collect([...pending.keys()].slice(0, JOBS_PER_POLL)).catch((thrown) => {
        context.log.warn({ code: asRoadbookError(thrown).code }, 'outcomes of slices could not be read');
        return false;
      });
      if (!isNews) await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
    for (const ids of chunks([...pending.keys()], JOBS_PER_STATEMENT)) {
      const { boss } = await queue.open();
      await viaQueue(() => boss.cancel(QUEUE, ids));
      await collect(ids);
    }
    if (isComplete && !signal.aborted) await deleteDead(context);
  }

  /** A run that read everything it planned has also read the dead slices of earlier runs. */
  const deleteDead = ({ job, period, log }: SliceWork['context']): Promise<unknown> =>
    query(DELETE_DEAD, [DEAD, job, period === undefined ? null : JSON.stringify(period)]).catch((thrown) =>
      log.warn({ code: asRoadbookError(thrown).code }, 'dead slices could not be cleared'),
    );

  return {
    dispatch,
    async start() {
      await workers.open();
    },
    async stop() {
      stopping.abort();
      await workers.close();
    },
    // Counting does not create the queue. A status request must not fail because the queue cannot be read.
    async facts() {
      try {
        if ((await (await options.home())?.isMade()) !== true) return null;
        const [facts] = await query<QueueFacts>(COUNTS, [QUEUE, DEAD]);
        return facts ?? null;
      } catch (thrown) {
        log.debug({ code: asRoadbookError(thrown).code }, 'slices in the queue could not be counted');
        return null;
      }
    },
    async close() {
      stopping.abort();
      await within(clock, DISCONNECT_MS, queue.close());
      log.debug('queue closed');
    },
  };
}

async function openQueue({ home, log, times = QUEUE_TIMES }: PgBossOptions) {
  const found = await home();
  if (found === undefined) throw new Fatal('The warehouse cannot hold a queue', { code: 'unexpected' });
  const { url, schema, isMade } = found;
  // Imported on first use, because the import would slow down every command.
  const { PgBoss } = await import('pg-boss');
  // pg-boss passes settings that it does not know to the driver.
  const driverSettings = {
    query_timeout: times.statementTimeout * 1_000,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
  };
  const boss = new PgBoss({
    ...driverSettings,
    connectionString: url,
    schema,
    createSchema: !(await isMade()),
    application_name: 'roadbook queue',
    max: CONNECTIONS,
    // Roadbook has its own scheduler.
    schedule: false,
    superviseIntervalSeconds: times.supervise,
    monitorIntervalSeconds: times.supervise,
    maintenanceIntervalSeconds: MAINTENANCE_S,
  });
  // Log only the code: the message of a driver error may contain bound values.
  boss.on('error', (error) => log.warn({ code: codeOf(error) }, 'queue error'));
  boss.on('warning', ({ message }) => log.warn({ warning: message.split(':')[0] }, 'queue warning'));
  await viaQueue(async () => {
    await boss.start();
    await boss.createQueue(DEAD);
    await boss.createQueue(QUEUE, {
      deadLetter: DEAD,
      retryLimit: MOST_RETRIES,
      retryDelay: times.retryDelay,
      expireInSeconds: LONGEST_SLICE_S,
      heartbeatSeconds: times.heartbeat,
      deleteAfterSeconds: KEEP_S,
    });
  });
  return { boss, table: `"${schema}".job` };
}

function sliceOutcome(slice: Slice, job: JobRow | undefined): SliceOutcome {
  if (job?.state === 'completed' && job.output !== null) return outcomeFromJson(job.output);
  const reason =
    job?.state === 'failed'
      ? `every attempt failed, the last with: ${(job.output as { code?: string } | null)?.code ?? 'no heartbeat'}`
      : 'it is no longer in the queue';
  const failure = new Skippable(`The slice ${slice.scope} could not be read: ${reason}`, {
    code: 'slice_given_up',
    hint: 'The logs of the daemons show why each attempt failed; the next run reads the slice again.',
  });
  return { scope: slice.scope, counts: zeroCounts(), end: 'failed', failure };
}

const UNFINISHED: ReadonlySet<string | undefined> = new Set(['created', 'retry', 'active']);

const STATES = (table: string): string =>
  `select id, state, output from ${table} where name = $1 and id = any($2::uuid[])`;

/** Not pg-boss's own counts: those are up to a minute old. */
const COUNTS = (table: string): string =>
  `select count(*) filter (where name = $1 and state in ('created', 'retry'))::int as waiting,
     count(*) filter (where name = $1 and state = 'active')::int as active,
     count(*) filter (where name = $2)::int as dead
   from ${table} where name in ($1, $2) and state < 'completed'`;

const DELETE_DEAD = (table: string): string =>
  `delete from ${table} where name = $1 and data->>'job' = $2 and data->'period' is not distinct from $3::jsonb`;

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? 'unknown');

async function viaQueue<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new Retriable(`The queue in PostgreSQL cannot be used (${codeOf(thrown)})`, {
      code: 'queue_failed',
      hint: 'Check that the server is reachable and that the user may create a schema in the database.',
      cause: thrown,
    });
  }
}
