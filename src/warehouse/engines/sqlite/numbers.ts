// Encodes fractions for SQLite's JSON. SQLite parses some decimal texts as a neighbouring number (-46.521922 becomes
// -46.521921999999996). A fraction is therefore sent as an integer and the number of times to halve it. Halving is exact.
import type { Row, Scalar } from '../../engine.ts';

/** An integer, and how often to halve it. */
type Halved = [number, number];

/** A number that needs more halvings is sent as decimal text: no measured value is that small. */
const MOST_HALVES = 124;
/** The most halvings that fit into one shift. */
const SHIFT = 62;

/** Encodes the fractions at these positions. */
export const encodeFractions = (rows: readonly Row[], places: readonly number[]): readonly unknown[] =>
  places.length === 0 ? rows : rows.map((row) => encodedRow(row, places));

function encodedRow(row: Row, places: readonly number[]): unknown[] {
  const encoded: unknown[] = [...row];
  for (const place of places) encoded[place] = halved(row[place] ?? null);
  return encoded;
}

function halved(value: Scalar): Scalar | Halved {
  if (typeof value !== 'number') return value;
  let whole = value;
  let halves = 0;
  while (!Number.isInteger(whole)) {
    if (++halves > MOST_HALVES) return value;
    whole *= 2;
  }
  return halves === 0 ? value : [whole, halves];
}

/** Decodes the fractions at these positions. */
export const decodeFractions = (rows: readonly unknown[][], places: readonly number[]): Row[] =>
  rows.map((row) => row.map((value, place) => (places.includes(place) ? decoded(value) : value)) as Scalar[]);

const decoded = (value: unknown): unknown =>
  Array.isArray(value) ? (value[0] as number) / 2 ** (value[1] as number) : value;

/** SQL for the number at a path of `value`, encoded or not. */
export const numberAt = (path: string): string => {
  const [whole, halves] = [0, 1].map((part) => `json_extract(value, '${path}[${part}]')`);
  const times = (most: string) => `cast(1 << ${most} as real)`;
  return `case json_type(value, '${path}') when 'array'
    then ${whole} / ${times(`min(${halves}, ${SHIFT})`)} / ${times(`max(${halves} - ${SHIFT}, 0)`)}
    else json_extract(value, '${path}') end`;
};
