// How long something has not been found: by the process's own clock or the service's, never by one that can be set.
import { expect, it } from 'vitest';
import { absentForMs, forgetAbsent, type Moment, noteAbsent } from '../../src/sync/push/absence-clock.ts';
import type { Engine } from '../../src/warehouse/engine.ts';

const instant = (second: number): string => new Date(Date.UTC(2026, 0, 10) + second * 1_000).toISOString();
/** The wall clock, the process's own and the service's, in seconds. */
const moment = (wall: number, own: number, there?: number): Moment => ({
  at: instant(wall),
  elapsedMs: own * 1_000,
  thereAt: there === undefined ? null : instant(there),
});
const absent = (since: number | null, there: number | null = null, external_code = 'P1') => ({
  kind: 'route_plans',
  external_code,
  absent_since: since === null ? null : instant(since),
  absent_since_there: there === null ? null : instant(there),
});
const newEngine = (base?: Engine): Engine => ({ base }) as Engine;

it('is not known of what was found', () => {
  expect(absentForMs(newEngine(), absent(null), moment(9, 9, 9))).toBeUndefined();
  expect(absentForMs(newEngine(), absent(null, 1), moment(9, 9, 9))).toBeUndefined();
});

it('is what passed on the own clock where this process was the first not to find it', () => {
  const engine = newEngine();
  noteAbsent(engine, absent(null), instant(100), moment(100, 5));
  const later = moment(90_000, 15, 80_000);
  expect(absentForMs(engine, absent(100, 1), later)).toBe(10_000);
  noteAbsent(engine, absent(100, 1), instant(100), moment(200, 12));
  expect(absentForMs(engine, absent(100, 1), later), 'the first note counts').toBe(10_000);
});

it("is what passed on the service's clock where another process began, with a second for its rounding", () => {
  const engine = newEngine();
  expect(absentForMs(engine, absent(100, 300), moment(90_000, 15, 360))).toBe(61_000);
  noteAbsent(engine, absent(100, 300), instant(100), moment(101, 5));
  expect(absentForMs(engine, absent(100, 300), moment(90_000, 15, 360))).toBe(61_000);
});

it('is what this process has seen of it where the service tells no time, and unknown where that is nothing', () => {
  const engine = newEngine();
  expect(absentForMs(engine, absent(100, 300), moment(90_000, 15))).toBeUndefined();
  expect(absentForMs(engine, absent(100), moment(90_000, 15, 360))).toBeUndefined();
  noteAbsent(engine, absent(100), instant(100), moment(101, 5));
  expect(absentForMs(engine, absent(100, 300), moment(90_000, 15))).toBe(10_000);
  expect(absentForMs(engine, absent(100), moment(90_000, 15, 360))).toBe(10_000);
});

it('begins anew where it was found in between', () => {
  const engine = newEngine();
  noteAbsent(engine, absent(null), instant(100), moment(100, 5));
  forgetAbsent(engine, absent(null));
  expect(absentForMs(engine, absent(100), moment(200, 15))).toBeUndefined();
  noteAbsent(engine, absent(null), instant(100), moment(100, 5));
  expect(
    absentForMs(engine, absent(150), moment(200, 15)),
    'the warehouse tells of another absence',
  ).toBeUndefined();
  noteAbsent(engine, absent(null), instant(150), moment(150, 20));
  expect(absentForMs(engine, absent(150), moment(200, 25))).toBe(5_000);
});

it('is kept for each thing apart, over the engines of all runs of a process', () => {
  const base = newEngine();
  noteAbsent(newEngine(base), absent(null), instant(100), moment(100, 5));
  noteAbsent(newEngine(base), absent(null, null, 'P2'), instant(110), moment(110, 15));
  const later = moment(120, 25);
  expect(absentForMs(newEngine(base), absent(100), later)).toBe(20_000);
  expect(absentForMs(base, absent(100), later)).toBe(20_000);
  expect(absentForMs(newEngine(base), absent(110, null, 'P2'), later)).toBe(10_000);
  expect(absentForMs(newEngine(base), { ...absent(100), kind: 'agents' }, later)).toBeUndefined();
  expect(absentForMs(newEngine(), absent(100), later), 'of another process').toBeUndefined();
});
