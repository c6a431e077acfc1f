// One slice in the hands of one worker. pg-boss settles a job by its id, whoever has it by now; here every word on it
// is fenced by the attempt, so that a worker that stood still neither completes nor fails what another one works on.
import type { ConnectionOptions, JobInsert, JobWithMetadata, PgBoss } from 'pg-boss';
import type { Received, SliceMessage, WorkEnd } from './slice-queue.ts';

export type SliceJob = JobWithMetadata<SliceMessage>;

interface AttemptParts {
  boss: PgBoss;
  queue: string;
  /** How often it shows life, ms. */
  beatMs: number;
  /** The job once more, with what is left of its retries. */
  again(job: SliceJob): JobInsert;
  onError(error: unknown): void;
}

export interface Attempt {
  signal: AbortSignal;
  /** On the given connection; false where the job is not this attempt's any more, and all is to be undone. */
  complete(on: ConnectionOptions): Promise<boolean>;
  end: Received['end'];
}

export function createAttempt(job: SliceJob, { boss, queue, beatMs, again, onError }: AttemptParts): Attempt {
  const { id } = job;
  const lost = new AbortController();

  async function isOwn(on: ConnectionOptions = {}): Promise<boolean> {
    const [found] = await boss.findJobs<SliceMessage>(queue, { id, ...on });
    return found !== undefined && attemptOf(found) === attemptOf(job);
  }

  /** Completing comes first: it locks the row, so that what is read after it holds until the transaction ends. */
  async function complete(on: ConnectionOptions): Promise<boolean> {
    const { affected } = (await boss.complete(queue, id, null, on)) as Affected;
    return affected > 0 && isOwn(on);
  }

  /** True where they are to be kept; in one transaction each. */
  const steps: Record<Exclude<WorkEnd, 'settled'>, Step> = {
    dropped: complete,
    async stopped(on) {
      if (!(await complete(on))) return false;
      await boss.deleteJob(queue, id, on);
      await boss.insert(queue, [again(job)], on);
      return true;
    },
    async failed(on, code) {
      const reason: Reason | null = code === undefined ? null : { code };
      const { affected } = (await boss.fail(queue, id, reason, on)) as Affected;
      return affected > 0 && isOwn(on);
    },
  };

  async function beat(): Promise<void> {
    if (await isOwn()) await boss.touch(queue, id);
    else lost.abort();
  }
  const beats = setInterval(() => void beat().catch(onError), beatMs);

  return {
    signal: lost.signal,
    complete,
    async end(how, code) {
      clearInterval(beats);
      if (how === 'settled') return;
      const transaction = await boss.getDb().beginTransaction?.();
      if (transaction === undefined) throw new Error('the connection of the queue has no transactions');
      try {
        const isKept = await steps[how]({ db: transaction.db }, code);
        await (isKept ? transaction.commit() : transaction.rollback());
      } catch (thrown) {
        await transaction.rollback();
        throw thrown;
      }
    },
  };
}

type Step = (on: ConnectionOptions, code?: string) => Promise<boolean>;

/** What is kept with an attempt that failed; pg-boss itself puts its own words where a worker showed no life. */
export interface Reason {
  code?: string;
}

/** What the commands of pg-boss answer; its typings leave it open. */
interface Affected {
  affected: number;
}

/** The count alone would not do: a slice that was given back begins anew. An instant is a text on some connections. */
const attemptOf = ({ retryCount, startedOn }: SliceJob): string =>
  `${retryCount} ${new Date(startedOn).getTime()}`;
