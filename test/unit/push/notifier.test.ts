// Which items the ERP is notified of, and when notification stops, by the answers of the ERP.
import { describe, expect, it } from 'vitest';
import { Fatal, Retriable } from '../../../src/core/errors.ts';
import { createNotifier } from '../../../src/sync/push/acknowledge.ts';

const rejection = () => new Fatal('no', { code: 'erp_answer_rejected' });
const unavailable = () => new Retriable('busy', { code: 'erp_unavailable' });
const loginRejected = () => new Fatal('login', { code: 'erp_login_rejected' });
const unreachable = () => new Retriable('away', { code: 'erp_unreachable' });

/** An ERP that fails for a list as `failureOf` says of any number in it. */
function erp(failureOf: (n: number) => Error | undefined, signal = new AbortController().signal) {
  const heard: number[] = [];
  let calls = 0;
  const notifier = createNotifier<number>(signal, async (some) => {
    calls++;
    for (const n of some) {
      const failure = failureOf(n);
      if (failure !== undefined) throw failure;
    }
    heard.push(...some);
    return [];
  });
  return { notifier, heard, calls: () => calls };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('notification of the ERP', () => {
  it('takes one call where nothing is rejected', async () => {
    const { notifier, heard, calls } = erp(() => undefined);
    expect(await notifier.notify(numbers(0, 200))).toBe(true);
    expect([heard.length, calls(), notifier.failure()]).toEqual([200, 1, undefined]);
  });

  it('reaches all items but the rejected ones, and keeps the first rejection', async () => {
    const { notifier, heard } = erp((n) => (n % 3 === 0 ? rejection() : undefined));
    expect(await notifier.notify(numbers(0, 9))).toBe(true);
    expect(heard).toEqual([1, 2, 4, 5, 7, 8]);
    expect(notifier.failure()?.code).toBe('erp_answer_rejected');
  });

  it('continues after a list that is rejected completely', async () => {
    const { notifier, heard } = erp((n) => (n < 200 ? rejection() : undefined));
    expect(await notifier.notify(numbers(0, 200))).toBe(true);
    expect(await notifier.notify(numbers(200, 210))).toBe(true);
    expect(heard).toEqual(numbers(200, 210));
  });

  it('repeats no call for the failures of single items, and keeps the first', async () => {
    const answers = [[rejection()], [unavailable(), rejection()], Array.from({ length: 30 }, unavailable)];
    let calls = 0;
    const notifier = createNotifier<number>(new AbortController().signal, async () => answers[calls++] ?? []);
    expect([await notifier.notify(numbers(0, 50)), await notifier.notify(numbers(0, 50)), calls]).toEqual([
      true,
      true,
      2,
    ]);
    expect(await notifier.notify(numbers(0, 30))).toBe(false);
    expect(await notifier.notify(numbers(0, 50))).toBe(false);
    expect([calls, notifier.failure()?.code]).toEqual([3, 'erp_answer_rejected']);
  });

  it.each([
    ['cannot be reached', unreachable],
    ['rejects the login', loginRejected],
  ])('stops at once where the ERP %s', async (_, failure) => {
    const { notifier, calls } = erp(failure);
    expect(await notifier.notify(numbers(0, 200))).toBe(false);
    expect(calls()).toBe(1);
  });

  it('stops where the ERP keeps answering that it is unavailable, but not where it accepts an item in between', async () => {
    const away = erp(() => unavailable());
    expect(await away.notifier.notify(numbers(0, 200))).toBe(false);
    expect(away.calls()).toBe(30);
    const choosy = erp((n) => (n % 20 === 0 ? undefined : unavailable()));
    expect(await choosy.notifier.notify(numbers(0, 200))).toBe(true);
    expect(choosy.heard).toHaveLength(10);
  });

  it('stops with the run', async () => {
    const stop = new AbortController();
    const { notifier, calls } = erp(() => {
      stop.abort();
      return rejection();
    }, stop.signal);
    expect(await notifier.notify(numbers(0, 200))).toBe(false);
    expect([calls(), notifier.failure()]).toEqual([1, undefined]);
    expect(await notifier.notify(numbers(0, 200))).toBe(false);
    expect(calls()).toBe(1);
  });
});
