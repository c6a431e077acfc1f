// When a search that does not show something is believed, with the confirmed entries of a real outbox.
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/manual-clock.ts';
import type { Period, Seen } from '../../src/sync/push/push-kind.ts';
import type { PushRun } from '../../src/sync/push/push-run.ts';
import { indexed, witnessOf } from '../../src/sync/push/search-witness.ts';
import { makePlace } from '../support/engines.ts';
import { hour, KIND, useOutbox } from '../support/outbox-place.ts';

const seen = (id: number, key = `K${id}`, list?: string): Seen =>
  ({ id, key, status: null, record: { id }, list }) as Seen;
const PERIOD: Period = { start: hour(24), end: hour(48) };
const CONFIRMED = {
  state: 'confirmed',
  period_start: hour(30),
  period_end: hour(40),
  confirmed_at: hour(1),
} as const;

interface Asked {
  /** What a further search shows; nothing unless told. */
  elsewhere?: Seen[];
  /** The list that the thing belongs to, where there are several. */
  list?: string;
  /** Whether the search was one of a period. */
  isDated?: boolean;
  /** How often the witness is asked. */
  asks?: number;
}

describe('a search that does not show something', () => {
  const outbox = useOutbox({ name: 'sqlite', make: () => makePlace('sqlite') });

  /** Why its absence proves nothing, and the periods of further searches; `elsewhere` is what those show. */
  async function judge(shown: Seen[], { elsewhere, list, isDated = true, asks = 1 }: Asked = {}) {
    const searched: Period[] = [];
    const push = {
      settings: { settle: 120_000 },
      kind: {
        feed: KIND,
        ...(list === undefined ? {} : { listOf: () => list }),
        list: async (_call: unknown, asked: Period) => {
          searched.push(asked);
          return elsewhere ?? [];
        },
      },
      context: { parts: { engine: outbox.engine, clock: createManualClock(Date.parse(hour(12))) } },
    } as unknown as PushRun;
    const witness = witnessOf(push, indexed(shown), isDated ? PERIOD : undefined);
    const whys = await Promise.all(Array.from({ length: asks }, () => witness({})));
    return { why: whys[0], searched };
  }

  it('is believed where it shows anything else', async () => {
    expect(await judge([seen(1)])).toEqual({ why: undefined, searched: [] });
  });

  it('proves nothing where it shows nothing at all, and neither does one of the days around', async () => {
    const { why, searched } = await judge([], { asks: 2 });
    expect(why).toContain('shows nothing at all');
    expect(searched, 'asked once, two weeks wider on both sides').toEqual([
      { start: hour(24 - 14 * 24), end: hour(48 + 14 * 24) },
    ]);
    expect((await judge([], { isDated: false, elsewhere: [seen(1)] })).why).toContain('shows nothing at all');
  });

  it('is believed where a search of other days shows something', async () => {
    expect((await judge([], { elsewhere: [seen(1)] })).why).toBeUndefined();
  });

  it('is compared with the days of what was shown last, where anything was', async () => {
    await outbox.put('A', { ...CONFIRMED, period_start: hour(-30), period_end: hour(-20), seen_at: hour(2) });
    expect(await judge([])).toMatchObject({ searched: [{ start: hour(-30), end: hour(-20) }] });
  });

  it('proves nothing where it hides all that the service has confirmed', async () => {
    await outbox.put('A', { ...CONFIRMED, remote_id: 7, remote_key: 'K7' });
    await outbox.put('B', { ...CONFIRMED, remote_key: 'K8' });
    expect((await judge([seen(1)])).why).toContain('none of what the service has confirmed');
    expect((await judge([])).why).toContain('none of what the service has confirmed');
    expect((await judge([seen(7, 'other')])).why, 'by its identifier').toBeUndefined();
    expect((await judge([seen(9, 'K8')])).why, 'by its key').toBeUndefined();
  });

  it('need not show what was confirmed a moment ago, or of other days', async () => {
    await outbox.put('A', { ...CONFIRMED, confirmed_at: hour(11.97) });
    await outbox.put('B', { ...CONFIRMED, period_start: hour(60), period_end: hour(70) });
    expect((await judge([seen(1)])).why).toBeUndefined();
    await outbox.put('C', { ...CONFIRMED, confirmed_at: hour(11.96) });
    expect((await judge([seen(1)])).why).toContain('none of what the service has confirmed');
  });

  it('is believed of one list by what is in that list', async () => {
    const shown = [seen(1, 'K1', 'drivers')];
    expect((await judge(shown, { list: 'drivers' })).why).toBeUndefined();
    expect((await judge(shown, { list: 'helpers' })).why).toContain('shows nothing at all');
    await outbox.put('A', { ...CONFIRMED, remote_key: 'K1' });
    expect((await judge(shown, { list: 'helpers' })).why, 'something confirmed is shown').toBeUndefined();
  });
});
