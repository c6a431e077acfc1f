// Sends one message to the webhook, with a time limit and retries. The address is a secret, because anybody who knows
// it can post there, so errors name only the HTTP status.

import { Fatal, Retriable } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { type RetryPolicy, retry } from '../../core/retry/retry.ts';
import { retryAfterMs } from '../../core/retry/retry-after.ts';
import type { Clock } from '../../core/time/clock.ts';

const TIMEOUT_MS = 10_000;
const LONGEST_PAUSE_MS = 30_000;
const POLICY: RetryPolicy = { attempts: 4, baseMs: 1_000, capMs: 15_000, deadlineMs: 90_000 };
const RETRIABLE: readonly number[] = [408, 425, 429];
const HINT = 'Check alerts.webhook; test it with `roadbook doctor --alert`.';

export const sendToWebhook = (
  address: string,
  message: JsonObject,
  { clock, signal }: { clock: Clock; signal?: AbortSignal },
): Promise<void> =>
  retry(() => sendOnce(address, message, clock, signal), { clock, random: Math.random, policy: POLICY, signal });

async function sendOnce(address: string, message: JsonObject, clock: Clock, signal?: AbortSignal) {
  // Imported with the first message: most daemons send none.
  const { default: got } = await import('got');
  const { statusCode, headers } = await got
    .post(address, {
      json: message,
      retry: { limit: 0 },
      throwHttpErrors: false,
      followRedirect: false,
      timeout: { request: TIMEOUT_MS },
      headers: { 'user-agent': 'roadbook' },
      signal,
    })
    .catch((error: { code?: unknown }) => {
      signal?.throwIfAborted();
      throw new Retriable(`The alert webhook cannot be reached (${error.code})`, { code: 'alert_failed', hint: HINT });
    });
  if (statusCode >= 200 && statusCode <= 299) return;
  if (statusCode < 500 && !RETRIABLE.includes(statusCode)) {
    throw new Fatal(`The alert webhook rejected the message (${statusCode})`, { code: 'alert_rejected', hint: HINT });
  }
  const pauseMs = retryAfterMs(headers['retry-after'], clock.now());
  throw new Retriable(`The alert webhook answered ${statusCode}`, {
    code: 'alert_failed',
    hint: HINT,
    ...(pauseMs !== undefined && { pauseMs: Math.min(pauseMs, LONGEST_PAUSE_MS) }),
  });
}
