// Fetches the pictures that records name, once each: the file is stored first, then a record for `image` is loaded. If a
// picture cannot be fetched, its record holds the error, and the fetch is retried: until it succeeds if the failure may
// pass, otherwise a few times, and then the picture goes to quarantine too. Slices that name the same picture at the same
// time share one call, and each loads the record, so that it commits with the record that names it.

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../../core/atomic-file.ts';
import { readInChunks } from '../../../../core/chunks.ts';
import { Fatal, RoadbookError } from '../../../../core/errors.ts';
import { DAY_MS } from '../../../../core/time/durations.ts';
import { checklistPicture } from '../../../../fleet/endpoints/checklist-picture.ts';
import { PASSING_READS } from '../../../../fleet/transport/status-table.ts';
import { recordColumns } from '../../../../warehouse/schema/table.ts';
import { image } from '../../../../warehouse/tables/image.ts';
import type { Load } from '../../records/types.ts';
import type { Source, WarehouseReader } from '../../types.ts';

/** Most attempts whose failure is caused by the picture. */
const MOST_ATTEMPTS = 5;
/** Wait before the second attempt; doubles for each later one, up to the longest. */
const FIRST_WAIT_MS = 10 * 60_000;
const LONGEST_WAIT_MS = DAY_MS;
/** Most failed pictures that one run retries. */
const MOST_FAILED = 500;
/** Far below the number of values that any engine can bind in a statement. */
const NAMES_PER_QUERY = 500;
/** Longer than any hash with an extension; a longer value names no picture. */
const LONGEST_NAME = 255;
const BYTES_PER_MB = 1024 * 1024;

/** Not caused by the picture: the slice fails, and is read again when the service is back. */
const SERVICE_DOWN = new Set(['service_unreachable', 'throttled']);
/**
 * May pass by itself, so the picture is never given up for it. The slice does not fail, because a picture that the service
 * never sends would keep all checklists of its period from being stored.
 */
const PASSING = PASSING_READS.filter((code) => !SERVICE_DOWN.has(code));

export interface WantedPicture {
  hash: string;
  /** Earlier attempts to fetch the picture. */
  attempts: number;
  /** Why the last one failed. */
  error?: string;
}

/** The record of a picture. This job makes it; the service has no such record. */
interface ImageRecord {
  hash: string;
  sha256?: string | null;
  file?: string | null;
  bytes?: number | null;
  content_type?: string | null;
  fetched_at: string;
  error?: string | null;
  attempts: number;
}

export function imageLoad(records: readonly ImageRecord[], { log }: Source): Load {
  const passing = records.filter(({ error }) => isPassing(error));
  if (passing.length > 0) log.warn({ pictures: passing.length, code: passing[0]?.error }, 'pictures not fetched');
  const givenUp = records.filter(({ error, attempts }) => error && !isPassing(error) && attempts >= MOST_ATTEMPTS);
  const rejected = givenUp.map((record) => ({
    record,
    reason: `no file after ${MOST_ATTEMPTS} requests: ${record.error}`,
  }));
  return { table: image, records, rejected };
}

const isPassing = (error?: string | null): boolean => PASSING.includes(error ?? '');

/**
 * The fetches of slices that have not committed yet, by name. Shared only by slices on the same warehouse connection: a
 * slice of another connection may never end.
 */
const fetchesOf = new WeakMap<WarehouseReader, Map<string, Promise<ImageRecord>>>();

/** The pictures that `values` name and that are not stored yet; for a comparison also those that are. */
export async function newPictures(
  values: readonly unknown[],
  source: Source,
  largestMb: number,
): Promise<ImageRecord[]> {
  const fetches = fetchesOf.get(source.warehouse) ?? new Map<string, Promise<ImageRecord>>();
  fetchesOf.set(source.warehouse, fetches);
  const named = [...new Set(values.filter(isName))];
  const stored = await storedPictures(named, source.warehouse);
  const known = new Set(stored.map(({ hash }) => hash));
  const names = named.filter((hash) => !known.has(hash));
  // A comparison counts the pictures that are stored as equal. If it may store nothing, it only names the others.
  const same = source.isCompared ? stored.filter(({ error }) => error === null) : [];
  if (!source.mayStore) return [...same, ...names.map((hash) => ({ hash, fetched_at: source.readAt, attempts: 0 }))];
  const fetched = await source.mapCalls(names, async (hash, calling) => {
    for (let other = fetches.get(hash); other !== undefined; other = fetches.get(hash)) {
      try {
        return await other;
      } catch {
        // The other slice could not fetch the picture, so this slice tries.
        if (fetches.get(hash) === other) fetches.delete(hash);
      }
    }
    const fetch = fetchPicture({ hash, attempts: 0 }, calling, largestMb);
    fetches.set(hash, fetch);
    source.atEnd(() => {
      if (fetches.get(hash) === fetch) fetches.delete(hash);
    });
    return fetch;
  });
  return [...same, ...fetched];
}

const storedPictures = (names: readonly string[], warehouse: WarehouseReader): Promise<ImageRecord[]> =>
  readInChunks(names, NAMES_PER_QUERY, (some) =>
    warehouse.read((sql) => sql(image.name).whereIn('hash', some).select(RECORD_COLUMNS)),
  );

const RECORD_COLUMNS = recordColumns(image).map(({ name }) => name);

/** A value that no warehouse can store or no URL can hold is not a name. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= LONGEST_NAME &&
  value.isWellFormed() &&
  !value.includes('\0');

/** Failed pictures that are due again and were not given up. */
export async function picturesToRetry(warehouse: WarehouseReader, now: number): Promise<WantedPicture[]> {
  const failed: (WantedPicture & { fetched_at: string })[] = await warehouse.read((sql) =>
    sql(image.name)
      .whereNotNull('error')
      .where((those) => those.where('attempts', '<', MOST_ATTEMPTS).orWhereIn('error', PASSING))
      .orderBy('fetched_at')
      .select('hash', 'attempts', 'error', 'fetched_at'),
  );
  const waitMs = (attempts: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1));
  return failed
    .filter((row) => now - Date.parse(row.fetched_at) >= waitMs(row.attempts))
    .slice(0, MOST_FAILED)
    .map(({ hash, attempts, error }) => ({ hash, attempts, error }));
}

export const fetchPictures = (wanted: readonly WantedPicture[], source: Source, largestMb: number) =>
  source.mapCalls(wanted, (one, calling) => fetchPicture(one, calling, largestMb));

async function fetchPicture(
  { hash, attempts, error: lastError }: WantedPicture,
  source: Source,
  largestMb: number,
): Promise<ImageRecord> {
  const record = { hash, fetched_at: source.readAt, attempts: attempts + 1 };
  const failed = (error: string): ImageRecord =>
    // Attempts that failed for another reason than the picture do not count against it.
    isPassing(lastError) && !isPassing(error) ? { ...record, error, attempts: 1 } : { ...record, error };
  try {
    const { bytes, contentType } = await source.call(checklistPicture, { picture: hash });
    if (bytes.length > largestMb * BYTES_PER_MB) return failed('picture_too_large');
    const stored = await storePicture(source.images, bytes, contentType);
    return { ...record, ...stored, content_type: contentType };
  } catch (error) {
    const isPictureError = error instanceof RoadbookError && !(error instanceof Fatal);
    if (!isPictureError || SERVICE_DOWN.has(error.code)) throw error;
    return failed(error.code);
  }
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/**
 * The file is named by our own digest of its content, so that no text of the service becomes part of a path and equal
 * pictures share one file. It is complete and on disk before it gets its name. `file` is below the images folder, with forward slashes.
 */
export async function storePicture(folder: string, bytes: Uint8Array, contentType: string | undefined) {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = `${sha256.slice(0, 2)}/${sha256}.${EXTENSIONS[contentType ?? ''] ?? 'bin'}`;
  const path = join(folder, file);
  try {
    const stored = await stat(path).catch(() => undefined);
    if (stored?.size !== bytes.length) await replaceFile(path, bytes);
  } catch (cause) {
    throw new Fatal(`Pictures cannot be stored in ${folder} (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`, {
      code: 'images_unwritable',
      hint: 'Check warehouse.images, its permissions and the space on its disk.',
      cause,
    });
  }
  return { sha256, file, bytes: bytes.length };
}
