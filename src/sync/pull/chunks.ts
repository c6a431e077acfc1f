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
    while (size > 1 && bytesOf(items.slice(start, start + size)) > MOST_URL_BYTES)
      size = Math.floor(size / 2);
    parts.push(items.slice(start, start + size));
    start += size;
  }
  return parts;
}
