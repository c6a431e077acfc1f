// Finds out whether a listing that a pull reads as a whole is cut off: then listings of a part of it show records that it
// lacks, also when it is repeated. Nothing shows it where all records are alike in what the service can filter by.
import type { NumberedName } from '../../core/code-lists.ts';
import { scalarText } from '../../core/glossary.ts';
import { toInstant } from '../../fleet/instants.ts';
import { type Answer, atLeast } from './answers.ts';

interface Listing<Filter> {
  what: string;
  whole: readonly unknown[];
  /** Lists a part, or all. */
  list(filter?: Filter): Promise<readonly unknown[]>;
  /** Two parts, which should both be smaller than the whole. */
  parts: readonly Filter[];
}

export async function limitOfListing<Filter>({ what, whole, list, parts }: Listing<Filter>): Promise<Answer> {
  if (whole.length === 0) return [null, `no record in the listing of ${what}`];
  const shown: (readonly unknown[])[] = [];
  for (const part of parts) shown.push(await list(part));
  const isCut = (listed: readonly unknown[]): boolean => {
    const ids = new Set(idsOf(listed));
    return shown.flatMap(idsOf).some((id) => !ids.has(id));
  };
  if (isCut(whole)) {
    const again = await list();
    if (isCut(again)) return [`${again.length} records`, `listings of a part of ${what} show more`];
  }
  const isAnyShorter = shown.some(({ length }) => length > 0 && length < whole.length);
  if (!isAnyShorter) return [null, `no listing of a part of ${what} is shorter than the whole`];
  return [`${atLeast(whole.length)} records`, `listings of a part of ${what} show no more`];
}

export const idsOf = (records: readonly unknown[]): number[] =>
  records.map((record) => numberIn(record, 'id')).filter(Number.isSafeInteger);

/** NaN if there is none. */
const numberIn = (record: unknown, field: string): number =>
  Number(scalarText((record as Record<string, unknown>)[field]).trim() || undefined);

/**
 * The two most common categories: a record that is cut off probably has one of them. Only those that are listed can be asked
 * for.
 */
export function mostCommon(
  records: readonly unknown[],
  categoryOf: (record: unknown) => number,
  categories: readonly NumberedName[],
): number[] {
  const listed = new Set(categories.map(({ id }) => id));
  const groups = Map.groupBy(
    records.map(categoryOf).filter((id) => listed.has(id)),
    (id) => id,
  );
  return [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([value]) => value)
    .slice(0, 2);
}

/** The vehicles created before and after half of those that are listed. */
export function createdHalves(records: readonly unknown[]) {
  const created = records.flatMap((record) => {
    const at = toInstant(scalarText((record as { date_created?: unknown }).date_created));
    return at === undefined ? [] : [at];
  });
  const middle = created.toSorted()[Math.floor(created.length / 2)];
  return middle === undefined ? [] : [{ date_created_end: middle }, { date_created_begin: middle }];
}

export const categoryOfDriver = (record: unknown): number => numberIn(record, 'cnh_category_id');

export const categoryOfPoint = (record: unknown): number =>
  numberIn((record as { point_of_interest_category?: unknown }).point_of_interest_category ?? {}, 'id');
