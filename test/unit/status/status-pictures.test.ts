// The pure functions behind the views: the day chart, the coming week, which fields of a record are shown, which log
// lines are kept.
import { describe, expect, it } from 'vitest';
import { createLogTail } from '../../../src/core/log-tail.ts';
import { maskedRecord } from '../../../src/status/api/data.ts';
import { dayChart } from '../../../src/status/api/day-chart.ts';
import { vehicleOf } from '../../../src/status/api/plans.ts';
import { schedulePreview } from '../../../src/status/capacity/schedule-preview.ts';
import { createPrivacy } from '../../../src/warehouse/privacy/privacy.ts';
import type { DayStop } from '../../../src/warehouse/queries/delivery-day.ts';
import { vehicle } from '../../../src/warehouse/tables/vehicle.ts';

const at = (time: string): string => `2026-03-10T${time}:00.000Z`;
const rule = (now: string) => ({ nowMs: Date.parse(now), lateAfterMs: 900_000 });
const period = { from: at('03:00'), to: '2026-03-11T03:00:00.000Z' };

const stop = (change: Partial<DayStop>): DayStop => ({
  id: 1,
  route_plan_id: 1,
  name: 'Stop',
  status: 'P',
  time_scheduled: null,
  executed_at: null,
  changed_at: at('10:00'),
  ...change,
});

describe('the day chart', () => {
  it('counts each stop in one state at any time', () => {
    const stops = [
      stop({ status: 'E', executed_at: at('11:10') }),
      stop({ status: 'D', executed_at: at('12:40') }),
      stop({ status: 'M', changed_at: at('13:00') }),
      stop({}),
    ];
    const { at: ends, states, done, counts } = dayChart(stops, period, rule(at('14:15')));
    expect(ends).toHaveLength(23);
    expect(ends.at(-1)).toBe(Date.parse(at('14:15')) / 1_000);
    for (const n of ends.keys()) {
      expect(Object.values(states).reduce((sum, counts) => sum + (counts[n] ?? 0), 0)).toBe(4);
    }
    expect(done.at(-1)).toBe(2);
    expect(counts).toEqual({ done: 2, returned: 1, open: 1 });
    const noon = ends.indexOf(Date.parse(at('12:00')) / 1_000);
    expect([states.E?.[noon], states.D?.[noon], states.open?.[noon]]).toEqual([1, 0, 3]);
  });

  it('counts a stop whose change was read days later as done on its own day', () => {
    const stops = [stop({ status: 'M', changed_at: '2026-03-14T09:00:00.000Z' }), stop({})];
    const { states, done } = dayChart(stops, period, rule('2026-03-15T09:00:00.000Z'));
    expect([done.at(-1), states.M?.at(-1), states.open?.at(-1)]).toEqual([1, 1, 1]);
  });

  it('draws planned stops for the full day and the others up to now, on one time axis', () => {
    const stops = [stop({ status: 'E', time_scheduled: at('12:10'), executed_at: at('12:05') }), stop({})];
    const { at: past, planned, done } = dayChart(stops, period, rule(at('12:20')));
    expect(planned.at.slice(0, past.length)).toEqual(past);
    expect(planned.at).toHaveLength(49);
    expect([planned.count.at(past.length - 2), planned.count.at(past.length - 1), planned.count.at(-1)]).toEqual([
      0, 1, 1,
    ]);
    expect(done.slice(-2)).toEqual([0, 1]);
  });

  it('counts a stop as late that is done late or still open, but not one that was returned or that the office recorded', () => {
    const scheduled = at('10:00');
    const stops = [
      stop({ id: 1, status: 'E', time_scheduled: scheduled, executed_at: at('10:14') }),
      stop({ id: 2, status: 'E', time_scheduled: scheduled, executed_at: at('10:20') }),
      stop({ id: 3, time_scheduled: scheduled }),
      stop({ id: 4, status: 'M', time_scheduled: scheduled, executed_at: at('13:00') }),
      stop({ id: 5, time_scheduled: at('15:00') }),
      stop({ id: 6, status: 'D', time_scheduled: scheduled, executed_at: at('13:00') }),
      stop({ id: 7, status: 'E', time_scheduled: at('08:00'), executed_at: at('11:00') }),
    ];
    const { late, lateOpen, lateDone } = dayChart(stops, period, rule(at('12:00')));
    // The open one first: it can still be mended.
    expect(late.map(({ id, late_seconds }) => [id, late_seconds])).toEqual([
      [3, 7_200],
      [7, 10_800],
      [2, 1_200],
    ]);
    expect([lateOpen, lateDone]).toEqual([1, 2]);
  });
});

describe('the coming week', () => {
  it('names the runs of each local day and flags the day on which the clock changes', () => {
    const schedule = { cron: '30 2 * * *', timezone: 'Europe/Berlin' };
    const days = schedulePreview(schedule, Date.parse('2026-03-26T12:00:00Z'));
    expect(days.map(({ day, runs, clock_change }) => [day, runs, clock_change])).toEqual([
      ['2026-03-26', 0, false],
      ['2026-03-27', 1, false],
      ['2026-03-28', 1, false],
      ['2026-03-29', 1, true],
      ['2026-03-30', 1, false],
      ['2026-03-31', 1, false],
      ['2026-04-01', 1, false],
    ]);
    expect(days[3]?.first).toEqual(['2026-03-29T01:30:00.000Z']);
  });

  it('does not enumerate a schedule for every second', () => {
    const [, tomorrow] = schedulePreview({ cron: '* * * * * *', timezone: 'UTC' }, Date.parse(at('12:00')));
    expect(tomorrow).toMatchObject({ runs: 1_500, more: true });
  });
});

it('the vehicle of an entry follows the privacy policy of plates', () => {
  const payload = JSON.stringify({ data: { vehicle_plate: 'ABC1D23', entity: [{ vehicle_plate: 'ABC1D24' }] } });
  const shown = (policy: 'keep' | 'drop') =>
    vehicleOf(
      { kind: 'route_plans', payload },
      { privacy: createPrivacy({ 'route_plan.vehicle_plate': policy }, 's') },
    );
  expect([shown('keep'), shown('drop')]).toEqual(['ABC1D23, ABC1D24', null]);
});

describe('a record for display', () => {
  it('shows fields declared as not personal, and only the type of every other field', () => {
    const record = {
      id: 7,
      plate: 'ABC1D23',
      responsible_name: 'Somebody',
      driver: { id: 3, name: 'Somebody' },
      phone: 5_511_999,
      notes: ['Somebody', { deep: 'Somebody' }],
      color: null,
    };
    const shown = maskedRecord(record, vehicle);
    expect(shown).toMatchObject({ id: 7, plate: 'ABC1D23', driver: { id: 3 }, color: null });
    expect(JSON.stringify(shown)).not.toMatch(/Somebody|5511999/);
    expect(JSON.stringify(maskedRecord(record, undefined))).not.toMatch(/ABC1D23|Somebody/);
  });
});

describe('the tail of the log', () => {
  const line = (run: string, n: number): string => `{"level":"info","run_id":"${run}","msg":"line ${n}"}\n`;

  it('keeps a limited number of lines of a limited number of runs', () => {
    const tail = createLogTail();
    for (let n = 0; n < 500; n++) tail.keep(line('a0', n));
    expect(tail.linesOf('a0')).toHaveLength(200);
    expect(tail.linesOf('a0').at(-1)).toContain('line 499');
    for (let n = 0; n < 100; n++) tail.keep(line(`b${n}`, 0));
    expect(tail.linesOf('a0')).toEqual([]);
    expect(tail.linesOf('b99')).toHaveLength(1);
  });

  it('drops lines without a run, and cuts a long line', () => {
    const tail = createLogTail();
    tail.keep('{"level":"info","msg":"no run"}\n');
    tail.keep(`{"run_id":"c0","msg":"${'x'.repeat(10_000)}"}\n`);
    expect(tail.linesOf('c0')[0]).toHaveLength(2_000);
  });
});
