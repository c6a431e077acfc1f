// Merges the figures of a driver over all vehicles. If one URL cannot hold all vehicles, several calls return parts, and
// the rows of one driver are merged here: sums, the highest speed, and the mean speed weighted by the time in movement.
// Rows that cannot be distinguished or added up are rejected, never guessed.
import { type Json, type JsonObject, scalarText } from '../../../../core/json.ts';
import { stableJson } from '../../../../core/text/stable-json.ts';
import { dailySummary as summaryCall } from '../../../../fleet/endpoints/daily-summary.ts';
import { checkRecord } from '../../../../fleet/record-check.ts';
import { recordColumns } from '../../../../warehouse/schema/table.ts';
import { dailySummary } from '../../../../warehouse/tables/daily-summary.ts';
import { wireSchema } from '../../records/wire-schema.ts';

export interface Merged {
  records: unknown[];
  rejected: { record: unknown; reason: string }[];
}

const FIGURES = recordColumns(dailySummary)
  .filter(({ type }) => type === 'real')
  .map(({ name }) => name);
const HIGHEST = 'speed_max';
const MEAN = 'speed_average';
const WEIGHT = 'total_time_in_moviment';
/** Field for other values in which the parts differ: a list with one object for each part. */
const PARTS = 'parts';

const SHARED = 'title: two rows of one day have the same title and cannot be distinguished';
const AMBIGUOUS = 'title: several owners have it or may have it, and the rows came in several answers';
const NOT_ADDABLE = 'figures: they came in several answers and cannot be added up';

export const titleOf = (record: unknown): string => scalarText((record as { title?: unknown } | null)?.title);

export interface Answers {
  /** The rows of each call. */
  answers: readonly unknown[][];
  /** Several known owners have the title, or may have it. */
  isAmbiguous: (title: string) => boolean;
  /** Other slices read rows of the same day. */
  isPart: boolean;
}

/** One row for each title. */
export function mergeByTitle({ answers, isAmbiguous, isPart }: Answers): Merged {
  const merged: Merged = { records: [], rejected: [] };
  for (const [title, { rows, calls }] of rowsByTitle(answers)) {
    const cut = isPart || calls.size > 1;
    const reason = calls.size < rows.length ? SHARED : cut && isAmbiguous(title) ? AMBIGUOUS : undefined;
    const combined = rows.length === 1 ? rows[0] : added(rows);
    if (reason === undefined && combined !== undefined) merged.records.push(combined);
    else merged.rejected.push(...rows.map((record) => ({ record, reason: reason ?? NOT_ADDABLE })));
  }
  return merged;
}

function rowsByTitle(answers: readonly unknown[][]) {
  const byTitle = new Map<string, { rows: unknown[]; calls: Set<number> }>();
  for (const [call, answer] of answers.entries()) {
    for (const record of answer) {
      const group = byTitle.get(titleOf(record)) ?? { rows: [], calls: new Set() };
      byTitle.set(titleOf(record), group);
      group.rows.push(record);
      group.calls.add(call);
    }
  }
  return byTitle;
}

/** Undefined if the rows cannot be added up. Figures are validated like those of a single row. */
function added(rows: readonly unknown[]): JsonObject | undefined {
  const checked = rows.map((row) => checkRecord(wireSchema(dailySummary, summaryCall), row));
  const parts = checked.flatMap((each) => (each.ok ? [each.record] : []));
  if (parts.length < rows.length) return undefined;
  const figures = FIGURES.map((name) => [name, figureOf(name, parts)] as const);
  if (figures.some(([, figure]) => figure !== null && !Number.isFinite(figure))) return undefined;
  return { ...othersOf(parts), ...Object.fromEntries(figures.filter(([, figure]) => figure !== null)) };
}

/** Null if no part has the figure; not finite if it cannot be computed. */
function figureOf(name: string, parts: readonly JsonObject[]): number | null {
  const values = valuesOf(name, parts);
  if (values.length === 0) return null;
  if (name === HIGHEST) return Math.max(...values);
  return rounded(name === MEAN ? meanSpeed(parts.filter((part) => isGiven(part[MEAN]))) : sum(values));
}

const isGiven = (value: Json | undefined): boolean => value !== undefined && value !== null;

const valuesOf = (name: string, parts: readonly JsonObject[]): number[] =>
  parts.map((part) => part[name]).filter(isGiven) as number[];

function meanSpeed(parts: readonly JsonObject[]): number {
  const [means, weights] = [valuesOf(MEAN, parts), valuesOf(WEIGHT, parts)];
  if (new Set(means).size === 1) return means[0] as number;
  if (weights.length < means.length) return Number.NaN;
  // NaN if nothing moved.
  return sum(means.map((mean, at) => mean * (weights[at] as number))) / sum(weights);
}

/** The values that are not figures: once if all parts agree, else part by part. */
function othersOf(parts: readonly JsonObject[]): JsonObject {
  const names = [...new Set(parts.flatMap(Object.keys))].filter((name) => !FIGURES.includes(name));
  const shared = names.filter((name) => name !== PARTS && haveAlike(name, parts));
  const differing = names.filter((name) => !shared.includes(name));
  const common = only(shared, parts[0] ?? {});
  if (differing.length === 0) return common;
  return { ...common, [PARTS]: parts.map((part) => only(differing, part)) };
}

const haveAlike = (name: string, parts: readonly JsonObject[]): boolean =>
  new Set(parts.map((part) => stableJson(part[name] ?? null))).size === 1;

const only = (names: readonly string[], part: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(part).filter(([name]) => names.includes(name)));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Adding decimals leaves rounding noise, which would be stored as a recalculated figure. */
const rounded = (number: number): number => Number(number.toFixed(6));
