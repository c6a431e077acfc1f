// Sends one request: takes a limiter slot for every attempt, applies the circuit breaker and the pause that an answer asks
// for. It does not handle retries, and knows of tokens only the bearer.

import { Fatal, Retriable, type RoadbookError } from '../../core/errors.ts';
import type { Limiter } from '../../core/rate/limiter.ts';
import { createBreaker, type Reachability } from '../../core/retry/breaker.ts';
import type { Redactor } from '../../core/text/redaction.ts';
import type { Clock } from '../../core/time/clock.ts';
import { type FailedCall, faultFailure, statusFailure } from './failures.ts';
import type { Transport, WireAnswer, WireRequest } from './transport.ts';
import { TransportFault } from './transport-fault.ts';

export interface CallRequest extends WireRequest {
  kind: FailedCall['kind'];
}

export interface ExchangeContext {
  signal?: AbortSignal;
  /** One of PRIORITY; default: live. */
  priority?: number;
  /** Called for every HTTP attempt, including login and renewal. */
  onRequest?: () => void;
  /** Called right before each attempt of the call itself is sent. If it throws, the attempt is not sent. */
  beforeSend?: () => void;
}

export type Exchange = ReturnType<typeof createExchange>;

export interface ExchangeDependencies {
  transport: Transport;
  limiter: Limiter;
  clock: Clock;
  redactor: Redactor;
}

const BREAKER = { threshold: 10, coolDownMs: 30_000 };

export function createExchange({ transport, limiter, clock, redactor }: ExchangeDependencies) {
  const breaker = createBreaker({ ...BREAKER, clock, judge: reachabilityOf });
  let closed = false;
  let skewMs: number | undefined;

  /** The error for a status that is no success. Pauses all calls if the answer asks for it. */
  function statusError(request: CallRequest, answer: WireAnswer): RoadbookError {
    const { error, pauseMs } = statusFailure(request, answer, { nowMs: clock.now(), redact: redactor.redact });
    if (pauseMs !== undefined) limiter.pause(pauseMs);
    return error;
  }

  return {
    /**
     * The answer, whatever its status. A failure below HTTP is thrown as the error that says how to handle it. `bearer` is
     * called when the slot is free, so that a token renewed in the meantime is sent.
     */
    async send(request: CallRequest, bearer: () => string | undefined, context: ExchangeContext): Promise<WireAnswer> {
      const { signal, priority, onRequest, beforeSend } = context;
      const sendOnce = () => {
        if (closed) throw closedError();
        beforeSend?.();
        onRequest?.();
        return transport.send(request, { bearer: bearer(), signal, freshConnection: request.kind === 'write' });
      };
      const sendIfUp = () => breaker.run(sendOnce, (leftMs) => outageError(request, leftMs));
      try {
        const answer = await limiter.run(sendIfUp, { signal, priority });
        skewMs = skewOf(answer, clock.now()) ?? skewMs;
        return answer;
      } catch (error) {
        if (!(error instanceof TransportFault)) throw error;
        if (error.fault === 'aborted' && request.kind === 'read') throw signal?.reason ?? error;
        throw faultFailure(request, error);
      }
    },
    /** Reads a success; throws the error for any other status, and for an answer in an unexpected form. */
    read<A>(request: CallRequest, answer: WireAnswer, readSuccess: (answer: WireAnswer) => A): A {
      if (!isSuccess(answer)) throw statusError(request, answer);
      try {
        return readSuccess(answer);
      } catch (error) {
        throw error instanceof TransportFault ? faultFailure(request, error) : error;
      }
    },
    statusError,
    /** How far this machine's clock is ahead of the service's, by the last answer; undefined before the first answer. */
    clockSkewMs: () => skewMs,
    close(): void {
      closed = true;
      transport.close();
    },
  };
}

export const isSuccess = ({ status }: WireAnswer): boolean => status >= 200 && status <= 299;

/** The Date header has full seconds; half a second is the best estimate of the fraction. */
function skewOf({ headers }: WireAnswer, nowMs: number): number | undefined {
  const at = Date.parse(headers.date ?? '');
  return Number.isNaN(at) ? undefined : nowMs - (at + 500);
}

function reachabilityOf(error: unknown): Reachability {
  if (!(error instanceof TransportFault) || error.fault === 'aborted') return 'unknown';
  return error.fault === 'unreachable' || error.fault === 'timed_out' ? 'down' : 'up';
}

function outageError({ method, path }: FailedCall, leftMs: number): Retriable {
  return new Retriable(`${method} ${path} was not sent: the service has been unreachable for some time`, {
    code: 'service_unreachable',
    hint: `Check service.base_url and the network; the next attempt is in ${Math.ceil(leftMs / 1_000)} s.`,
  });
}

function closedError(): Fatal {
  return new Fatal('The client of the service is closed', { code: 'closed', hint: 'Start the command again.' });
}
