// The way between a simulated daemon and the sandbox: real HTTP, made when its turn comes, with delays and losses of
// the seed's choice on the simulated clock. Faults of the service itself are the sandbox's.
import type { Clock } from '../../../src/core/time/clock.ts';
import { createTransport, type Transport, type TransportOptions } from '../../../src/fleet/transport/transport.ts';
import { TransportFault } from '../../../src/fleet/transport/transport-fault.ts';
import type { Random } from '../../../src/sandbox/made-up/seeded-random.ts';
import type { SimulatedIo } from './simulated-io.ts';

/** Shares of requests, each from 0 to 1. */
export interface Weather {
  /** Nothing gets through. */
  isDown: boolean;
  /** Never arrives; the client waits to its deadline. */
  lostThere: number;
  /** Is carried out, and the answer never arrives. */
  lostBack: number;
  /** The longest way in one direction, ms. */
  delayMs: number;
}

export const CALM: Weather = { isDown: false, lostThere: 0, lostBack: 0, delayMs: 200 };

export interface NetworkDependencies {
  io: SimulatedIo;
  clock: Clock;
  random: Random;
  weather(): Weather;
  onExchange(line: string): void;
}

export function simulateNetwork(options: TransportOptions, dependencies: NetworkDependencies): Transport {
  const { io, clock, random, weather, onExchange } = dependencies;
  const real = createTransport(options);

  async function travel(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await clock.sleep(ms, signal).catch(() => {
      throw new TransportFault('aborted');
    });
  }

  return {
    async send(request, { signal, ...rest } = {}) {
      const { isDown, lostThere, lostBack, delayMs } = weather();
      const [there, back] = [random.int(1, delayMs), random.int(1, delayMs)];
      const isLostThere = random.chance(lostThere);
      const isLostBack = random.chance(lostBack);
      const call = `${request.method} ${request.path}?${request.query}`;
      if (isDown) {
        onExchange(`${call} unreachable`);
        throw new TransportFault('unreachable', 'ECONNREFUSED');
      }
      await travel(isLostThere ? options.timeoutMs : there, signal);
      if (isLostThere) {
        onExchange(`${call} lost on its way`);
        throw new TransportFault('timed_out');
      }
      // A kept connection may be closing by the machine's time, which is not the simulation's.
      const answer = await io
        .turn(call, () => real.send(request, { ...rest, freshConnection: true }))
        .catch((error: TransportFault) => {
          onExchange(`${call} ${error.fault}`);
          throw error;
        });
      onExchange(`${call} ${answer.status} ${answer.body.length}${isLostBack ? ' lost on its way back' : ''}`);
      await travel(isLostBack ? options.timeoutMs : back, signal);
      if (isLostBack) throw new TransportFault('timed_out');
      return answer;
    },
    close: real.close,
  };
}
