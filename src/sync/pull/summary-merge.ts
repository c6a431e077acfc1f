// The figures of a driver are over all vehicles. Where an address does not hold all of them, they are asked for in
// parts, and the rows of one driver are put together here: sums, the highest speed, and the mean speed weighted by the
// time in movement. Rows that cannot be told apart or added up are refused, never guessed.
import { recordColumns } from '../../warehouse/table.ts';
import { dailySummary } from '../../warehouse/tables/daily-summary.ts';

type Fields = Record<string, unknown>;

export interface Merged {
  records: unknown[];
  refused: { record: unknown; reason: string }[];
}

const FIGURES = recordColumns(dailySummary)
  .filter(({ type }) => type === 'real')
  .map(({ name }) => name);
const HIGHEST = 'speed_max';
const MEAN = 'speed_average';
const WEIGHT = 'total_time_in_moviment';

const SHARED = 'title: two rows of one day have it, so that neither can be told from the other';
const AMBIGUOUS = 'title: several have it, and their rows came in several answers';
const UNFIT = 'figures: they came in several answers and are not all numbers';

export const titleOf = (record: unknown): string => String((record as { title?: unknown } | null)?.title);

export interface Answers {
  /** The rows of each call. */
  answers: readonly unknown[][];
  /** Several known owners have the title. */
  isAmbiguous: (title: string) => boolean;
  /** Other slices hold rows of the same day. */
  isPart: boolean;
}

/** One row a title. */
export function mergeByTitle({ answers, isAmbiguous, isPart }: Answers): Merged {
  const merged: Merged = { records: [], refused: [] };
  for (const [title, { rows, calls }] of rowsByTitle(answers)) {
    const cut = isPart || calls.size > 1;
    const reason = calls.size < rows.length ? SHARED : cut && isAmbiguous(title) ? AMBIGUOUS : undefined;
    const whole = rows.length === 1 ? rows[0] : added(rows);
    if (reason === undefined && whole !== undefined) merged.records.push(whole);
    else merged.refused.push(...rows.map((record) => ({ record, reason: reason ?? UNFIT })));
  }
  return merged;
}

function rowsByTitle(answers: readonly unknown[][]) {
  const byTitle = new Map<string, { rows: unknown[]; calls: Set<number> }>();
  for (const [call, answer] of answers.entries()) {
    for (const record of answer) {
      const met = byTitle.get(titleOf(record)) ?? { rows: [], calls: new Set() };
      byTitle.set(titleOf(record), met);
      met.rows.push(record);
      met.calls.add(call);
    }
  }
  return byTitle;
}

const hasTitle = (row: unknown): row is Fields =>
  typeof (row as { title?: unknown } | null | undefined)?.title === 'string';

/** Undefined where the rows cannot be added up. */
function added(rows: readonly unknown[]): Fields | undefined {
  if (!rows.every(hasTitle)) return undefined;
  const whole: Fields = { ...rows[0] };
  for (const name of FIGURES) {
    const given = rows.map((row) => row[name]).filter((value) => value !== undefined && value !== null);
    const values = given.map(Number);
    if (values.some((value) => !Number.isFinite(value))) return undefined;
    if (values.length > 0) whole[name] = name === HIGHEST ? Math.max(...values) : rounded(sum(values));
  }
  const speeds = rows.filter((row) => row[MEAN] !== undefined && row[MEAN] !== null);
  if (speeds.length > 0) whole[MEAN] = meanSpeed(speeds);
  return whole;
}

function meanSpeed(rows: readonly Fields[]): number {
  const time = sum(rows.map((row) => Number(row[WEIGHT] ?? 0)));
  const weighted = sum(rows.map((row) => Number(row[MEAN]) * Number(row[WEIGHT] ?? 0)));
  return rounded(time > 0 ? weighted / time : sum(rows.map((row) => Number(row[MEAN]))) / rows.length);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Adding decimals leaves noise, which would look like a recalculation. */
const rounded = (number: number): number => Number(number.toFixed(6));
