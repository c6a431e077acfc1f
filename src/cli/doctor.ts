// roadbook doctor: checks everything that a working daemon needs and reports ok, warn or fail, with a hint.
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { alertMessage } from '../status/alerts/alerts.ts';
import { sendToWebhook } from '../status/alerts/webhook.ts';
import type { CheckResult } from '../status/doctor/check-result.ts';
import { type DoctorDependencies, runChecks } from '../status/doctor/doctor.ts';
import { rejectionOf } from '../status/health/config-error.ts';
import { type ProbeReport, probeService } from '../sync/probe/probe.ts';
import { readConfigState } from '../warehouse/control/config-state.ts';
import { budgetOf } from './budget.ts';
import { defineCommand, print, withApp } from './command.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { coloured, textTable } from './output/text-table.ts';

export const define = (command: Command): Command =>
  defineCommand<{ alert: boolean; probe: boolean }>(command, {
    options: (command) =>
      command
        .option('--alert', 'send a test message to alerts.webhook', false)
        .option('--probe', 'find out what the service leaves undocumented, with calls that change no record', false),
    action: withApp(async (app, _args, { json, alert, probe }) => {
      const results = await checkApp(app, { alert, probe });
      print(json ? JSON.stringify({ checks: results }, null, 2) : showChecks(results));
      const failed = results.find(({ state }) => state === 'fail');
      return failed === undefined ? EXIT.ok : exitCodeOf(failed.code ?? 'failed');
    }),
  });

type Asked = Partial<Record<'alert' | 'probe', boolean>> & Pick<DoctorDependencies, 'only'>;

export const checkApp = (app: App, { alert = false, probe = false, only }: Asked = {}): Promise<CheckResult[]> =>
  runChecks({
    ...app,
    only,
    file: app.loaded.file,
    config: app.loaded.config,
    configError: async () => rejectionOf(app.loaded.file, await app.tryRead(readConfigState)),
    budgetWarnings: async () => (await budgetOf(app)).warnings,
    ...(alert && { sendTestAlert: () => sendTestAlert(app) }),
    ...(probe && { probe: () => probeApp(app) }),
  });

function sendTestAlert(app: App): Promise<void> {
  const condition = { subject: 'test', state: 'test', text: 'this is a test message; nothing is wrong' };
  const message = alertMessage(condition, 'ok', app);
  return sendToWebhook(app.loaded.config.alerts.webhook, message, { clock: app.clock });
}

async function probeApp({ clock, service, warehouse, loaded }: App): Promise<ProbeReport> {
  const dependencies = { fleet: (await service()).fleet, engine: await warehouse(), clock };
  const isEnabled = (job: string): boolean => loaded.config.jobs[job]?.enabled === true;
  return probeService(dependencies, { isSeen: true, isEnabled });
}

export const showChecks = (results: readonly CheckResult[]): string =>
  textTable(
    ['check', 'state', 'result', 'try'],
    results.map(({ check, state, found, hint }) => [check, coloured(state), found, hint ?? '']),
  );
