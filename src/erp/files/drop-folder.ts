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
    const ready = first.filter(isStable);
    yield* ready;
    if (ready.length === first.length) return;
    await clock.sleep(settleMs, signal);
    const given = new Set(ready.map(({ name }) => name));
    yield* (await scan()).filter((file) => isStable(file) && !given.has(file.name));
  };
}

const names = new Intl.Collator('en', { numeric: true });

/** The older file first: if two files contain the same code, the newer content wins. */
const byAge = (a: StableFile, b: StableFile): number => a.mtimeMs - b.mtimeMs || names.compare(a.name, b.name);

/** Regular files of a known format, except hidden files and the lock files of office programs. */
export const dropNames = async (folder: string): Promise<string[]> =>
  (await namesLike(folder, isDropName)).filter((name) => !isTooLong(name));

/** Files that would be read under a shorter name. */
export const longNames = async (folder: string): Promise<string[]> =>
  (await namesLike(folder, isDropName)).filter(isTooLong);

/** Such a file stays in place: its result would have no name. */
export const longNamed = (name: string, rule: Pick<SourceContext, 'reuseCodes'>): AsyncIterable<ErpBatch> =>
  inBatches(name, [{ readError: { origin: name, reason: NAME_TOO_LONG } }], rule);

async function namesLike(folder: string, isLike: (name: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && isLike(entry.name)).map(({ name }) => name);
}

/** Files that a person may have dropped by mistake: spreadsheets and tables in another format. */
export const unreadNames = (folder: string): Promise<string[]> =>
  namesLike(folder, (name) => /^[^.~].*\.(?:xls|xlsm|xlsb|ods|txt|tsv|xml|zip)$/i.test(name));

const isDropName = (name: string): boolean =>
  FORMATS.includes(extname(name).toLowerCase()) && !/^(?:\.|~\$)/.test(name);

export const isTooLong = (name: string): boolean => Buffer.byteLength(name) > LONGEST_NAME_BYTES;
