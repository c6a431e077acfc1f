// Tells people when something changes for the worse, once, and when it is well again, once. Works beside the jobs
// and never holds one up; what cannot be told now is told later.
import { hostname } from 'node:os';
import type { JsonObject } from '../../core/glossary.ts';
import type { Log } from '../../core/log.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import { type Clock, isoInstant } from '../../core/time/clock.ts';
import { createLoop } from '../../core/time/loop.ts';
import {
  claimAlert,
  NOTHING_REPORTED,
  recordAlert,
  reportedStates,
} from '../../warehouse/control/alert-store.ts';
import type { Engine } from '../../warehouse/engine.ts';
import type { Condition } from './alert-conditions.ts';
import { sendToWebhook } from './webhook.ts';

export interface AlertDependencies {
  engine: Engine;
  clock: Clock;
  log: Log;
  redactor: Redactor;
  /** The address of now; empty where nobody is to be told. */
  webhook(): string;
  /** How everything is now. */
  look(): Promise<Condition[]>;
}

export interface Alerts {
  start(): void;
  /** Looks once and tells what changed. */
  runOnce(): Promise<void>;
  /** Idempotent, safe before start. */
  stop(): Promise<void>;
}

/** Between two looks. */
const EVERY_MS = 15_000;

export function createAlerts(dependencies: AlertDependencies): Alerts {
  const { clock, log, engine } = dependencies;
  const stopping = new AbortController();

  async function runOnce(): Promise<void> {
    const address = dependencies.webhook();
    if (address === '') return;
    const told = await reportedStates(engine);
    const changed = (await dependencies.look()).filter(
      ({ subject, state }) => state !== (told.get(subject) ?? NOTHING_REPORTED),
    );
    await Promise.all(changed.map((condition) => tell(address, condition)));
  }

  /** A message that fails leaves its claim, and is tried again when that lapses. */
  async function tell(address: string, condition: Condition): Promise<void> {
    const { subject, state } = condition;
    try {
      const was = await claimAlert(engine, subject, state, clock.now());
      if (was === undefined) return;
      const message = alertMessage(condition, was, dependencies);
      await sendToWebhook(address, message, { clock, signal: stopping.signal });
      await recordAlert(engine, subject, state, clock.now());
      log.info({ event: 'alert_sent', subject, state, was }, 'alert sent');
    } catch (error) {
      if (!stopping.signal.aborted)
        log.warn({ event: 'alert_failed', subject, err: error }, 'alert not sent');
    }
  }

  const looks = createLoop(
    clock,
    EVERY_MS,
    () => runOnce().catch((error) => log.warn({ event: 'alert_failed', err: error }, 'alerts not looked at')),
    { restFirst: true },
  );

  return {
    start: looks.start,
    runOnce,
    async stop() {
      stopping.abort();
      await looks.stop();
    },
  };
}

/** `text` is what Slack and its likes show; the rest is for programs. */
export function alertMessage(
  { subject, state, text }: Condition,
  was: string,
  { clock, redactor }: Pick<AlertDependencies, 'clock' | 'redactor'>,
): JsonObject {
  const event = state === 'ok' ? 'recovery' : 'alert';
  const words = redactor.redact(`Roadbook on ${hostname()}: ${text}${state === 'ok' ? ' (again)' : ''}`);
  return { text: escapeForSlack(words), event, subject, state, was, at: isoInstant(clock.now()) };
}

/** Slack reads `<…>` as a command, such as one that calls everybody. */
const escapeForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
