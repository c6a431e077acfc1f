import { describe, expect, it } from 'vitest';
import { parseFaultFlag } from '../../../src/sandbox/faults/faults.ts';
import { DAY_MS, dayOf, startOfDay } from '../../../src/sandbox/world/company-time.ts';
import { EVENT_CATEGORIES } from '../../../src/sandbox/world/event-categories.ts';
import { createFleetRoster } from '../../../src/sandbox/world/fleet-roster.ts';
import type { RouteRun } from '../../../src/sandbox/world/route-run.ts';
import { transitionsOf } from '../../../src/sandbox/world/transitions.ts';
import { createActivity } from '../../../src/sandbox/world/world.ts';

const NOON = Date.parse('2026-03-02T15:00:00Z');
const MONTH = Array.from({ length: 30 }, (_, i) => dayOf(NOON) + i);

function runsOfAMonth(): RouteRun[] {
  const roster = createFleetRoster(1, 12, true);
  const activity = createActivity(1, roster);
  return MONTH.flatMap((day) =>
    roster.listedBetween(startOfDay(day), startOfDay(day + 1)).flatMap((index) => activity(index, day).run ?? []),
  );
}

describe('the roster', () => {
  it('lists about as many vehicles as asked for, at any time', () => {
    const roster = createFleetRoster(1, 200, true);
    for (const day of MONTH) {
      const count = roster.listed(startOfDay(day)).length;
      expect(count).toBeGreaterThan(170);
      expect(count).toBeLessThan(240);
    }
  });

  it('lets vehicles join, be cancelled and only then leave', () => {
    const roster = createFleetRoster(1, 200, true);
    const before = new Set(roster.listed(NOON));
    const after = new Set(roster.listed(NOON + 30 * DAY_MS));
    const gone = [...before].filter((index) => !after.has(index));
    expect([...after].some((index) => !before.has(index))).toBe(true);
    expect(gone.length).toBeGreaterThan(0);
    for (const index of gone) {
      const life = roster.life(index)!;
      expect(roster.status(index, life.cancelledAt)).toBe('C');
      expect(roster.listed(life.cancelledAt)).toContain(index);
      expect(roster.listed(life.goneAt)).not.toContain(index);
    }
  });

  it('does not change without churn', () => {
    const roster = createFleetRoster(1, 5, false);
    expect(roster.listed(NOON)).toEqual([0, 1, 2, 3, 4]);
    expect(roster.listed(NOON + 300 * DAY_MS)).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('a month of routes', () => {
  const runs = runsOfAMonth();

  it('takes every plan through its states in order, some of them to a failed optimisation', () => {
    const paths = new Set(runs.map((run) => run.changes.map((change) => change.status).join('')));
    expect(paths).toEqual(new Set(['WRPEC', 'WRI']));
    for (const { changes } of runs) {
      const instants = changes.map((change) => change.at);
      expect(instants).toEqual([...instants].sort((a, b) => a - b));
    }
  });

  it('ends points performed, delivered, returned and performed manually', () => {
    const outcomes = new Set(runs.flatMap((run) => run.stops.map((stop) => stop.outcome)));
    expect(outcomes).toEqual(new Set(['R', 'E', 'D', 'M']));
  });

  it('shows no execution before it happened, and some a day late', () => {
    const stops = runs.flatMap((run) => run.stops);
    expect(stops.every((stop) => stop.visibleAt > stop.recordedAt)).toBe(true);
    expect(stops.some((stop) => stop.visibleAt - stop.recordedAt > DAY_MS)).toBe(true);
  });

  it('has plans that start in the morning and are made the evening before', () => {
    for (const { draft } of runs) {
      expect(dayOf(draft.createdAt)).toBe(dayOf(draft.startAt) - 1);
      expect(draft.startAt - startOfDay(dayOf(draft.startAt))).toBeLessThan(DAY_MS / 2);
    }
  });

  it('raises events of all categories with ids that are unique in their category', () => {
    const roster = createFleetRoster(1, 12, true);
    const activity = createActivity(1, roster);
    const events = MONTH.flatMap((day) => roster.listed(startOfDay(day)).flatMap((i) => activity(i, day).events()));
    expect(new Set(events.map((event) => event.category))).toEqual(new Set(EVENT_CATEGORIES.map((one) => one.id)));
    expect(new Set(events.map((event) => `${event.category}/${event.id}`)).size).toBe(events.length);
    expect(events.every((event) => event.endAt >= event.beginAt && event.visibleAt > event.endAt)).toBe(true);
    expect(events.some((event) => event.visibleAt - event.endAt > DAY_MS)).toBe(true);
  });

  it('is the same when it is computed again', () => {
    expect(runsOfAMonth()).toEqual(runs);
  });
});

describe('the transition log', () => {
  const run = runsOfAMonth().find((one) => one.stops.length > 0)!;

  it('begins with the first visible status and links each change to the one before', () => {
    const plan = transitionsOf(run).filter((one) => one.entity === 'route_plan');
    expect(plan.map((one) => one.from_status)).toEqual([null, 'W', 'R', 'P', 'E']);
    expect(plan.map((one) => one.to_status)).toEqual(['W', 'R', 'P', 'E', 'C']);
  });

  it('omits changes from before the plan was visible', () => {
    const visibleAt = run.changes[2]!.at + 1;
    const hidden = { ...run, draft: { ...run.draft, visibleAt } };
    const plan = transitionsOf(hidden).filter((one) => one.entity === 'route_plan');
    expect(plan[0]).toMatchObject({ from_status: null, to_status: 'P', at: visibleAt });
  });
});

describe('a fault flag', () => {
  it('names the call, the fault and its settings', () => {
    expect(parseFaultFlag('events:429:rate=0.1,retry_after=date')).toEqual({
      call: 'events',
      fault: '429',
      rate: 0.1,
      retry_after: 'date',
    });
    expect(parseFaultFlag('*:redirect:location=http://elsewhere/')).toMatchObject({
      location: 'http://elsewhere/',
    });
  });

  it('is rejected with a message when it makes no sense', () => {
    expect(() => parseFaultFlag('events:boom')).toThrow(/<call>:<fault>/);
  });
});
