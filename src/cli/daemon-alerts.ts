// The alerts of a daemon: the conditions that it checks, by its running configuration.
import type { App } from '../app/app.ts';
import { isoInstant } from '../core/time/clock.ts';
import {
  type Condition,
  configCondition,
  deadlineCondition,
  driftCondition,
  jobConditions,
  outboxConditions,
} from '../status/alerts/alert-conditions.ts';
import { type Alerts, createAlerts } from '../status/alerts/alerts.ts';
import { deadlineStatus } from '../status/health/deadline.ts';
import { driftAboveLimit } from '../status/health/drift.ts';
import { jobStatuses } from '../status/health/status-document.ts';
import { outboxAttention } from '../sync/push/attention.ts';
import { configState } from '../warehouse/control/config-state.ts';
import { tableDrift } from '../warehouse/control/verification.ts';
import type { Engine } from '../warehouse/engine.ts';

export const daemonAlerts = (app: App, engine: Engine): Alerts =>
  createAlerts({
    engine,
    clock: app.clock,
    log: app.log,
    redactor: app.redactor,
    webhook: () => app.loaded.config.alerts.webhook,
    look: () => conditions(app, engine),
  });

async function conditions(app: App, engine: Engine): Promise<Condition[]> {
  const state = await configState(engine).read();
  const { clock, jobs, loaded } = app;
  return [
    ...jobConditions(await jobStatuses({ config: loaded.config, configState: state, jobs, engine, clock })),
    ...outboxConditions(await outboxAttention(engine, isoInstant(clock.now()))),
    configCondition(state?.refused?.error ?? null),
    deadlineCondition(await deadlineStatus({ config: loaded.config, engine, clock })),
    driftCondition(driftAboveLimit(await tableDrift(engine), loaded.config)),
  ];
}
