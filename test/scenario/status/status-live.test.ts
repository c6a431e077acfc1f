// Live updates: one reader for all watchers, only while somebody watches.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/time/manual-clock.ts';
import { changesBetween } from '../../../src/status/server/changes.ts';
import { createLive, MOST_WATCHERS } from '../../../src/status/server/live.ts';
import { makeStatusPlace, type StatusPlace, WITH_TOKEN } from '../../support/status/status-place.ts';

const { applyChanges } = await import(new URL('../../../src/status/page/changes.js', import.meta.url).href);
const log = { warn: () => undefined } as never;

function setUp(states: () => string) {
  const clock = createManualClock(0);
  let reads = 0;
  const live = createLive({
    clock,
    log,
    async read() {
      reads++;
      return { jobs: [{ name: 'pull-events', health: states() }], rows: 7 };
    },
  });
  const watch = () => {
    const leave = new AbortController();
    const got: unknown[] = [];
    const done = (async () => {
      for await (const { event, data } of live.watch(leave.signal))
        if (event !== 'alive') got.push(event === 'change' ? data.changes : data);
    })();
    return { got, done, leave: () => leave.abort() };
  };
  return { clock, live, watch, reads: () => reads };
}

const full = (health: string) => ({ jobs: [{ name: 'pull-events', health }], rows: 7 });
const change = (health: string) => [[['jobs', 'pull-events', 'health'], health]];

describe('live updates', () => {
  it('reach every watcher by one read, and only when something changed', async () => {
    let state = 'a';
    const { clock, watch, reads } = setUp(() => state);
    const watchers = [watch(), watch(), watch()];
    await turn();
    await turn();
    expect(reads()).toBe(1);
    await clock.advance(4_000);
    state = 'b';
    await clock.advance(2_000);
    for (const { got, leave, done } of watchers) {
      expect(got).toEqual([full('a'), change('b')]);
      leave();
      await done;
    }
    expect(reads()).toBe(4);
  });

  it('say every 4 s that the daemon is alive, also while a read does not end', async () => {
    const clock = createManualClock(0);
    const read = [async () => full('a'), () => new Promise<object>(() => undefined)];
    const live = createLive({ clock, log, read: () => (read.shift() ?? read[0]!)() });
    const leave = new AbortController();
    const got: unknown[] = [];
    const done = (async () => {
      for await (const { event, data } of live.watch(leave.signal)) got.push(event === 'alive' ? data.at : event);
    })();
    await turn();
    for (let second = 0; second < 12; second++) await clock.advance(1_000);
    expect(got).toEqual(['overview', ...['04', '08', '12'].map((at) => `1970-01-01T00:00:${at}.000Z`)]);
    leave.abort();
    await done;
  });

  it('read nothing while nobody watches, and start again with the current state', async () => {
    let state = 'a';
    const { clock, live, watch, reads } = setUp(() => state);
    const first = watch();
    await clock.advance(2_000);
    first.leave();
    await first.done;
    await turn();
    expect(clock.sleepers()).toBe(0);
    const before = reads();
    state = 'b';
    await clock.advance(60_000);
    expect(reads()).toBe(before);
    const second = watch();
    await clock.advance(1);
    expect(second.got).toEqual([full('b')]);
    live.close();
    await second.done;
  });

  it('report once that the state cannot be read, and send the state again when it can', async () => {
    let state: string | undefined = 'a';
    const { clock, watch } = setUp(() => {
      if (state === undefined) throw new Error('gone');
      return state;
    });
    const { got, leave, done } = watch();
    await clock.advance(2_000);
    state = undefined;
    await clock.advance(6_000);
    const trouble = { words: expect.stringContaining('cannot be read'), since: '1970-01-01T00:00:02.000Z' };
    expect(got).toEqual([full('a'), trouble]);
    const late = watch();
    await turn();
    expect(late.got).toEqual([trouble]);
    late.leave();
    state = 'a';
    await clock.advance(2_000);
    expect(got).toEqual([full('a'), trouble, full('a')]);
    leave();
    await Promise.all([done, late.done]);
  });

  it('report a read that does not end', async () => {
    const clock = createManualClock(0);
    const live = createLive({ clock, log, read: () => new Promise(() => undefined) });
    const leave = new AbortController();
    const news = live.watch(leave.signal);
    const first = (async () => {
      for await (const each of news) if (each.event === 'trouble') return each.data;
    })();
    for (let second = 0; second < 20; second++) await clock.advance(1_000);
    expect(await first).toMatchObject({ since: null });
    live.close();
  });

  it('come at once after an action', async () => {
    let state = 'a';
    const { clock, live, watch } = setUp(() => state);
    const { got, leave, done } = watch();
    await clock.advance(1);
    state = 'b';
    live.nudge();
    await turn();
    await turn();
    expect(got).toEqual([full('a'), change('b')]);
    leave();
    await done;
  });
});

describe('changes', () => {
  const run = (run_id: string) => ({ run_id, status: 'ok' });
  it.each([
    [{ a: 1, b: { c: null } }, { a: 1, b: { c: 2 } }, [[['b', 'c'], 2]]],
    [{ a: 1, b: 2 }, { b: 2, d: null }, [[['a']], [['d'], null]]],
    [{ l: [run('x'), run('y')] }, { l: [run('y'), run('z')] }, [[['l', 'x']], [['l', 'z'], run('z')]]],
    [{ l: [run('x'), run('y')] }, { l: [run('y'), run('x')] }, [[['l'], [run('y'), run('x')]]]],
    [{ l: [run('1')] }, { l: [run('1'), run('2')] }, [[['l'], [run('1'), run('2')]]]],
    [{ l: [1, 2] }, { l: [2] }, [[['l'], [2]]]],
    [{ l: [] }, { l: [] }, []],
  ])('of %j to %j are the smallest, and the page makes the document of them', (before, after, changes) => {
    expect(changesBetween(before, after)).toEqual(changes);
    expect(applyChanges(before, changes)).toEqual(after);
  });
});

describe('/api/live', () => {
  let place: StatusPlace;
  afterEach(() => place.close());

  it('sends the overview as server-sent events, then the changes of each run and not the whole again', async () => {
    place = await makeStatusPlace();
    const answer = await fetch(`${place.url}/api/live`, { headers: WITH_TOKEN });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (wanted: RegExp) => {
      while (!wanted.test(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`ended before ${wanted}`);
        text += value;
      }
    };
    await until(/event: overview\ndata: \{.*\}\n\n/);
    await place.rig.run('pull-vehicles');
    await place.rig.clock.advance(2_000);
    await until(/event: change\ndata: .*"status":"ok"/);
    expect(text.match(/event: overview/g)).toHaveLength(1);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    await reader.cancel();
  });

  it('reports a warehouse that does not answer', async () => {
    place = await makeStatusPlace();
    const answer = await fetch(`${place.url}/api/live`, { headers: WITH_TOKEN });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: overview')) text += (await reader.read()).value;
    await place.rig.engine.close();
    await place.rig.clock.advance(2_000);
    while (!/event: trouble\ndata: .*cannot be read/.test(text)) text += (await reader.read()).value;
    await reader.cancel();
  });

  it('rejects more watchers than allowed, until some have left', async () => {
    place = await makeStatusPlace();
    const leave = new AbortController();
    const open = () => fetch(`${place.url}/api/live`, { headers: WITH_TOKEN, signal: leave.signal });
    await Promise.all(Array.from({ length: MOST_WATCHERS }, open));
    expect((await open()).status).toBe(503);
    leave.abort();
    const again = () => fetch(`${place.url}/api/live`, { headers: WITH_TOKEN });
    await expect.poll(async () => (await again()).status).toBe(200);
  });
});
