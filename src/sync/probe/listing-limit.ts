// Finds out whether a listing that a pull reads as a whole is cut off: then listings of a part of it show records that it
// lacks, also when it is repeated. Nothing shows it where all records are alike in what the service can filter by.
import { scalarText } from '../../core/glossary.ts';
import { toInstant } from '../../fleet/instants.ts';
import { type Answer, atLeast } from './answers.ts';

interface Listing<Filter> {
  what: string;
  whole: readonly unknown[];
  /** Lists a part, or all. */
  list(filter?: Filter): Promise<readonly unknown[]>;
  /** Parts that should be smaller than the whole. */
  parts: readonly Filter[];
}

export async function limitOfListing<Filter>({ what, whole, list, parts }: Listing<Filter>): Promise<Answer> {
  if (whole.length === 0) return [null, `no record in the listing of ${what}`];
  const shown: (readonly unknown[])[] = [];
  for (const part of parts) shown.push(await list(part));
  const inParts = new Set(shown.flatMap(idsOf));
  const isCut = (listed: readonly unknown[]): boolean => !inParts.isSubsetOf(new Set(idsOf(listed)));
  if (isCut(whole)) {
    const again = await list();
    if (isCut(again)) return [`${again.length} records`, `listings of a part of ${what} show more`];
  }
  const isAnyShorter = shown.some(({ length }) => length > 0 && length < whole.length);
  if (!isAnyShorter) return [null, `no listing of a part of ${what} is shorter than the whole`];
  const others = idsOf(whole).filter((id) => !inParts.has(id)).length;
  return [`${atLeast(whole.length)} records`, `listings of parts of ${what} show no more; ${others} are in no part`];
}

export const idsOf = (records: readonly unknown[]): number[] =>
  records
    .map((record) => Number(scalarText((record as { id?: unknown }).id).trim() || undefined))
    .filter(Number.isSafeInteger);

/** The vehicles created before and after half of those that are listed. */
export function createdHalves(records: readonly unknown[]) {
  const created = records.flatMap((record) => {
    const at = toInstant(scalarText((record as { date_created?: unknown }).date_created));
    return at === undefined ? [] : [at];
  });
  const middle = created.toSorted()[Math.floor(created.length / 2)];
  return middle === undefined ? [] : [{ date_created_end: middle }, { date_created_begin: middle }];
}
