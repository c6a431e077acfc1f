// Renews tokens in the mode that is configured or learned. If every mode is rejected, or no answer comes, the session logs
// in instead: a session must not depend on the one call that it can do without.
import { Retriable, RoadbookError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { PRIORITY } from '../../core/rate/rate.ts';
import { renew } from '../endpoints/renew.ts';
import { RENEWAL_TRIALS, type RenewalMode } from '../interpretations.ts';
import { type Exchange, type ExchangeContext, isSuccess } from '../transport/exchange.ts';
import type { WireAnswer } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';
import type { SessionMemory } from './session-memory.ts';
import type { Tokens } from './tokens.ts';

/** Undefined if the session must log in instead. */
export type Renew = (old: Tokens, context: ExchangeContext) => Promise<Tokens | undefined>;

export interface RenewalDependencies {
  exchange: Exchange;
  memory: SessionMemory;
  log: Log;
  /** service.renewal; `auto` learns the mode. */
  setting: 'auto' | RenewalMode;
}

/** `rejected`: this mode does not work; `failed`: unknown whether it works; `unanswered`: no mode would get an answer. */
type Trial = Tokens | 'rejected' | 'failed' | 'unanswered';

export function createRenewal({ exchange, memory, log, setting }: RenewalDependencies): Renew {
  /** Every mode was rejected. Not stored: the refresh token may only have expired. */
  let onlyLogin = false;

  async function modes(): Promise<readonly RenewalMode[]> {
    if (setting !== 'auto') return [setting];
    if (onlyLogin) return [];
    const learned = (await memory.read())?.renewal;
    return learned !== undefined && RENEWAL_TRIALS.includes(learned) ? [learned] : RENEWAL_TRIALS;
  }

  async function learn(mode: RenewalMode): Promise<void> {
    if (setting !== 'auto' || (await memory.read())?.renewal === mode) return;
    await memory.update(async (facts) => ({ ...facts, renewal: mode }));
  }

  return async (old, context) => {
    const trials = await modes();
    let canRetryLater = trials.length < RENEWAL_TRIALS.length;
    for (const mode of trials) {
      const trial = await tryRenewal(exchange, mode, old, context);
      if (typeof trial === 'object') {
        await learn(mode);
        log.debug({ event: 'token_renewed', mode }, 'token renewed');
        return trial;
      }
      if (trial !== 'rejected') canRetryLater = true;
      // Another mode would wait just as long for the same call.
      if (trial === 'unanswered') break;
    }
    if (!canRetryLater) onlyLogin = true;
    return undefined;
  };
}

export async function tryRenewal(
  exchange: Exchange,
  mode: RenewalMode,
  old: Tokens,
  context: ExchangeContext,
): Promise<Trial> {
  if (mode === 'login' || (mode !== 'access-bearer' && old.refresh === undefined)) return 'rejected';
  const request = renew.prepare({ refreshToken: mode === 'body' ? old.refresh : undefined }, 'json');
  const bearer = mode === 'refresh-bearer' ? old.refresh : old.access;
  const answer = await answerOrNone(exchange.send(request, () => bearer, { ...context, priority: PRIORITY.session }));
  if (answer === undefined) return 'unanswered';
  if (isSuccess(answer)) return readTrial(answer);
  const failure = exchange.statusError(request, answer);
  // The service asked for a pause, so no other mode is tried.
  if (failure instanceof Retriable && failure.pauseMs !== undefined) throw failure;
  return answer.status >= 500 ? 'failed' : 'rejected';
}

async function answerOrNone(sent: Promise<WireAnswer>): Promise<WireAnswer | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof RoadbookError) return undefined;
    throw error;
  }
}

function readTrial(answer: WireAnswer): Trial {
  try {
    return renew.read(answer);
  } catch (error) {
    if (error instanceof TransportFault) return 'failed';
    throw error;
  }
}
