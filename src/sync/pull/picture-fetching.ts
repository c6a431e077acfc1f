// Fetches pictures by the names that records give them, once each: into the store first, then as records for
// `image`. A picture that cannot be had becomes a record with its reason and is tried again a few times.
import { z } from 'zod';
import { Fatal, RoadbookError } from '../../core/errors.ts';
import { checklistPicture } from '../../fleet/endpoints/checklist-picture.ts';
import { storePicture } from '../../warehouse/picture-store.ts';
import { image } from '../../warehouse/tables/image.ts';
import { inGroups } from './grouped-calls.ts';
import type { Load, Source, WarehouseReader } from './pull-job.ts';

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
export const imageRecord = z.strictObject({
  hash: z.string(),
  sha256: z.string().optional(),
  file: z.string().optional(),
  bytes: z.int().optional(),
  content_type: z.string().optional(),
  fetched_at: z.string(),
  error: z.string().optional(),
  attempts: z.int(),
});

export const imageLoad = (records: readonly z.infer<typeof imageRecord>[]): Load => ({
  table: image,
  record: imageRecord,
  records,
});

/** The names among `values` under which no picture was asked for yet. */
export async function newPictures(
  values: readonly unknown[],
  warehouse: WarehouseReader,
): Promise<WantedPicture[]> {
  const names = [...new Set(values.filter(isName))];
  const known = new Set<string>();
  for (let start = 0; start < names.length; start += NAMES) {
    const part = names.slice(start, start + NAMES);
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
  inGroups(wanted, (one) => fetchPicture(one, source, largestMb * BYTES_PER_MB));

async function fetchPicture({ hash, attempts }: WantedPicture, source: Source, largestBytes: number) {
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
