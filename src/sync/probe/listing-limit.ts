// Finds out whether a listing is cut off: then listings of a part of it show records that it lacks, also when it is repeated.
// Nothing shows it where all records are alike in what the service can filter by.
import { asRoadbookError } from '../../core/errors.ts';
import { scalarText } from '../../core/json.ts';
import { toInstant } from '../../fleet/instants.ts';
import { isRejected } from '../pull/plan/slice-limits.ts';
import type { Span } from '../pull/plan/windows.ts';
import { type Answer, atLeast } from './answers.ts';

type Records = readonly unknown[];

interface Listing<Filter> {
  what: string;
  whole: Records;
  /** Lists a part, or all. */
  list(filter?: Filter): Promise<Records>;
  /** Parts that should be smaller than the whole. */
  parts: readonly Filter[];
}

/** Of a listing that a pull reads as a whole. */
export async function limitOfListing<Filter>({ what, whole, list, parts }: Listing<Filter>): Promise<Answer> {
  if (whole.length === 0) return [null, `no record in the listing of ${what}`];
  const shown: Records[] = [];
  for (const part of parts) shown.push(await listedPart(() => list(part)));
  const limit = await limitIfCut(whole, shown, list, `listings of a part of ${what} show more`);
  if (limit !== undefined) return limit;
  const isAnyShorter = shown.some(({ length }) => length > 0 && length < whole.length);
  if (!isAnyShorter) return [null, `no listing of a part of ${what} is shorter than the whole`];
  const others = new Set(idsOf(whole)).difference(new Set(shown.flatMap(idsOf))).size;
  return [`${atLeast(whole.length)} records`, `listings of parts of ${what} show no more; ${others} are in no part`];
}

/** Empty if the service rejects the part, such as a category that it does not have. */
const listedPart = (list: () => Promise<Records>): Promise<Records> =>
  list().catch((thrown: unknown) => {
    if (isRejected(asRoadbookError(thrown))) return [];
    throw thrown;
  });

/** How often a period is halved whose records all lie in one half. */
const MOST_HALVINGS = 4;

/**
 * Of a search by period. If one half of the period shows as many as the whole, as the day after a night without trips, that
 * half is halved again.
 */
export async function limitOfSearch(
  whole: Records,
  span: Span,
  search: (span: Span) => Promise<Records>,
  what: string,
): Promise<Answer> {
  if (whole.length === 0) return [null, `no record in a listing of ${what}`];
  let { begin, end } = span;
  for (let halvings = 1; halvings <= MOST_HALVINGS; halvings++) {
    const middle = begin + (end - begin) / 2;
    const [first, second] = [await search({ begin, end: middle }), await search({ begin: middle, end })];
    const evidence = `listings of shorter periods show more of ${what}`;
    const limit = await limitIfCut(whole, [first, second], () => search(span), evidence);
    if (limit !== undefined) return limit;
    if (second.length >= whole.length) begin = middle;
    else if (first.length >= whole.length) end = middle;
    else break;
  }
  return [`${atLeast(whole.length)} records`, `listings of shorter periods show no more of ${what}`];
}

/** Undefined if the listing has all records of the parts, at once or when it is repeated. A limit is no lower than `whole`. */
async function limitIfCut(
  whole: Records,
  parts: readonly Records[],
  list: () => Promise<Records>,
  evidence: string,
): Promise<Answer | undefined> {
  const inParts = new Set(parts.flatMap(idsOf));
  const isCut = (listed: Records): boolean => !inParts.isSubsetOf(new Set(idsOf(listed)));
  if (!isCut(whole)) return undefined;
  const again = await list();
  if (!isCut(again)) return undefined;
  if (again.length < whole.length) return [null, `${evidence}, but it was shorter when it was repeated`];
  return [`${again.length} records`, evidence];
}

export const idsOf = (records: Records): number[] =>
  records
    .map((record) => Number(scalarText((record as { id?: unknown }).id).trim() || undefined))
    .filter(Number.isSafeInteger);

/** The vehicles created before and after half of those that are listed. */
export function createdHalves(records: Records) {
  const created = records.flatMap((record) => {
    const at = toInstant(scalarText((record as { date_created?: unknown }).date_created));
    return at === undefined ? [] : [at];
  });
  const middle = created.toSorted()[Math.floor(created.length / 2)];
  return middle === undefined ? [] : [{ date_created_end: middle }, { date_created_begin: middle }];
}
