// Fetches pictures by the names that records give them, once each: into the store first, then as records for
// `image`. A picture that cannot be had becomes a record with its reason and is tried again a few times. Slices that
// name the same picture at the same time share one call, and each loads the record: it commits with what names it.

import { chunks } from '../../../../core/chunks.ts';
import { Fatal, RoadbookError } from '../../../../core/errors.ts';
import { checklistPicture } from '../../../../fleet/endpoints/checklist-picture.ts';
import { storePicture } from '../../../../warehouse/picture-store.ts';
import { image } from '../../../../warehouse/tables/image.ts';
import type { Load } from '../../records/types.ts';
import type { Source, WarehouseReader } from '../../types.ts';

const MOST_ATTEMPTS = 5;
/** Wait before the second attempt; doubles for each later one. */
const FIRST_WAIT_MS = 10 * 60_000;
/** Failed pictures that one run looks at. */
const MOST_FAILED = 500;
/** Names a statement, far below what any engine binds. */
const NAMES = 500;
/** Longer than any hash with an extension; what is longer names no picture. */
const LONGEST_NAME = 255;
const BYTES_PER_MB = 1024 * 1024;

/** Not the picture's fault: the slice is read again when the service is back. */
const SERVICE_DOWN = new Set(['service_unreachable', 'throttled']);

export interface WantedPicture {
  hash: string;
  /** How often it was asked for before. */
  attempts: number;
}

/** A picture as this job tells of it; the service has no such record. */
interface ImageRecord {
  hash: string;
  sha256?: string;
  file?: string;
  bytes?: number;
  content_type?: string;
  fetched_at: string;
  error?: string;
  attempts: number;
}

export const imageLoad = (records: readonly ImageRecord[]): Load => ({ table: image, records });

/** Pictures that slices have claimed and not committed, by name; undefined: they are stored. */
type Claims = Map<string, Promise<ImageRecord | undefined>>;

/** Those of the slices that share a connection to the warehouse: what another one began may never end. */
const claimsOf = new WeakMap<WarehouseReader, Claims>();

/** The pictures that `values` name and that were not asked for yet. */
export async function newPictures(values: readonly unknown[], source: Source, largestMb: number) {
  const claimed: Claims = claimsOf.get(source.warehouse) ?? new Map();
  claimsOf.set(source.warehouse, claimed);
  const pictures: ImageRecord[] = [];
  let names = [...new Set(values.filter(isName))];
  while (names.length > 0) {
    const others = names.filter((name) => claimed.has(name));
    const waited = Promise.allSettled(others.map((name) => claimed.get(name)));
    const free = names.filter((name) => !others.includes(name));
    pictures.push(...(await fetchClaimed(free, claimed, source, largestMb)));
    const met = await waited;
    for (const each of met) if (each.status === 'fulfilled' && each.value) pictures.push(each.value);
    // Where another slice could not fetch it, this one tries.
    names = others.filter((_, index) => met[index]?.status === 'rejected');
  }
  return pictures;
}

/** Claims them before anything is awaited, so that no other slice looks for them between question and answer. */
async function fetchClaimed(
  names: readonly string[],
  claimed: Claims,
  source: Source,
  largestMb: number,
): Promise<ImageRecord[]> {
  const claims = new Map(names.map((name) => [name, Promise.withResolvers<ImageRecord | undefined>()]));
  const release = (): void => {
    for (const [name, { promise }] of claims) if (claimed.get(name) === promise) claimed.delete(name);
  };
  for (const [name, { promise }] of claims) {
    // Nobody may be waiting for it.
    promise.catch(() => undefined);
    claimed.set(name, promise);
  }
  source.atEnd(release);
  try {
    const wanted = await notStored(names, source.warehouse);
    const pictures = await fetchPictures(wanted, source, largestMb);
    const byName = new Map(pictures.map((picture) => [picture.hash, picture]));
    for (const [name, { resolve }] of claims) resolve(byName.get(name));
    return pictures;
  } catch (error) {
    release();
    for (const { reject } of claims.values()) reject(error);
    throw error;
  }
}

async function notStored(names: readonly string[], warehouse: WarehouseReader): Promise<WantedPicture[]> {
  const known = new Set<string>();
  for (const part of chunks(names, NAMES)) {
    const rows = await warehouse.read((sql) => sql(image.name).whereIn('hash', part).select('hash'));
    for (const { hash } of rows) known.add(hash);
  }
  return names.filter((hash) => !known.has(hash)).map((hash) => ({ hash, attempts: 0 }));
}

/** What no warehouse stores and no address holds is no name. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= LONGEST_NAME &&
  value.isWellFormed() &&
  !value.includes('\0');

/** Pictures that failed, are due again and have attempts left. */
export async function picturesToRetry(warehouse: WarehouseReader, now: number): Promise<WantedPicture[]> {
  const failed: (WantedPicture & { fetched_at: string })[] = await warehouse.read((sql) =>
    sql(image.name)
      .whereNotNull('error')
      .where('attempts', '<', MOST_ATTEMPTS)
      .orderBy('fetched_at')
      .limit(MOST_FAILED)
      .select('hash', 'attempts', 'fetched_at'),
  );
  return failed
    .filter((row) => now - Date.parse(row.fetched_at) >= FIRST_WAIT_MS * 2 ** (row.attempts - 1))
    .map(({ hash, attempts }) => ({ hash, attempts }));
}

export const fetchPictures = (wanted: readonly WantedPicture[], source: Source, largestMb: number) =>
  source.mapCalls(wanted, (one, calling) => fetchPicture(one, calling, largestMb * BYTES_PER_MB));

async function fetchPicture(
  { hash, attempts }: WantedPicture,
  source: Source,
  largestBytes: number,
): Promise<ImageRecord> {
  const record = { hash, fetched_at: source.readAt, attempts: attempts + 1 };
  try {
    const { bytes, contentType } = await source.call(checklistPicture, { picture: hash });
    if (bytes.length > largestBytes) return { ...record, error: 'picture_too_large' };
    const stored = await storePicture(source.images, bytes, contentType);
    return { ...record, ...stored, content_type: contentType };
  } catch (error) {
    const isItsOwn = error instanceof RoadbookError && !(error instanceof Fatal);
    if (!isItsOwn || SERVICE_DOWN.has(error.code)) throw error;
    return { ...record, error: error.code };
  }
}
