// Runs a job under its lease: across all processes on one warehouse a job never overlaps itself. If a process stalls and
// another takes over the lease, the stalled run neither writes nor sends. A requested period is read beside the scheduled
// runs, so it has a lease of its own.
import { Fatal, Skippable } from '../core/errors.ts';
import type { Fleet } from '../fleet/client.ts';
import { takeRunRequest } from '../warehouse/control/job-controls.ts';
import type { HeldLease, LeaseManager } from '../warehouse/control/leases.ts';
import { readTicks } from '../warehouse/control/runs.ts';
import type { SyncDependencies } from './dependencies.ts';
import { type FinishedRun, type RunRequest, runJob } from './run.ts';

/** How often to try again while another process holds the lease. */
const RETRY_MS = 1_000;

export async function runLeased(request: RunRequest, dependencies: SyncDependencies): Promise<FinishedRun> {
  if (dependencies.leases === undefined) return runJob(request, dependencies);
  const held = await acquireLease(request, dependencies, dependencies.leases);
  try {
    if (!(await isStillWanted(request, held))) {
      throw new Skippable(`Another process has made this run of ${request.job.name}`, { code: 'tick_taken' });
    }
    const { signal = new AbortController().signal } = request;
    const leased = { ...request, lease: held, signal: AbortSignal.any([signal, held.lost]) };
    return await runJob(leased, {
      ...dependencies,
      engine: held.engine,
      fleet: withLeaseCheck(dependencies.fleet, held),
    });
  } finally {
    await held.release();
  }
}

const leaseName = ({ job, period }: RunRequest): string => (period === undefined ? job.name : `backfill ${job.name}`);

async function acquireLease(
  request: RunRequest,
  { clock }: SyncDependencies,
  leases: LeaseManager,
): Promise<HeldLease> {
  const { signal, draining } = request;
  const ending = AbortSignal.any([signal, draining].filter((each) => each !== undefined));
  for (let isReported = false; ; isReported = true) {
    const result = await leases.take(leaseName(request));
    if (!('heldBy' in result)) return result;
    const { host, pid, taken_at } = result.heldBy;
    if (!isReported) request.onWait?.(`process ${pid} on ${host}, since ${taken_at}`);
    await clock.sleep(RETRY_MS, ending).catch(() => {
      throw new Fatal(`Stopped while ${request.job.name} was run by another process`, { code: 'stopped' });
    });
  }
}

/** Must be checked under the lease, so that the answer cannot change before the run is opened. */
async function isStillWanted({ job, after, requested }: RunRequest, { engine }: HeldLease): Promise<boolean> {
  if (requested === true) return takeRunRequest(engine, job.name);
  return after === undefined || (await readTicks(engine, job.name)).lastRunId === after;
}

/** A transaction cannot protect calls to the service, so the lease is checked just before each write is sent. */
const withLeaseCheck = (fleet: Fleet, { check }: HeldLease): Fleet => ({
  ...fleet,
  call: (endpoint, request, context) =>
    fleet.call(endpoint, request, {
      ...context,
      ...(endpoint.kind === 'write' && { beforeSend: check }),
    }),
});
