// The probe that a verification makes first, if it has calls enough.
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import { PRIORITY } from '../../core/rate/rate.ts';
import type { RunContext } from '../job.ts';
import { MOST_PROBE_CALLS, probeService } from '../probe/probe.ts';
import { callContext } from '../pull/calls.ts';
import { stoppedEarly } from '../run.ts';

/** A probe takes at most a quarter of the calls. */
export const LEAST_CALLS_WITH_PROBE = 4 * MOST_PROBE_CALLS;

interface ProbeChoice {
  probe: boolean;
  max_calls: number;
}

/** Whether verifications make the probe. */
export const isProbing = ({ probe, max_calls }: ProbeChoice): boolean => probe && max_calls >= LEAST_CALLS_WITH_PROBE;

/** Asks the service whether it still behaves as before. Returns why it could not. */
export async function probeFirst(
  context: RunContext,
  { probe, max_calls }: ProbeChoice,
  callsLeft: { count: number },
): Promise<RoadbookError[]> {
  const { log, signal, jobs, dependencies } = context;
  if (!isProbing({ probe, max_calls })) {
    if (probe) log.warn({ max_calls, needed: LEAST_CALLS_WITH_PROBE }, 'probe left out: max_calls is too low');
    return [];
  }
  const calling = callContext({ ...context, callsLeft }, signal, PRIORITY.history);
  const isEnabled = (job: string): boolean => jobs?.find(job)?.enabled !== false;
  try {
    const { answers } = await probeService(dependencies, { isSeen: false, calling, isEnabled });
    for (const { question, answer, was } of answers) {
      if (was !== undefined) log.warn({ event: 'service_changed', question, was, answer }, 'service has changed');
    }
    return [];
  } catch (thrown) {
    return [signal.aborted ? stoppedEarly('The next run makes the probe again.') : asRoadbookError(thrown)];
  }
}
