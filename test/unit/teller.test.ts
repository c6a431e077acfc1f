// Who is told, and when telling stops: by what the ERP answers.
import { describe, expect, it } from 'vitest';
import { Fatal, Retriable } from '../../src/core/errors.ts';
import { createTeller } from '../../src/sync/push/teller.ts';

const refused = () => new Fatal('no', { code: 'erp_answer_refused' });
const unavailable = () => new Retriable('busy', { code: 'erp_unavailable' });
const unreachable = () => new Retriable('away', { code: 'erp_unreachable' });

/** An ERP that fails for a list as `failureOf` says of any number in it. */
function erp(failureOf: (n: number) => Error | undefined, signal = new AbortController().signal) {
  const heard: number[] = [];
  let calls = 0;
  const teller = createTeller<number>(signal, async (some) => {
    calls++;
    for (const n of some) {
      const failure = failureOf(n);
      if (failure !== undefined) throw failure;
    }
    heard.push(...some);
  });
  return { teller, heard, calls: () => calls };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('telling the ERP', () => {
  it('takes one call where nothing is refused', async () => {
    const { teller, heard, calls } = erp(() => undefined);
    expect(await teller.tell(numbers(0, 200))).toBe(true);
    expect([heard.length, calls(), teller.refusal()]).toEqual([200, 1, undefined]);
  });

  it('reaches all but those that are refused, and keeps the first refusal', async () => {
    const { teller, heard } = erp((n) => (n % 3 === 0 ? refused() : undefined));
    expect(await teller.tell(numbers(0, 9))).toBe(true);
    expect(heard).toEqual([1, 2, 4, 5, 7, 8]);
    expect(teller.refusal()?.code).toBe('erp_answer_refused');
  });

  it('goes on after a whole list that is refused', async () => {
    const { teller, heard } = erp((n) => (n < 200 ? refused() : undefined));
    expect(await teller.tell(numbers(0, 200))).toBe(true);
    expect(await teller.tell(numbers(200, 210))).toBe(true);
    expect(heard).toEqual(numbers(200, 210));
  });

  it('stops at once where nobody can be reached', async () => {
    const { teller, calls } = erp(() => unreachable());
    expect(await teller.tell(numbers(0, 200))).toBe(false);
    expect(calls()).toBe(1);
  });

  it('stops where the ERP keeps saying that it is not available, and not where it hears one in between', async () => {
    const away = erp(() => unavailable());
    expect(await away.teller.tell(numbers(0, 200))).toBe(false);
    expect(away.calls()).toBe(30);
    const choosy = erp((n) => (n % 20 === 0 ? undefined : unavailable()));
    expect(await choosy.teller.tell(numbers(0, 200))).toBe(true);
    expect(choosy.heard).toHaveLength(10);
  });

  it('stops where the run does', async () => {
    const stop = new AbortController();
    const { teller, calls } = erp(() => {
      stop.abort();
      return refused();
    }, stop.signal);
    expect(await teller.tell(numbers(0, 200))).toBe(false);
    expect([calls(), teller.refusal()]).toEqual([1, undefined]);
    expect(await teller.tell(numbers(0, 200))).toBe(false);
    expect(calls()).toBe(1);
  });
});
