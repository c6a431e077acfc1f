// The queue on pg-boss, in a schema of its own beside the warehouse's. Giving out, giving out again when a worker
// dies, priorities, dead letters and clearing up are pg-boss's; here is only the mapping. A slice is asked for and
// settled here rather than by pg-boss's workers, for these settle what another worker has by now.
import { isDeepStrictEqual } from 'node:util';
import { fromKnex, type JobInsert, PgBoss } from 'pg-boss';
import { Retriable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { pieces } from '../../core/pieces.ts';
import type { QueueHome, Transaction } from '../../warehouse/engine.ts';
import type { QueueFacts } from './dispatcher.ts';
import { createAttempt, type Reason, type SliceJob } from './pg-boss-attempt.ts';
import type { SliceMessage, SliceQueue } from './slice-queue.ts';

/** Named by the form of the messages: versions that do not understand each other's leave them alone. */
const QUEUE = 'slices-v1';
const DEAD = 'slices-v1-dead';

/**
 * Seconds. A worker that shows no life for `heartbeat` has its slice taken away at the next look. One that failed is
 * given out again after `again`: what was in its way may have passed, or another worker is free. A statement that has no
 * answer after `silent` fails: none of the queue's takes long.
 */
export const QUEUE_TIMES = { heartbeat: 15, refresh: 5, look: 5, again: 1, silent: 20 };

/**
 * As long as the queue allows. A worker that died is known by its beats; one that lives may wait for hours for the rate
 * of the account, and what hangs is bounded by the client of the service.
 */
const LONGEST_SLICE_S = 24 * 3_600;
/** A worker that stands still within a transaction must not keep what the others need. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** How often a slice is given out again before it is called dead. */
const MOST_RETRIES = 5;
/** What is done is kept this long, for people who look. */
const KEEP_S = 600;
const CLEAR_UP_S = 300;
const CONNECTIONS = 4;
const MESSAGES_A_STATEMENT = 1_000;
/** Each turn is one less, in whole numbers of 32 bits. */
const PRIORITY = { live: 2_000_000_000, backfill: 1_000_000_000 };
const LAST_TURN = 999_999_999;

export async function openPgBoss(
  home: QueueHome,
  { log, times = QUEUE_TIMES }: Options,
): Promise<SliceQueue> {
  const boss = new PgBoss({
    connectionString: home.url,
    schema: home.schema,
    createSchema: !(await home.isMade()),
    application_name: 'roadbook queue',
    max: CONNECTIONS,
    ...limitsOf(times),
    // Schedules are Roadbook's own.
    schedule: false,
    superviseIntervalSeconds: times.look,
    monitorIntervalSeconds: times.look,
    maintenanceIntervalSeconds: CLEAR_UP_S,
  });
  // Named by its code alone: the text of a driver's error may hold what was bound.
  const onError = (error: unknown): void => log.warn({ code: codeOf(error) }, 'the queue had a failure');
  boss.on('error', onError);
  boss.on('warning', ({ message }) => log.warn({ warning: message.split(':')[0] }, 'the queue warns'));
  await plainly(async () => {
    await boss.start();
    await boss.createQueue(DEAD);
    await boss.createQueue(QUEUE, {
      deadLetter: DEAD,
      retryLimit: MOST_RETRIES,
      retryDelay: times.again,
      expireInSeconds: LONGEST_SLICE_S,
      heartbeatSeconds: times.heartbeat,
      deleteAfterSeconds: KEEP_S,
    });
  });
  const within = (tx: Transaction) => ({ db: fromKnex(tx.sql) });
  const attempts = { boss, queue: QUEUE, beatMs: times.refresh * 1_000, again, onError };

  return {
    async put(tx, messages) {
      for (const some of pieces(messages, MESSAGES_A_STATEMENT)) {
        await boss.insert(QUEUE, some.map(jobOf), within(tx));
      }
    },
    next: (except) =>
      plainly(async () => {
        const ignoreGroups = [...except];
        const [job] = await boss.fetch<SliceMessage>(QUEUE, { includeMetadata: true, ignoreGroups });
        if (job === undefined) return undefined;
        const { signal, complete, end } = createAttempt(job, attempts);
        return {
          message: job.data,
          signal,
          complete: (tx) => complete(within(tx)),
          end: (how, code) => plainly(() => end(how, code)),
        };
      }),
    cancel: (ids) =>
      plainly(async () => {
        for (const some of pieces(ids, MESSAGES_A_STATEMENT)) await boss.cancel(QUEUE, some);
      }),
    unfinished: (runId) =>
      plainly(async () => {
        const jobs = await boss.findJobs<SliceMessage>(QUEUE, { data: { runId } });
        return new Set(jobs.filter(({ state }) => UNFINISHED.has(state)).map(({ id }) => id));
      }),
    lastReason: (id) =>
      plainly(async () => {
        const [job] = await boss.findJobs<SliceMessage>(QUEUE, { id });
        return job === undefined ? undefined : ((job.output as Reason | null)?.code ?? 'no sign of life');
      }),
    forgetDead: ({ job, period }) =>
      plainly(async () => {
        const dead = await boss.findJobs<SliceMessage>(DEAD, { data: { job } });
        const read = dead.filter(({ data }) => isDeepStrictEqual(data.period, period));
        if (read.length > 0)
          await boss.deleteJob(
            DEAD,
            read.map(({ id }) => id),
          );
      }),
    facts: () =>
      plainly(async () => {
        const { rows } = await boss.getDb().executeSql(COUNTS(home.schema), [QUEUE, DEAD]);
        return rows[0] as QueueFacts;
      }),
    close: () => plainly(() => boss.stop({ graceful: false })),
  };
}

interface Options {
  log: Log;
  times?: typeof QUEUE_TIMES;
}

/** Grouped by the job, so that a process can leave out those that it does not know or has enough of. */
const jobOf = (message: SliceMessage): JobInsert<SliceMessage> => ({
  id: message.id,
  data: message,
  group: { id: message.job },
  priority: PRIORITY[isBackfill(message) ? 'backfill' : 'live'] - Math.min(message.turn, LAST_TURN),
});

const isBackfill = ({ period }: SliceMessage): boolean => period?.resumable === true;

const again = ({ data, retryLimit, retryCount }: SliceJob): JobInsert<SliceMessage> => ({
  ...jobOf(data),
  retryLimit: retryLimit - retryCount,
});

/** pg-boss's own figures are up to a minute old, and then tell of slices as waiting that are done. */
const COUNTS = (schema: string): string =>
  `select count(*) filter (where name = $1 and state in ('created', 'retry'))::int as waiting,
     count(*) filter (where name = $1 and state = 'active')::int as active,
     count(*) filter (where name = $2)::int as dead
   from "${schema}".job where name in ($1, $2) and state < 'completed'`;

/** For the driver, to which pg-boss hands on what it does not know. */
const limitsOf = ({ silent }: typeof QUEUE_TIMES) => ({
  query_timeout: silent * 1_000,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  keepAlive: true,
});

const UNFINISHED: ReadonlySet<string> = new Set(['created', 'retry', 'active']);

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? 'unknown');

async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new Retriable(`The queue in PostgreSQL cannot be used (${codeOf(thrown)})`, {
      code: 'queue_failed',
      hint: 'Check that the server can be reached and that the user may make a schema in the database.',
      cause: thrown,
    });
  }
}
