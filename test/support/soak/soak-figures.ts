// The figures of a soak's samples. Memory is judged by its low points, which are left after collection. RSS goes up in
// steps: the allocator keeps the room of a large body for the next one. So a slope through it would only show the last such
// body. A leak is in all changes, so it shows in their median, which is given as a range.
import type { Sample } from './process-probe.ts';

/** Sizes in MB; "early" is the mean of the second quarter, "late" that of the last. The first quarter warms up. */
export interface SoakFigures {
  samples: number;
  rss: { early: number; late: number; most: number; steady: Range };
  /** Objects and buffers. */
  held: {
    early: number;
    late: number;
    most: number /** From the second quarter on, MB an hour. */;
    slope: number;
  };
  files: { early: number; late: number; most: number };
  delayMs: { mean: number; p99: number; most: number };
}

/** MB an hour: the growth of RSS from low point to low point in the second half, with a certainty of 95 %. */
export interface Range {
  least: number;
  most: number;
}

/** Few, for buffers may wait a minute for their collection; many, for the room of a body is a step in one of them. */
const HELD_PARTS = 5;
const RSS_PARTS = 20;

export function figuresOf(samples: readonly Sample[]): SoakFigures {
  const quarter = samples.length / 4;
  const warm = samples.slice(quarter);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(3 * quarter)];
  const delays = sorted(warm.map(({ delayMax }) => delayMax));
  const between = (figure: 'rss' | 'held' | 'files') => ({
    early: mean(early.map((sample) => sample[figure])),
    late: mean(late.map((sample) => sample[figure])),
    most: Math.max(...samples.map((sample) => sample[figure])),
  });
  return {
    samples: samples.length,
    rss: {
      ...between('rss'),
      steady: middleChangeOf(lowPoints(samples.slice(2 * quarter), 'rss', RSS_PARTS)),
    },
    held: { ...between('held'), slope: slopeOf(lowPoints(warm, 'held', HELD_PARTS)) },
    files: between('files'),
    delayMs: {
      mean: mean(warm.map(({ delayMean }) => delayMean)),
      p99: delays[Math.floor(delays.length * 0.99)] ?? 0,
      most: delays.at(-1) ?? 0,
    },
  };
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

interface Point {
  hours: number;
  mb: number;
}

/** The lowest of each part. */
function lowPoints(samples: readonly Sample[], figure: 'rss' | 'held', parts: number): Point[] {
  const size = Math.max(1, Math.floor(samples.length / parts));
  const points: Point[] = [];
  for (let start = 0; start + size <= samples.length; start += size) {
    const part = samples.slice(start, start + size);
    const hours = mean(part.map(({ at }) => at)) / 3_600_000;
    points.push({ hours, mb: Math.min(...part.map((sample) => sample[figure])) });
  }
  return points;
}

/** By least squares, MB an hour. */
function slopeOf(points: readonly Point[]): number {
  const [hours, mb] = [mean(points.map((each) => each.hours)), mean(points.map((each) => each.mb))];
  const over = points.reduce((sum, each) => sum + (each.hours - hours) * (each.mb - mb), 0);
  const under = points.reduce((sum, each) => sum + (each.hours - hours) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

/** The middle one of the changes from point to point lies within the root of their number of places, 19 times in 20. */
function middleChangeOf(points: readonly Point[]): Range {
  const changes = sorted(
    points.slice(1).map(({ hours, mb }, at) => (mb - (points[at]?.mb ?? mb)) / (hours - (points[at]?.hours ?? 0))),
  );
  const [middle, reach] = [(changes.length - 1) / 2, Math.sqrt(changes.length)];
  return {
    least: changes[Math.floor(middle - reach)] ?? Number.NEGATIVE_INFINITY,
    most: changes[Math.ceil(middle + reach)] ?? Number.POSITIVE_INFINITY,
  };
}
