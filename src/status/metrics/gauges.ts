// Every gauge as data: its name without the prefix, its help text, and how its value is read from the status document.
// A null value is not exported.

import type { QueueFacts } from '../../sync/dispatch/dispatcher.ts';
import { OUTBOX_STATES } from '../../warehouse/outbox/entry.ts';
import type { DaemonStatus } from '../health/daemon-status.ts';
import type { JobStatus } from '../health/job-status.ts';
import type { StatusDocument, StatusFacts } from '../health/status-document.ts';

export interface GaugeFacts extends StatusFacts {
  version: string;
  leasesHeld: number;
  /** Null if the disk cannot be checked. */
  diskFreeBytes: number | null;
  driftLimit: number | null;
  nowMs: number;
}

export interface GaugeDeclaration {
  name: string;
  help: string;
  labels?: readonly ('job_name' | 'table' | 'version' | 'daemon' | 'host')[];
  /** The label values, in the order of `labels`, and the value of the gauge. */
  values(facts: GaugeFacts): readonly (readonly [labels: readonly string[], value: number | null])[];
}

const single = (name: string, help: string, value: (facts: GaugeFacts) => number | null): GaugeDeclaration => ({
  name,
  help,
  values: (facts) => [[[], value(facts)]],
});

const perJob = (name: string, help: string, value: (job: JobStatus) => number | null): GaugeDeclaration => ({
  name,
  help,
  labels: ['job_name'],
  values: ({ document }) => document.jobs.map((job) => [[job.name], value(job)]),
});

type TableStatus = StatusDocument['tables'][number];

const perTable = (name: string, help: string, value: (table: TableStatus) => number | null): GaugeDeclaration => ({
  name,
  help,
  labels: ['table'],
  values: ({ document }) => document.tables.map((table) => [[table.name], value(table)]),
});

const perDaemon = (name: string, help: string, value: (daemon: DaemonStatus) => number | null): GaugeDeclaration => ({
  name,
  help,
  labels: ['daemon'],
  values: ({ document }) => document.daemons.map((daemon) => [[daemonName(daemon)], value(daemon)]),
});

/** Bounded: a daemon that is gone leaves the status document, at the latest after a day. */
const daemonName = ({ host, pid }: DaemonStatus): string => `${host}:${pid}`;

const seconds = (instant: string | null | undefined): number | null =>
  instant == null ? null : Date.parse(instant) / 1_000;

/** Exported only if the daemons share a queue. */
const QUEUE: readonly { name: keyof QueueFacts; help: string }[] = [
  { name: 'waiting', help: 'Slices that wait in the shared queue.' },
  { name: 'active', help: 'Slices of the shared queue that a daemon is working on.' },
  {
    name: 'dead',
    help: 'Slices of the shared queue that failed their last attempt and that no run has read since.',
  },
];

export const GAUGES: readonly GaugeDeclaration[] = [
  {
    name: 'build_info',
    help: 'The running version; always 1.',
    labels: ['version'],
    values: ({ version }) => [[[version], 1]],
  },
  single('healthy', 'Whether the overall health is ok, paused or warning (1) or not (0).', ({ document }) =>
    Number(['ok', 'paused', 'warning'].includes(document.health)),
  ),
  single(
    'health_reasons',
    'Reasons why the overall health is not ok; see the reasons of /api/status.',
    ({ document }) => document.reasons.length,
  ),
  perJob('job_healthy', 'Whether the health of the job is ok, paused or warning (1) or not (0).', ({ health }) =>
    Number(['ok', 'paused', 'warning'].includes(health)),
  ),
  perJob('job_paused', 'Whether the job is paused or disabled (1) or not (0).', ({ paused, enabled }) =>
    Number(paused || !enabled),
  ),
  perJob('last_success_timestamp_seconds', 'End of the last successful run.', (job) => seconds(job.last_success_at)),
  perJob('last_run_timestamp_seconds', 'Start of the last run.', (job) => seconds(job.last_run?.started_at)),
  perJob('last_run_duration_seconds', 'Duration of the last run.', ({ last_run }) => {
    const end = seconds(last_run?.finished_at);
    return end === null ? null : end - (seconds(last_run?.started_at) ?? end);
  }),
  perJob('next_tick_timestamp_seconds', 'When the job is due next.', (job) => seconds(job.next_tick_at)),
  perJob(
    'success_due_timestamp_seconds',
    'First tick after the last success: once it has passed, a success is due. Absent while the job is paused.',
    (job) => seconds(job.success_due_at),
  ),
  perJob(
    'retry_timestamp_seconds',
    'When the last run is tried again because its failure may pass; absent if it is not.',
    ({ retry }) => seconds(retry?.at),
  ),
  perJob('retry_attempt', 'Number of the next try of a run that failed; 0 if none is due.', ({ retry }) =>
    retry === null ? 0 : retry.attempt,
  ),
  perTable(
    'freshness_seconds',
    'Age of the oldest part of the table: time since that part was up to date.',
    ({ freshness_seconds }) => freshness_seconds,
  ),
  {
    name: 'drift_ratio',
    help: 'Share of the rows of final days that differed from the service in the last verification of the table, 0 to 1.',
    labels: ['table'],
    values: ({ document }) => document.verification.map(({ table, drift_ratio }) => [[table], drift_ratio]),
  },
  single('drift_limit', 'Drift ratio above which the health is late.', (facts) => facts.driftLimit),
  perTable('table_rows', 'Rows in the table.', ({ rows }) => rows),
  ...OUTBOX_STATES.map((state) =>
    single(`push_${state}`, `Outbox entries in the state ${state}.`, ({ document }) => document.outbox[state]),
  ),
  single(
    'push_unknown_age_seconds',
    'How long the outcome of the oldest unknown push has been unknown; 0 if there is none.',
    ({ unknownSince, nowMs }) => Math.max(0, nowMs / 1_000 - (seconds(unknownSince) ?? nowMs / 1_000)),
  ),
  single('push_attention', 'Outbox entries that need a person; 0 if there are none.', ({ document }) =>
    document.attention.reduce((sum, { entries }) => sum + entries, 0),
  ),
  single(
    'push_deadline_missed',
    'Plans that were not confirmed by the deadline of the day before and still are not; 0 if no deadline is configured.',
    ({ document }) => document.deadline?.missed.length ?? 0,
  ),
  single('quarantine_records', 'Records in quarantine.', ({ document }) => document.quarantine),
  single('session_active', 'Whether the service accepts the token (1) or there is none (0).', ({ document }) =>
    Number(document.session.state === 'active'),
  ),
  single('session_expiry_timestamp_seconds', 'When the token of the service expires.', ({ document }) =>
    seconds(document.session.expires_at),
  ),
  single(
    'config_last_reload_successful',
    'Whether the last edit of the configuration is in effect (1) or was rejected (0).',
    ({ document }) => Number(document.config.error === null),
  ),
  single('config_loaded_timestamp_seconds', 'When the running configuration was loaded.', ({ document }) =>
    seconds(document.config.loaded_at),
  ),
  single(
    'disk_free_bytes',
    'Free space for the warehouse and the pictures; of two disks, the one with less.',
    ({ diskFreeBytes }) => diskFreeBytes,
  ),
  single('leases_held', 'Jobs that a daemon is running under a lease.', ({ leasesHeld }) => leasesHeld),
  single(
    'daemons_alive',
    'Daemons on this warehouse with a recent heartbeat.',
    ({ document }) => document.daemons.filter(({ state }) => state === 'alive').length,
  ),
  {
    name: 'daemon_info',
    help: 'A daemon on this warehouse, with its host and version; always 1.',
    labels: ['daemon', 'host', 'version'],
    values: ({ document }) => document.daemons.map((daemon) => [[daemonName(daemon), daemon.host, daemon.version], 1]),
  },
  perDaemon('daemon_alive', 'Whether the daemon has a recent heartbeat (1) or not (0).', ({ state }) =>
    Number(state === 'alive'),
  ),
  perDaemon('daemon_started_timestamp_seconds', 'When the daemon started.', (daemon) => seconds(daemon.started_at)),
  perDaemon('daemon_heartbeat_timestamp_seconds', 'Last heartbeat of the daemon.', (daemon) =>
    seconds(daemon.heartbeat_at),
  ),
  perDaemon(
    'daemon_slices_per_minute',
    'Slices that the daemon loaded in the last minute; absent while it is silent.',
    ({ slices_per_minute }) => slices_per_minute,
  ),
  ...QUEUE.map(({ name, help }) => single(`queue_${name}`, help, ({ document }) => document.queue?.[name] ?? null)),
];
