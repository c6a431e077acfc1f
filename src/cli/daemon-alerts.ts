// The alerts of a daemon: the reasons for its health, by its running configuration.
import type { App } from '../app/app.ts';
import { type Alerts, alertConditions, createAlerts } from '../status/alerts/alerts.ts';
import { healthFacts } from '../status/health/status-document.ts';
import { readConfigState } from '../warehouse/control/config-state.ts';
import type { Engine } from '../warehouse/engine.ts';

type AlertingApp = Pick<App, 'clock' | 'log' | 'redactor' | 'jobs'> & { loaded: Pick<App['loaded'], 'config'> };

export const daemonAlerts = (app: AlertingApp, engine: Engine): Alerts =>
  createAlerts({
    ...app,
    engine,
    webhook: () => app.loaded.config.alerts.webhook,
    async readConditions() {
      const configState = await readConfigState(engine);
      const configError = configState?.rejected[0]?.error ?? null;
      const { reasons } = await healthFacts({ ...app, config: app.loaded.config, configState, configError, engine });
      return alertConditions(reasons);
    },
  });
