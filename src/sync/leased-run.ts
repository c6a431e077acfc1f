// Runs a job under its lease: across all processes on one warehouse a job never overlaps itself. If a process stalls and
// another takes over the lease, the stalled run neither writes nor sends. A requested period is read beside the scheduled
// runs, so it has a lease of its own.
import { Skippable } from '../core/errors.ts';
import type { Fleet } from '../fleet/client.ts';
import { takeRunRequest } from '../warehouse/control/job-controls.ts';
import { type HeldLease, takeWhenFree } from '../warehouse/control/leases.ts';
import { readTicks } from '../warehouse/control/runs.ts';
import type { SyncDependencies } from './dependencies.ts';
import { type FinishedRun, type RunRequest, runJob } from './run.ts';

export async function runLeased(request: RunRequest, dependencies: SyncDependencies): Promise<FinishedRun> {
  if (dependencies.leases === undefined) return runJob(request, dependencies);
  const { signal, draining, onWait } = request;
  const ending = AbortSignal.any([signal, draining].filter((each) => each !== undefined));
  const { clock } = dependencies;
  const held = await takeWhenFree(dependencies.leases, leaseName(request), { clock, ending, onWait });
  try {
    if (!(await isStillWanted(request, held))) {
      throw new Skippable(`Another process has made this run of ${request.job.name}`, { code: 'tick_taken' });
    }
    const stopped = signal === undefined ? held.lost : AbortSignal.any([signal, held.lost]);
    const leased = { ...request, lease: held, signal: stopped };
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
