// Cuts a list of identifiers into parts that fit into a URL.

/** Longest URL that is sent; servers and proxies reject URLs from about 8,000 bytes on. */
export const MOST_URL_BYTES = 6_000;

/** Parts of at most `most` items, whose URLs are short enough by `bytesOf`. A single item is always accepted. */
export function chunksFor<Item>(items: readonly Item[], most: number, bytesOf: (part: Item[]) => number): Item[][] {
  const parts: Item[][] = [];
  for (let start = 0; start < items.length; ) {
    let size = Math.max(1, Math.min(most, items.length - start));
    for (let bytes = 0; size > 1; size = smaller(size, bytes)) {
      bytes = bytesOf(items.slice(start, start + size));
      if (bytes <= MOST_URL_BYTES) break;
    }
    parts.push(items.slice(start, start + size));
    start += size;
  }
  return parts;
}

/** Shrinks in proportion to the excess, so that there are as few parts as the URL allows. */
const smaller = (size: number, bytes: number): number =>
  Math.max(1, Math.min(size - 1, Math.floor((size * MOST_URL_BYTES) / bytes)));

/** An identifier of seven digits and its encoded comma. */
const ID_BYTES = 10;

/** About how many identifiers a URL holds beside `otherBytes`, for estimates. */
export const idsThatFit = (otherBytes: number): number =>
  Math.max(1, Math.floor((MOST_URL_BYTES - otherBytes) / ID_BYTES));
