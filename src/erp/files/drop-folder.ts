// Lists the files in a drop folder that have stopped growing: size and time are the same in two scans, at least the
// settling time apart. Scans are remembered, so that a folder that is polled needs almost no waiting.
import { mkdir, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Clock } from '../../core/time/clock.ts';
import { inBatches } from '../batches.ts';
import type { ErpBatch, FileMark, SourceContext } from '../source.ts';
import { FORMATS } from './drop-file.ts';
import { ifExists } from './gone.ts';

/** Size and time identify the content of a file, to notice a new file of the same name. */
export type FileIdentity = Pick<FileMark, 'size' | 'mtimeMs'>;

export const isSameContent = (a: FileIdentity, b: FileIdentity): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs;

export interface StableFile extends FileIdentity {
  name: string;
  path: string;
}

/** Leaves room in the 255 bytes of a file name for the time and the extensions of a finished, result or temporary file. */
const LONGEST_NAME_BYTES = 200;
const NAME_TOO_LONG = `has a name of more than ${LONGEST_NAME_BYTES} bytes; shorten it`;
const NAME_NOT_UTF_8 = 'has a name that is not UTF-8; rename it without accents';
const OTHER_FORMAT = 'has a format that is not read; save it as .xlsx or .csv';

interface SeenFile extends StableFile {
  /** When this content was first seen, on the monotonic clock. */
  since: number;
}

/** Returns the scan: files that have stopped growing, oldest first. If some may still grow, it waits once for the settling time. */
export function createFolderScan(folder: string, settleMs: number, clock: Clock) {
  let lastScan = new Map<string, SeenFile>();

  async function scan(): Promise<SeenFile[]> {
    await mkdir(folder, { recursive: true });
    const seen = new Map<string, SeenFile>();
    for (const name of await dropNames(folder)) {
      const path = join(folder, name);
      const found = await ifExists(stat(path));
      if (found === undefined) continue;
      const before = lastScan.get(name);
      const isSame = before !== undefined && isSameContent(before, found);
      const { size, mtimeMs } = found;
      seen.set(name, { name, path, size, mtimeMs, since: isSame ? before.since : clock.monotonic() });
    }
    lastScan = seen;
    return [...seen.values()].toSorted(byAge);
  }

  const isStable = ({ since }: SeenFile): boolean => clock.monotonic() - since >= settleMs;

  return async function* stableFiles(signal?: AbortSignal): AsyncIterable<StableFile> {
    const first = await scan();
    if (first.every(isStable)) return yield* first;
    // All files wait, so that an older one that may still grow comes before a newer one.
    await clock.sleep(settleMs, signal);
    yield* (await scan()).filter(isStable);
  };
}

const names = new Intl.Collator('en', { numeric: true });

/** The older file first: if two files contain the same code, the newer content wins. */
const byAge = (a: StableFile, b: StableFile): number => a.mtimeMs - b.mtimeMs || names.compare(a.name, b.name);

/** Regular files of a known format, except hidden files and the lock files of office programs. */
export const dropNames = async (folder: string): Promise<string[]> =>
  (await fileNames(folder)).filter((name) => isDropName(name) && whyNotRead(name) === undefined);

/** Files that a person may expect to be read, and that stay in place. */
export const unreadNames = async (folder: string): Promise<string[]> =>
  (await fileNames(folder)).filter((name) => whyNotRead(name) !== undefined);

export const unreadBatches = (name: string, rule: Pick<SourceContext, 'reuseCodes'>): AsyncIterable<ErpBatch> =>
  inBatches(name, [{ readError: { origin: name, reason: whyNotRead(name) ?? '' } }], rule);

/** Undefined if the file is read, or if nobody expects it to be. The result of a name that is too long would have no name. */
export function whyNotRead(name: string): string | undefined {
  // Node puts U+FFFD for such bytes, and no file is found under that name.
  if (isDropName(name) && name.includes('\ufffd')) return NAME_NOT_UTF_8;
  if (isDropName(name)) return Buffer.byteLength(name) > LONGEST_NAME_BYTES ? NAME_TOO_LONG : undefined;
  return /^[^.~].*\.(?:xls|xlsm|xlsb|ods|txt|tsv|xml|zip)$/i.test(name) ? OTHER_FORMAT : undefined;
}

const fileNames = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);

const isDropName = (name: string): boolean =>
  FORMATS.includes(extname(name).toLowerCase()) && !/^(?:\.|~\$)/.test(name);
