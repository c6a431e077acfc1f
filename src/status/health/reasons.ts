// Why the health is not `ok`, one reason for each problem: the same list for the page, `roadbook status`, metrics and
// alerts. Pure: the facts are read elsewhere.
import type { Config } from '../../config/schema.ts';
import { latestInstant } from '../../core/time/clock.ts';
import { type ProbeChange, QUESTIONS, type Question } from '../../sync/probe/answers.ts';
import type { OutboxAttention } from '../../sync/push/attention.ts';
import { missedText } from '../../sync/push/deadline.ts';
import { pushedKindOf, pushJobOf } from '../../sync/push/kind.ts';
import type { PushIssue } from '../../sync/push/push-issues.ts';
import type { QuarantineTotal } from '../../warehouse/control/quarantine.ts';
import type { TableDrift } from '../../warehouse/control/verification.ts';
import type { DaemonStatus } from './daemon-status.ts';
import type { DeadlineStatus } from './deadline.ts';
import type { Health } from './health.ts';
import type { JobStatus } from './job-status.ts';
import type { UnfitAnswer } from './unfit-answers.ts';

export interface Reason {
  /** Stable, for programs. */
  code: string;
  /** The word that this reason gives to the overall health. */
  health: Extract<Health, 'failing' | 'late' | 'warning' | 'never ran'>;
  /** The problem is one of this subject: a job, a reason of the outbox, the configuration. */
  subject: string;
  text: string;
  hint: string | null;
  /** The view of the page that shows more, as in `#/jobs/pull-events`. */
  place: string;
  /** ISO instant of the newest item that the reason is about, if more may come while it lasts: they alert again. */
  newest?: string | null;
}

export interface ReasonFacts {
  jobs: readonly JobStatus[];
  /** Sends without a clear answer that need nobody yet. */
  unclear: number;
  quarantine: QuarantineTotal;
  attention: readonly OutboxAttention[];
  deadline: DeadlineStatus | null;
  daemons: readonly DaemonStatus[];
  /** Where no daemon ever ran, jobs are run by commands. */
  hasDaemonRun: boolean;
  /** What the ERP offered and the service does not have, or not completely, and outcomes that cannot be returned. */
  issues: readonly PushIssue[];
  /** The tables whose drift is above the limit. */
  drifted: readonly TableDrift[];
  /** Answers of the service that the last probes found changed. */
  changed: readonly ProbeChange[];
  /** Answers of the service that cost records or calls. */
  unfit: readonly UnfitAnswer[];
  configError: string | null;
  config: Pick<Config, 'erp' | 'jobs'>;
  /** Names of the push jobs. */
  pushes: readonly string[];
}

const ORDER: readonly Reason['health'][] = ['failing', 'late', 'warning', 'never ran'];

export const healthReasons = (facts: ReasonFacts): Reason[] =>
  [
    ...facts.jobs.flatMap(jobReasons),
    ...pushReasons(facts),
    ...deadlineReasons(facts.deadline),
    ...configReasons(facts),
    ...driftReasons(facts),
    ...answerReasons(facts),
    ...quarantineReasons(facts),
    ...daemonReasons(facts),
  ].toSorted((a, b) => ORDER.indexOf(a.health) - ORDER.indexOf(b.health));

const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

function jobReasons(job: JobStatus): Reason[] {
  const { name, health, enabled, paused, last_end, last_success_at } = job;
  const about = { subject: `job ${name}`, place: `jobs/${name}` };
  if (enabled && paused) {
    const hint = `Resume it on the page, or with: npx roadbook jobs resume ${name}`;
    return [{ ...about, code: 'job_paused', health: 'warning', text: `${name} is paused by a person`, hint }];
  }
  const success = last_success_at === null ? 'it has never succeeded' : `its last success was ${last_success_at}`;
  if (health === 'failing') {
    const runs = counted(job.failures_in_a_row, 'run');
    const why = last_end?.error ?? 'its process ended during the run';
    const text = `${name} is failing: ${why} (${runs} in a row, ${success})`;
    return [{ ...about, code: 'job_failing', health, text, hint: 'See the error and its hint in the last run.' }];
  }
  if (health === 'late') {
    const [why, hint] = lateWords(job);
    return [{ ...about, code: 'job_late', health, text: `${name} is late: ${why}; ${success}`, hint }];
  }
  if (health !== 'never ran') return [];
  return [{ ...about, code: 'job_never_ran', health, text: `${name} has not run yet`, hint: null }];
}

function lateWords({ late_because, last_end, last_run }: JobStatus): [why: string, hint: string] {
  switch (late_because) {
    case 'incomplete':
      return [`a part of its last run failed (${last_end?.error})`, 'See the error and its hint in the last run.'];
    case 'stuck':
      return [
        `its run has not ended since ${last_run?.started_at}`,
        'See the log of its daemon; if the run does not go on, restart the daemon.',
      ];
    default:
      return ['a scheduled run is missing', 'Check that a daemon is running.'];
  }
}

function pushReasons({ unclear, attention, issues, config, pushes }: ReasonFacts): Reason[] {
  const about = ({ reason, text, hint }: OutboxAttention | PushIssue) => ({
    code: `push_${reason}`,
    subject: `outbox ${reason}`,
    text,
    hint,
  });
  const unknown: Reason = {
    code: 'push_unclear',
    health: 'warning',
    subject: 'outbox unclear',
    text: `${counted(unclear, 'item')} sent without a clear answer; the next runs read back what became of ${unclear === 1 ? 'it' : 'them'}`,
    hint: null,
    place: 'plans?state=unknown',
  };
  return [
    ...attention.map((each): Reason => ({ ...about(each), health: 'late', newest: each.newest, place: 'plans' })),
    ...(unclear > 0 ? [unknown] : []),
    ...issues.map((each): Reason => {
      const { reason, newest } = each;
      return { ...about(each), health: 'warning', newest, place: ISSUE_PLACES[reason] };
    }),
    ...pushes.flatMap((job) => feedReason(job, config)),
  ];
}

const ISSUE_PLACES: Readonly<Record<PushIssue['reason'], string>> = {
  rejected: 'plans?state=rejected',
  unreadable: 'plans?show=unread',
  partial: 'plans?state=partial',
  differs: 'plans?state=differs',
  gone: 'plans?state=confirmed,partial,differs',
  stops_without_code: 'jobs/return-executions',
};

/** A job is not plainly ok while it has items for a person to see to. */
export function withItemHealth(
  job: JobStatus,
  { attention, issues, deadline }: Pick<ReasonFacts, 'attention' | 'issues' | 'deadline'>,
): JobStatus {
  const kinds = attention.flatMap((each) => each.kinds);
  if ((deadline?.missed.length ?? 0) > 0) kinds.push('route_plans');
  const jobs = [...kinds.map(pushJobOf), ...issues.flatMap((each) => each.jobs)];
  return job.health === 'ok' && jobs.includes(job.name) ? { ...job, health: 'warning' } : job;
}

/**
 * Plans are what Roadbook is for, so the missing feed of an enabled job for them always counts. Not to use one of the other
 * kinds is normal: a job that the file does not list has no feed on purpose.
 */
function feedReason(job: string, { erp, jobs }: ReasonFacts['config']): Reason[] {
  const kind = pushedKindOf(job);
  const { enabled = false, isListed = false } = jobs[job] ?? {};
  if (kind === undefined || !enabled || erp[kind] !== undefined) return [];
  if (!isListed && kind !== 'route_plans') return [];
  return [
    {
      code: 'push_without_feed',
      health: 'warning',
      subject: `feed ${kind}`,
      text: `${job} is enabled, but the configuration has no feed for it: nothing is pushed`,
      hint: `Add erp.${kind}, or set jobs.${job}.enabled to false.`,
      place: 'config',
    },
  ];
}

function deadlineReasons(deadline: DeadlineStatus | null): Reason[] {
  if (deadline === null || deadline.missed.length === 0) return [];
  const text = missedText(deadline.missed.length, deadline.at);
  const hint = 'npx roadbook status lists them; npx roadbook outbox list shows why';
  const { newest } = deadline;
  return [{ code: 'deadline_missed', health: 'late', subject: 'deadline', text, hint, newest, place: 'plans' }];
}

function configReasons({ configError }: ReasonFacts): Reason[] {
  if (configError === null) return [];
  const text = `The configuration file was rejected: ${configError}`;
  const hint = 'Correct the file; until then the last valid configuration is in effect.';
  return [{ code: 'config_rejected', health: 'warning', subject: 'config', text, hint, place: 'config' }];
}

/** One for each table, so that a second table alerts too. */
const driftReasons = ({ drifted }: ReasonFacts): Reason[] =>
  drifted.map(({ table, drifted: rows, compared }) => ({
    code: 'drift',
    health: 'late',
    subject: `drift ${table}`,
    text: `${rows} of ${compared} verified rows of ${table} differed from the service although their days are final`,
    hint: `See bi_verification. To store what the service has: npx roadbook verify --table ${table} --sample 1000 --repair. Run it again to see that nothing differs any more.`,
    place: 'data',
  }));

/** One for each question: the service may change in several ways at different times. What is unfit stays so once it is seen. */
function answerReasons({ changed, unfit }: ReasonFacts): Reason[] {
  const about = (question: Question) => ({ health: 'warning', subject: `service ${question}`, place: 'data' }) as const;
  const others = changed.filter(({ question }) => !unfit.some((each) => each.question === question));
  return [
    ...unfit.map(({ question, text, hint }) => ({ ...about(question), code: 'service_unfit', text, hint })),
    ...others.map(({ question, was, answer, at }) => ({
      ...about(question),
      code: 'service_changed',
      text: `The service has changed: ${QUESTIONS[question]}: ${answer}; it was: ${was} (found ${at})`,
      hint: 'npx roadbook doctor --probe says whether the configuration still fits, and accepts the new answer',
    })),
  ];
}

function quarantineReasons({ quarantine: { records, newest } }: ReasonFacts): Reason[] {
  if (records === 0) return [];
  const text = `${counted(records, 'invalid record is', 'invalid records are')} in quarantine and in no table`;
  const hint = 'npx roadbook quarantine list shows the reasons';
  const place = 'data/quarantine';
  return [{ code: 'quarantine', health: 'warning', subject: 'quarantine', text, hint, newest, place }];
}

function daemonReasons({ daemons, hasDaemonRun }: ReasonFacts): Reason[] {
  const silent = daemons.filter(({ state }) => state === 'silent');
  const about = { subject: 'daemon', place: 'overview' };
  if (silent.length === daemons.length) {
    const text = 'No daemon is alive: nothing is pulled or pushed';
    return hasDaemonRun ? [{ ...about, code: 'no_daemon', health: 'failing', text, hint: 'npx roadbook start' }] : [];
  }
  if (silent.length === 0) return [];
  const named = silent.map(({ host, pid }) => `${host} ${pid}`).join(', ');
  const text = `${counted(silent.length, 'daemon makes', 'daemons make')} no heartbeat: ${named}`;
  const newest = latestInstant(silent.map(({ heartbeat_at }) => heartbeat_at));
  return [
    { ...about, code: 'daemon_silent', health: 'warning', text, newest, hint: 'Check the process and its machine.' },
  ];
}
