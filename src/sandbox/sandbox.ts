// The simulated service: a changing fleet behind the calls that the API document describes. The same seed, options and
// steps give the same bytes.

import { createSandboxDependencies } from './dependencies.ts';
import { createAdmin } from './http/admin.ts';
import type { Call } from './http/call.ts';
import { createApp, listen } from './http/http-server.ts';
import { checklistCalls } from './routes/checklists.ts';
import { dailySummaryCalls } from './routes/daily-summaries.ts';
import { driverCalls } from './routes/drivers.ts';
import { eventCalls } from './routes/events.ts';
import { itineraryCalls } from './routes/itineraries.ts';
import { pointOfInterestCalls } from './routes/points-of-interest.ts';
import { routePlanCalls } from './routes/route-plans.ts';
import { sessionCalls } from './routes/session.ts';
import { vehicleCalls } from './routes/vehicles.ts';
import { type SandboxOptions, settingsFrom } from './sandbox-options.ts';
import { createTruth } from './truth.ts';

export type { Fault } from './faults/faults.ts';
export type { Credentials } from './http/account.ts';
export type { Shapes } from './http/shapes.ts';
export type { Ledger } from './ledger.ts';
export type { SandboxClock } from './sandbox-clock.ts';
export type { SandboxOptions } from './sandbox-options.ts';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

export async function startSandbox(options: SandboxOptions = {}) {
  const settings = settingsFrom(options);
  const dependencies = createSandboxDependencies(settings);
  const admin = createAdmin(dependencies, createTruth(dependencies.world));
  const { url, close } = await listen(createApp(CALLS, dependencies, admin), settings.host, settings.port);
  return {
    /** `http://host:port`, the base of all paths. */
    url,
    /** Closes open connections too; safe to call twice. */
    close,
    clock: dependencies.clock,
    /** The credentials that a login must send. */
    credentials: settings.credentials,
    ledger: dependencies.ledger.read,
    addFault: dependencies.faults.add,
    clearFaults: dependencies.faults.clear,
  };
}

const CALLS: readonly Call[] = [
  ...sessionCalls,
  ...checklistCalls,
  ...routePlanCalls,
  ...pointOfInterestCalls,
  ...itineraryCalls,
  ...driverCalls,
  ...vehicleCalls,
  ...dailySummaryCalls,
  ...eventCalls,
];
