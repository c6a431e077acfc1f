// The three promises of push, in cases that once broke them: never twice, never lost, never silent. The sandbox's
// ledger is the truth. Not covered here: a TLS error after the handshake (fleet-tls), returns (push-returns),
// the deadline count (status-deadline), the cost of an idle run (outbox-cost).
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outboxAttention } from '../../../src/sync/push/attention.ts';
import { searchEntries } from '../../../src/warehouse/outbox/lists.ts';
import type { Answering } from '../../support/fleet/front.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { plan, plans } from '../../support/push/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE_MS = 60_000;
const on = (day: string) => ({
  date_time_start: `2025-03-${day}T08:00:00-03:00`,
  date_time_end: `2025-03-${day}T18:00:00-03:00`,
});
const accepted = ({ sandbox }: PushPlace) => sandbox.ledger().plans;
const searches = ({ sandbox }: PushPlace): number => sandbox.ledger().requests['route-plans'] ?? 0;

/** A person is notified everywhere: by the run, first in the list, and in the attention that the health is made of. */
async function expectAlarm(place: PushPlace, reason: string, code: string, options = {}): Promise<void> {
  expect(await place.run(JOB, options)).toMatchObject({ status: 'partial', error: { code: reason } });
  const [first] = await place.engine.read((sql) => searchEntries(sql, { limit: 1 }));
  expect(first).toMatchObject({ external_code: code, attention: reason });
  const attention = await outboxAttention(place.engine, place.now());
  expect(attention).toMatchObject([{ reason, entries: 1 }]);
}

describe('a feed that was not read to its end', () => {
  const HEAD = 'plan.external_code,plan.date_time_start,plan.date_time_end,point.name,point.address';
  const row = (code: string, stop: number): string =>
    `${code},${on('13').date_time_start},${on('13').date_time_end},Stop ${stop},"Rua Um, ${stop}"`;

  it('has nothing sent of it: a table that changes during the read is read again in full', async () => {
    const sent: string[] = [];
    const place = await makePushPlace({
      answering: (_url, _original, { body }) => {
        sent.push(body);
        return undefined;
      },
    });
    const codes = Array.from({ length: 600 }, (_, i) => `P${i}`);
    place.drop('route_plans', 'a.csv', [HEAD, ...codes.flatMap((code) => [row(code, 1), row(code, 2)]), ''].join('\n'));
    const feed = await place.dependencies.erp('route_plans');
    const read = feed?.source.read.bind(feed.source);
    if (feed === undefined || read === undefined) throw new Error('no feed');
    let isChanged = false;
    feed.source.read = async function* (signal) {
      for await (const batch of read(signal)) {
        yield batch;
        if (!isChanged) appendFileSync(join(place.folder('route_plans'), 'a.csv'), `${row('P599', 3)}\n`);
        isChanged = true;
      }
    };
    await place.run(JOB);
    expect(isChanged).toBe(true);
    expect(accepted(place)).toEqual({});
    expect(await place.outbox()).toEqual([]);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', confirmed: 600 });
    const body = sent.find((each) => each.includes('"P599"')) ?? '';
    expect(JSON.parse(body).data.route_points).toHaveLength(3);
  });
});

describe('a code that is at the service for another day', () => {
  it('is not taken for this one: the outbox is lost, and the plan of the next day is sent', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('ROUTE-7', on('18')));
    await place.run(JOB);
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.drop('route_plans', 'b.json', plan('ROUTE-7', on('19')));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    expect(accepted(place)).toEqual({ 'ROUTE-7': 2 });
  });

  it('is rejected if codes are not reused, with the day that has it', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('ROUTE-7', on('18')));
    await place.run(JOB);
    const { remote_id } = await place.entry('ROUTE-7');
    place.drop('route_plans', 'b.json', plan('ROUTE-7', on('19')));
    await expectAlarm(place, 'code_reused', 'ROUTE-7');
    expect(accepted(place)).toEqual({ 'ROUTE-7': 1 });
    const result = JSON.parse(readFileSync(join(place.folder('route_plans'), 'failed/b.json.result.json'), 'utf8'));
    expect(result.results).toMatchObject([
      { external_code: 'ROUTE-7', state: 'rejected', period_start: '2025-03-19T11:00:00.000Z' },
    ]);
    expect(result.results[0].reasons[0]).toMatch(new RegExp(`code_reused: .*2025-03-18.* id ${remote_id} `));
    expect(await place.outbox()).toMatchObject([{ state: 'confirmed' }, { state: 'rejected', code_use: 2 }]);
  });

  it('is a separate plan if codes are reused, with its own answer', async () => {
    const place = await makePushPlace({ reuseCodes: true });
    const options = { reuse_codes: true };
    place.drop('route_plans', 'a.json', plan('ROUTE-7', on('18')));
    place.drop('route_plans', 'b.json', plan('ROUTE-7', on('19')));
    expect(await place.run(JOB, options)).toMatchObject({ status: 'ok', sent: 2, confirmed: 2 });
    place.drop('route_plans', 'c.json', plan('ROUTE-7', on('19')));
    expect(await place.run(JOB, options)).toMatchObject({ status: 'ok', sent: 0, unchanged: 1 });
    expect(accepted(place)).toEqual({ 'ROUTE-7': 2 });
    const ids = (await place.outbox()).map(({ remote_id }) => remote_id);
    expect(new Set(ids).size).toBe(2);
    for (const [file, index] of [
      ['a.json', 0],
      ['b.json', 1],
    ] as const) {
      const text = readFileSync(join(place.folder('route_plans'), 'done', `${file}.result.json`), 'utf8');
      expect(JSON.parse(text).results).toMatchObject([
        { remote_id: ids[index], period_start: expect.stringMatching(`-1${8 + index}T`) },
      ]);
    }
  });
});

describe('an alarm', () => {
  it('is raised for a plan that the service accepted and never shows', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 400 * 86_400_000 } });
    place.drop('route_plans', 'a.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', confirmed: 1 });
    await place.clock.advance(3 * MINUTE_MS);
    await expectAlarm(place, 'never_shown', 'P1');
    await place.clock.advance(10 * 86_400_000);
    await expectAlarm(place, 'never_shown', 'P1');
    expect(accepted(place)).toEqual({ P1: 1 });
  });

  it('is raised for a plan that the service has twice, and ends when one is removed there', async () => {
    let isTwice = true;
    const place = await makePushPlace({
      answering: async ({ pathname }, original, { method }) => {
        if (!isTwice || method !== 'GET' || pathname !== '/import/route_plan') return undefined;
        const { data } = (await original()) as { data: { id: number; external_code: string }[] };
        const copies = data
          .filter(({ external_code }) => external_code === 'P1')
          .map((one) => ({ ...one, id: 999_999 }));
        return { body: { data: [...data, ...copies] } };
      },
    });
    place.drop('route_plans', 'a.json', plan('P1'));
    await expectAlarm(place, 'found_twice', 'P1');
    isTwice = false;
    await place.clock.advance(11 * MINUTE_MS);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', error: null });
    expect(await outboxAttention(place.engine, place.now())).toEqual([]);
  });
});

describe('a plan without a clear answer', () => {
  it('is sent once if the service takes longer than the settling time to show it', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 3.5 * MINUTE_MS } });
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit' });
    place.drop('route_plans', 'a.json', plan('P1'));
    for (let minute = 0; minute < 20; minute++) {
      await place.run(JOB);
      await place.clock.advance(MINUTE_MS);
    }
    expect(accepted(place)).toEqual({ P1: 1 });
    expect((await place.entry('P1')).state).toBe('confirmed');
  });

  /** A service whose listings have no status. */
  const withoutStatus: Answering = async ({ pathname }, original, { method }) => {
    if (method !== 'GET' || pathname !== '/import/route_plan') return undefined;
    const { data } = (await original()) as { data: object[] };
    return { body: { data: data.map((record) => ({ ...record, status: null })) } };
  };

  it.each<[string, number, Answering?]>([
    ['after 5 minutes', 5],
    ['after 180 minutes', 180],
    ['without a status', 5, withoutStatus],
  ])('is reported if it was sent again and both copies appear %s', async (_how, late, answering) => {
    const sandbox = { importVisibleAfterMs: late * MINUTE_MS };
    const place = await makePushPlace({ sandbox, ...(answering && { answering }) });
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    const runs = async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute++) {
        await place.run(JOB);
        await place.clock.advance(MINUTE_MS);
      }
    };
    await runs(6);
    expect(accepted(place)).toEqual({ P1: 2 });
    await place.clock.advance((late - 5) * MINUTE_MS);
    await runs(6);
    await expectAlarm(place, 'found_twice', 'P1');
  });

  it('waits twice as long after each unclear send', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit' });
    place.drop('route_plans', 'a.json', plan('P1'));
    const sentAt: number[] = [];
    for (let minute = 0; minute < 140; minute += 2) {
      if ((await place.run(JOB)).sent > 0) sentAt.push(minute);
      await place.clock.advance(2 * MINUTE_MS);
    }
    const waits = sentAt.slice(1).map((at, i) => at - (sentAt[i] ?? 0));
    expect(waits).toHaveLength(4);
    for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(2 * 2 ** (i + 1));
    expect(await place.run(JOB)).toMatchObject({ error: { code: 'retries_exhausted' } });
    expect(accepted(place)).toEqual({});
  });

  const cut: Answering = async ({ pathname }, original, { method }) => {
    if (method !== 'GET' || pathname !== '/import/route_plan') return undefined;
    const { data } = (await original()) as { data: { external_code: string }[] };
    return { body: { data: data.filter(({ external_code }) => !/^P(1\d|LOST)/.test(external_code)) } };
  };

  it('is not sent again because of a listing that is cut off', async () => {
    let isCut = false;
    const place = await makePushPlace({
      answering: (url, original, arrived) => (isCut ? cut(url, original, arrived) : undefined),
    });
    place.drop('route_plans', 'a.json', plans(12));
    await place.run(JOB);
    isCut = true;
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'b.json', plan('PLOST'));
    await place.runs(JOB, 5);
    await expectAlarm(place, 'inconclusive', 'PLOST');
    isCut = false;
    await place.run(JOB);
    expect(accepted(place)).toMatchObject({ PLOST: 1 });
    expect((await place.entry('PLOST')).state).toBe('confirmed');
  });

  it.each(['400', '404', '422'] as const)('is not sent again if the read-back is answered by %s', async (fault) => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: MINUTE_MS } });
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-after-commit', times: 1 });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.sandbox.addFault({ call: 'route-plans', fault });
    await place.runs(JOB, 6);
    expect(accepted(place)).toEqual({ P1: 1 });
    expect(await place.run(JOB)).not.toMatchObject({ status: 'ok' });
  });

  it('does not hold up new plans, and a thousand of them cost two listings a run', async () => {
    const order: string[] = [];
    const place = await makePushPlace({
      answering: ({ pathname, searchParams }, _original, { method }) => {
        if (pathname === '/import/route_plan')
          order.push(`${method} ${searchParams.get('begin_date') ?? ''}`.trim().slice(0, 14));
        return undefined;
      },
    });
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const { revision: _, ...sample } = await place.entry('P1');
    const unknown = Array.from({ length: 1_000 }, (_unused, i) => ({
      ...sample,
      external_code: `U${i}`,
      remote_key: `U${i}`,
      state: 'unknown',
      remote_id: null,
      seen_at: null,
      confirmed_at: null,
      unclear_sends: 1,
      unknown_since: place.now(),
      payload: JSON.stringify({ data: plan(`U${i}`), options: {} }),
      revision: 1,
    }));
    await place.engine.write(async ({ sql }) => {
      for (let from = 0; from < unknown.length; from += 250)
        await sql('push_outbox').insert(unknown.slice(from, from + 250));
    });
    const before = searches(place);
    order.length = 0;
    place.drop('route_plans', 'b.json', plan('NEW', on('20')));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1, unknown: 1_000 });
    expect(order.slice(0, 2)).toEqual(['GET 2025-03-19', 'POST']);
    // The listings of the new plan before and after its send, and the one of the thousand.
    expect(searches(place) - before).toBe(3);
  });
});
