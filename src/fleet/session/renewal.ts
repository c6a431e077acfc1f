// Renews tokens in the way that is set or learned. A renewal that is refused in every way, or gets no answer, leaves
// the login: a session must not hang on the one call that can be done without.
import { Retriable, RoadbookError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { PRIORITY } from '../../core/rate/limiter.ts';
import { renew } from '../endpoints/renew.ts';
import { RENEWAL_TRIALS, type RenewalMode } from '../readings.ts';
import type { Exchange, ExchangeContext } from '../transport/exchange.ts';
import type { WireAnswer } from '../transport/transport.ts';
import { TransportFault } from '../transport/transport-fault.ts';
import type { SessionMemory } from './session-memory.ts';
import type { Tokens } from './tokens.ts';

/** Undefined means that only a login is left. */
export type Renew = (old: Tokens, context: ExchangeContext) => Promise<Tokens | undefined>;

export interface RenewalDependencies {
  exchange: Exchange;
  memory: SessionMemory;
  log: Log;
  /** As set; `auto` learns. */
  setting: 'auto' | RenewalMode;
}

/** `refused`: this way does not work here; `failed`: nothing can be said about it; `unanswered`: nor about others. */
type Trial = Tokens | 'refused' | 'failed' | 'unanswered';

export function createRenewal({ exchange, memory, log, setting }: RenewalDependencies): Renew {
  /** No way but login worked: known for this process only, since a refresh token may just have ended. */
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
    let mayBeTriedAgain = trials.length < RENEWAL_TRIALS.length;
    for (const mode of trials) {
      const trial = await tryMode(exchange, mode, old, context);
      if (typeof trial === 'object') {
        await learn(mode);
        log.debug({ event: 'token_renewed', mode }, 'token renewed');
        return trial;
      }
      if (trial !== 'refused') mayBeTriedAgain = true;
      // Another way would wait as long for the same call.
      if (trial === 'unanswered') break;
    }
    if (!mayBeTriedAgain) onlyLogin = true;
    return undefined;
  };
}

async function tryMode(
  exchange: Exchange,
  mode: RenewalMode,
  old: Tokens,
  context: ExchangeContext,
): Promise<Trial> {
  if (mode === 'login' || (mode !== 'access-bearer' && old.refresh === undefined)) return 'refused';
  const request = renew.prepare({ refreshToken: mode === 'body' ? old.refresh : undefined }, 'json');
  const bearer = mode === 'refresh-bearer' ? old.refresh : old.access;
  const answer = await answerOrNone(
    exchange.send('read', request, () => bearer, { ...context, priority: PRIORITY.session }),
  );
  if (answer === undefined) return 'unanswered';
  if (answer.status >= 200 && answer.status < 300) return readTrial(answer);
  const refusal = exchange.refusal('read', request, answer);
  // A service that asks to wait is not asked in another way meanwhile.
  if (refusal instanceof Retriable && refusal.pauseMs !== undefined) throw refusal;
  return answer.status >= 500 ? 'failed' : 'refused';
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
