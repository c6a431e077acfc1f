// Cuts a list of identifiers into parts that fit into an address.

/** Longest address that is sent; servers and proxies refuse from about 8,000 bytes on. */
export const MOST_URL_BYTES = 6_000;

/** Parts of at most `most` items, each small enough for `bytesOf`. One item alone is always sent. */
export function chunksFor<Item>(
  items: readonly Item[],
  most: number,
  bytesOf: (part: Item[]) => number,
): Item[][] {
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

/** In proportion to what is too much, so that the parts are as few as the address allows. */
const smaller = (size: number, bytes: number): number =>
  Math.max(1, Math.min(size - 1, Math.floor((size * MOST_URL_BYTES) / bytes)));

/** An identifier of seven digits and its comma, written for an address. */
const ID_BYTES = 10;

/** About how many identifiers an address holds beside `otherBytes`, for estimates. */
export const idsThatFit = (otherBytes: number): number =>
  Math.max(1, Math.floor((MOST_URL_BYTES - otherBytes) / ID_BYTES));
