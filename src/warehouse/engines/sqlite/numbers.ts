// Numbers on their way to SQLite in JSON. It turns some decimal texts into the neighbour of the number that they mean
// (-46.521922 becomes -46.521921999999996), so a fraction travels as a whole number and how often to halve it. Halving
// rounds nothing.
import type { Row, Scalar } from '../../engine.ts';

/** A whole number, and how often it is halved. */
type Halved = [number, number];

/** Beyond that it travels as its text: so small a number is no measure of anything. */
const MOST_HALVES = 124;
/** As many as fit into one shift. */
const SHIFT = 62;

/** The rows with the fractions at these places as they travel. */
export const withHalved = (rows: readonly Row[], places: readonly number[]): readonly unknown[] =>
  places.length === 0 ? rows : rows.map((row) => halvedAt(row, places));

function halvedAt(row: Row, places: readonly number[]): unknown[] {
  const travelling: unknown[] = [...row];
  for (const place of places) travelling[place] = halved(row[place] ?? null);
  return travelling;
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

/** The rows as they were before they travelled. */
export const withoutHalved = (rows: readonly unknown[][], places: readonly number[]): Row[] =>
  rows.map((row) => row.map((value, place) => (places.includes(place) ? whole(value) : value)) as Scalar[]);

const whole = (value: unknown): unknown =>
  Array.isArray(value) ? (value[0] as number) / 2 ** (value[1] as number) : value;

/** SQL for the number at a path of `value`, in either form. */
export const numberAt = (path: string): string => {
  const [whole, halves] = [0, 1].map((part) => `json_extract(value, '${path}[${part}]')`);
  const times = (most: string) => `cast(1 << ${most} as real)`;
  return `case json_type(value, '${path}') when 'array'
    then ${whole} / ${times(`min(${halves}, ${SHIFT})`)} / ${times(`max(${halves} - ${SHIFT}, 0)`)}
    else json_extract(value, '${path}') end`;
};
