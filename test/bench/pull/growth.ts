// Whether time and memory follow the number of rows: the same pull, ever longer, into new warehouses.
import type { BenchPlace } from '../bench-place.ts';
import type { Section } from '../task.ts';

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000];

/** Up to ten times as many events as the other parts take. */
export async function growthBench(place: BenchPlace, most: number): Promise<Section> {
  const sizes = SIZES.filter((size) => size <= 10 * most);
  const lines: string[] = [];
  for (const engine of ['sqlite', 'postgres'] as const) {
    for (const size of sizes) {
      const { rows, seconds, peakMb } = await place.measure('pull', engine, await place.warehouse(engine), size);
      const cells = [
        engine,
        rows.toLocaleString('en'),
        seconds.toFixed(1),
        ((seconds * 1e6) / rows).toFixed(1),
        peakMb.toFixed(0),
      ];
      lines.push(`| ${cells.join(' | ')} |`);
    }
  }
  return {
    title: 'Growth',
    body: `A pull into an empty warehouse, each in a process of its own.

| engine | events | seconds | microseconds an event | peak RSS, MB |
|---|---|---|---|---|
${lines.join('\n')}`,
  };
}
