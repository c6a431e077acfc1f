// Once a local day a run of events reads further back than the others, so that events that arrive a day or two late are
// not missed; the other runs of the day cost the same as before.
import { expect, it } from 'vitest';
import { DAY, HOUR, openRig, putBefore, requestsOf } from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';

/** Midnight in São Paulo. */
const MIDNIGHT = Date.parse('2026-03-10T03:00:00.000Z');
const instant = (ms: number): string => new Date(ms).toISOString();

const reached = (rig: Rig) =>
  rig.rows(
    `select scope, max(end_at) as "end" from sync_coverage where job = 'pull-events' group by scope order by scope`,
  );
const intervals = async (rig: Rig): Promise<number> =>
  (await rig.rows(`select scope from sync_coverage where job = 'pull-events'`)).length;

it('stores every event that arrives up to two days late, with the default lookbacks', async () => {
  const rig = await openRig(instant(MIDNIGHT), { vehicles: 3, churn: false });
  const days = 5;
  for (let hours = 0; hours <= days * 24; hours += 4) {
    const options = { since: '1d', categories: [1, 2, 6] };
    expect(await rig.run('pull-events', options)).toMatchObject({ status: 'ok' });
    if (hours < days * 24) await rig.clock.advance(4 * HOUR);
  }
  const [from, to] = [instant(MIDNIGHT), instant(rig.clock.now() - 2.1 * DAY)];
  const truth = (await rig.truth('events', { from, to })).filter(
    ({ event_category, begin_date }) =>
      [1, 2, 6].includes(Number(event_category)) && instant(Date.parse(String(begin_date))) < to,
  );
  const stored = new Set((await rig.rows('select id from event')).map(({ id }) => id));
  expect(truth.length).toBeGreaterThan(50);
  expect(truth.filter(({ id }) => !stored.has(id))).toEqual([]);
});

it('reads further back in the first run of a local day only, as the preview shows', async () => {
  const rig = await openRig(instant(MIDNIGHT - HOUR), { vehicles: 60, churn: false });
  const options = { since: '4d', categories: [1] };
  await rig.run('pull-events', options);
  const calls: number[] = [];
  for (let run = 0; run < 4; run++) {
    await rig.clock.advance(HOUR - 60_000 * run);
    const preview = await rig.preview('pull-events', options);
    const before = requestsOf(rig, 'events');
    await rig.run('pull-events', options);
    calls.push(requestsOf(rig, 'events') - before);
    expect(preview).toHaveLength(calls.at(-1) ?? 0);
  }
  // 60 vehicles: 40 hours a slice.
  expect(calls).toEqual([3, 1, 1, 1]);
});

it('reads later only what the first run of a day could not, and stays fresh meanwhile', async () => {
  const rig = await openRig(instant(MIDNIGHT - HOUR), { vehicles: 60, churn: false });
  const options = { since: '4d', categories: [1] };
  await rig.run('pull-events', options);
  const before = await reached(rig);
  await rig.clock.advance(2 * HOUR);
  rig.sandbox.addFault({ call: 'events', fault: '409' });
  expect(await rig.run('pull-events', options)).toMatchObject({ status: 'failed' });
  expect(await reached(rig)).toEqual(before);
  rig.sandbox.clearFaults();
  // The third slice: the live one is read first.
  rig.sandbox.addFault({ call: 'events', fault: '409', times: 1, skip: 2 });
  await rig.clock.advance(HOUR);
  expect(await rig.run('pull-events', options)).toMatchObject({ status: 'partial' });
  expect(await intervals(rig)).toBe(120);
  await rig.clock.advance(HOUR);
  const { status, slices } = await rig.run('pull-events', options);
  // The part that failed, and the hours of the live slice.
  expect({ status, slices }).toEqual({ status: 'ok', slices: 2 });
  expect(await intervals(rig)).toBe(60);
  const [{ begin } = {}] = await rig.rows(`select min(begin_at) as begin from sync_coverage where job = 'pull-events'`);
  expect(begin).toBe(instant(MIDNIGHT - HOUR - 60_000 - 4 * DAY));
});

it('keeps the coverage of what it reads again, until that fails', async () => {
  const rig = await openRig(instant(MIDNIGHT - HOUR), { vehicles: 60, churn: false });
  const options = { since: '4d', categories: [1] };
  await rig.run('pull-events', options);
  await rig.clock.advance(2 * HOUR);
  const during: number[] = [];
  let failing = '';
  await putBefore(rig, async (url) => {
    if (url.pathname !== '/event/') return undefined;
    during.push(await intervals(rig));
    const { end } = JSON.parse(url.searchParams.get('periods') ?? '').at(-1);
    return end < failing ? { status: 409, body: {} } : undefined;
  });
  expect(await rig.run('pull-events', options)).toMatchObject({ status: 'ok' });
  expect(during).toEqual([60, 60, 60]);
  await rig.clock.advance(DAY);
  // All slices of the day fail except the live one: each stays due, and only within the three days.
  failing = instant(rig.clock.now() - HOUR);
  expect(await rig.run('pull-events', options)).toMatchObject({ status: 'partial' });
  const first = async () => (await rig.preview('pull-events', options))[0]?.what.split(' ').at(-1)?.split('/')[0];
  const due = instant(MIDNIGHT + HOUR - 60_000 - 3 * DAY - 6 * HOUR);
  expect(await first()).toBe(due);
  await rig.run('pull-events', options);
  expect(await first()).toBe(due);
});

it('reads as far back as the last day that it completed demands, however far other runs have moved the edge', async () => {
  const rig = await openRig(instant(MIDNIGHT - HOUR), { vehicles: 2, churn: false });
  const options = { since: '9d', categories: [1] };
  await rig.run('pull-events', options);
  await rig.clock.advance(3 * DAY);
  // As a run that was killed once its newest slice was stored.
  await rig.run('pull-events', { ...options, daily_lookback: '0s' });
  const [{ what } = { what: '' }] = await rig.preview('pull-events', options);
  const from = MIDNIGHT - 3 * DAY - 6 * HOUR;
  expect(what).toContain(`${instant(from)}/`);
});

it('never reads before the start of the first read', async () => {
  const rig = await openRig(instant(MIDNIGHT - HOUR), { vehicles: 2, churn: false });
  const options = { since: '1d', categories: [1] };
  await rig.run('pull-events', options);
  await rig.clock.advance(2 * HOUR);
  const [{ what } = { what: '' }] = await rig.preview('pull-events', options);
  expect(what).toContain(`${instant(MIDNIGHT - HOUR - 60_000 - DAY)}/`);
});
