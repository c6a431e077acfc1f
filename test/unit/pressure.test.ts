import { describe, expect, it } from 'vitest';
import type { Limits } from '../../src/core/limiter.ts';
import { createLog } from '../../src/core/log.ts';
import { createManualClock } from '../../src/core/manual-clock.ts';
import { createPressure } from '../../src/core/pressure.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import type { RateBook } from '../../src/core/shared-rate.ts';
import { memoryBook } from '../support/shared-rate.ts';

const log = createLog({ level: 'silent', redactor: createRedactor() });
const FEW: Limits = { concurrency: 1, perMinute: 600 };
const MANY: Limits = { concurrency: 3, perMinute: 6_000 };

function pressed(book?: (clock: ReturnType<typeof createManualClock>) => RateBook) {
  const clock = createManualClock(1_800_000_000_000);
  const shared = book?.(clock);
  return { clock, pressure: createPressure('account', FEW, { clock, log, book: async () => shared }) };
}

describe('the pressure on an account', () => {
  it.each([
    ['of its own', undefined],
    ['that it shares', (clock: ReturnType<typeof createManualClock>) => memoryBook(clock, 2)],
  ])('keeps a rate %s to the limits of now, before and after the service is opened', async (_, book) => {
    const { clock, pressure } = pressed(book);
    pressure.change(MANY);
    const limiter = await pressure.limiter();
    let running = 0;
    let most = 0;
    const call = async () => {
      most = Math.max(most, ++running);
      await clock.sleep(1_000);
      running--;
    };
    for (let n = 0; n < 9; n++) void limiter.run(call);
    await clock.advance(4_500);
    expect(most).toBe(3);
    most = 0;
    pressure.change(FEW);
    for (let n = 0; n < 3; n++) void limiter.run(call);
    await clock.advance(6_000);
    expect(most).toBe(1);
    await pressure.close();
  });

  it('has told the others that it is gone when it is closed, and refuses who still waits', async () => {
    const asked: number[] = [];
    const { clock, pressure } = pressed((clock) => {
      const book = memoryBook(clock, 0);
      return {
        draw(draw) {
          asked.push(draw.waiting + draw.inFlight);
          return book.draw(draw);
        },
      };
    });
    const limiter = await pressure.limiter();
    void limiter.run(() => new Promise(() => undefined));
    const waiting = expect(limiter.run(async () => undefined)).rejects.toMatchObject({ code: 'closed' });
    await clock.advance(100);
    await Promise.all([pressure.close(), clock.advance(100)]);
    await waiting;
    expect(asked.at(-1)).toBe(0);
  });
});
