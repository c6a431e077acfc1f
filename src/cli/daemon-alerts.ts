// The alerts of a daemon: how everything is, by its running configuration.
import type { App } from '../app.ts';
import {
  type Condition,
  configCondition,
  deadlineCondition,
  jobConditions,
  outboxCondition,
} from '../status/alert-conditions.ts';
import { type Alerts, createAlerts } from '../status/alerts.ts';
import { deadlineStatus } from '../status/deadline.ts';
import { outboxHealth } from '../status/health.ts';
import { jobStatuses } from '../status/status-document.ts';
import { configState } from '../warehouse/config-state.ts';
import type { Engine } from '../warehouse/engine.ts';
import { oldestUnknown, outboxCounts } from '../warehouse/outbox.ts';

export const daemonAlerts = (app: App, engine: Engine): Alerts =>
  createAlerts({
    engine,
    clock: app.clock,
    log: app.log,
    redactor: app.redactor,
    webhook: () => app.loaded.config.alerts.webhook,
    look: () => conditions(app, engine),
  });

/** A further thing to be alerted of is one more line here. */
async function conditions(app: App, engine: Engine): Promise<Condition[]> {
  const state = await configState(engine).read();
  const { clock, jobs, loaded } = app;
  const { unknown } = await outboxCounts(engine);
  const isLate = outboxHealth(await oldestUnknown(engine), clock.now()) !== 'ok';
  return [
    ...jobConditions(await jobStatuses({ config: loaded.config, configState: state, jobs, engine, clock })),
    outboxCondition(unknown, isLate),
    configCondition(state?.refused?.error ?? null),
    deadlineCondition(await deadlineStatus({ config: loaded.config, engine, clock })),
  ];
}
