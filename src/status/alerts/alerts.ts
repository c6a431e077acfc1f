// Sends one alert when a condition becomes bad, at most one an hour while it gets new items, and one when it recovers.
// Alerts run beside the jobs and never delay them. An alert that cannot be sent now is sent later.
import { hostname } from 'node:os';
import type { JsonObject } from '../../core/json.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { createLoop } from '../../core/time/loop.ts';
import type { SyncDependencies } from '../../sync/dependencies.ts';
import {
  claimAlert,
  forgetReports,
  isNews,
  type Reported,
  recordAlert,
  reportedStates,
} from '../../warehouse/control/alert-store.ts';
import { readDaemons } from '../../warehouse/control/processes.ts';
import type { Reason } from '../health/reasons.ts';
import { sendToWebhook } from './webhook.ts';

export interface Condition {
  /** The unique subject: `job pull-events`, `outbox found_twice`, `config`. */
  subject: string;
  /** What is wrong, in one word; `ok` after a recovery. Each change of the state is reported once. */
  state: string;
  /** ISO instant of the newest item, if new ones are reported too. */
  newest: string | null;
  /** A sentence for people. It holds no record and no secret. */
  text: string;
}

export interface AlertDependencies extends Pick<SyncDependencies, 'engine' | 'clock' | 'log' | 'redactor'> {
  /** The configured address; empty if alerts are off. */
  webhook(): string;
  /** Reads what is wrong now. */
  readConditions(): Promise<Condition[]>;
}

export type Alerts = ReturnType<typeof createAlerts>;

/** Time between two checks. */
const EVERY_MS = 15_000;

export function createAlerts(dependencies: AlertDependencies) {
  const { clock, log, engine } = dependencies;
  const stopping = new AbortController();

  async function runOnce(): Promise<void> {
    const address = dependencies.webhook();
    const reported = await reportedStates(engine);
    if (address === '') {
      // Once alerts are on again, what is wrong then is news. Another daemon may have them on.
      const daemons = reported.size === 0 ? [] : await readDaemons(engine, clock);
      if (daemons.filter(({ isSilent }) => !isSilent).length === 1) await forgetReports(engine);
      return;
    }
    const wrong = await dependencies.readConditions();
    const changed = wrong.filter((condition) => isNews(condition, clock.now(), reported.get(condition.subject)));
    const recovered = recoveries(reported, wrong);
    await Promise.all([...changed, ...recovered].map((condition) => report(address, condition)));
  }

  /** If sending fails, the claim stays and the message is retried when the claim expires. */
  async function report(address: string, condition: Condition): Promise<void> {
    const { subject, state } = condition;
    try {
      const was = await claimAlert(engine, condition, clock.now());
      if (was === undefined) return;
      const message = alertMessage(condition, was, dependencies);
      await sendToWebhook(address, message, { clock, signal: stopping.signal });
      await recordAlert(engine, condition, clock.now());
      log.info({ event: 'alert_sent', subject, state, was }, 'alert sent');
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ event: 'alert_failed', subject, err: error }, 'alert not sent');
    }
  }

  const loop = createLoop(
    clock,
    EVERY_MS,
    () => runOnce().catch((error) => log.warn({ event: 'alert_failed', err: error }, 'alert conditions not checked')),
    { restFirst: true },
  );

  return {
    start: loop.start,
    runOnce,
    /** Idempotent, safe before start. */
    async stop(): Promise<void> {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** Slack and similar tools show `text`; the other fields are for programs. */
export function alertMessage(
  { subject, state, text }: Omit<Condition, 'newest'>,
  was: string,
  { clock, redactor }: Pick<AlertDependencies, 'clock' | 'redactor'>,
): JsonObject {
  const event = state === 'ok' ? 'recovery' : 'alert';
  const words = redactor.redact(`Roadbook on ${hostname()}: ${text}`);
  return { text: escapeForSlack(words), event, subject, state, was, at: isoInstant(clock.now()) };
}

/** Slack reads `<…>` as a command; `<!channel>`, for example, notifies everybody. */
const escapeForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A pause is intended, a new job has not run yet, and a read-back within ten minutes needs nobody. */
const SILENT: readonly string[] = ['job_paused', 'job_never_ran', 'push_unclear'];

export const alertConditions = (reasons: readonly Reason[]): Condition[] =>
  reasons
    .filter(({ code }) => !SILENT.includes(code))
    .map((reason) => ({
      subject: reason.subject,
      state: stateOf(reason),
      newest: reason.newest ?? null,
      text: reason.hint === null ? reason.text : `${reason.text}. Try: ${reason.hint}`,
    }));

/** The state names what is wrong with the subject, so it leaves out what the subject says already. */
const stateOf = ({ code }: Reason): string => code.replace(/^(job|push|deadline|config|daemon|service)_/, '');

/** The subjects that were reported as wrong and are so no more. */
function recoveries(reported: ReadonlyMap<string, Reported>, now: readonly Condition[]): Condition[] {
  const wrong = new Set(now.map(({ subject }) => subject));
  return [...reported]
    .filter(([subject, { state }]) => state !== 'ok' && !wrong.has(subject))
    .map(([subject, { state }]) => {
      const text = `${subject.replace(/^job /, '')}: no longer ${state.replaceAll('_', ' ')}`;
      return { subject, state: 'ok', newest: null, text };
    });
}
