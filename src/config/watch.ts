// Watches the configuration file and the files it depends on by polling their contents: some file systems send no events, many
// editors save by rename, and the target of a link may be in another folder. A change counts only when two polls in a row
// see the same contents, so that a half-written file is not loaded.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../core/time/clock.ts';
import { createLoop, type Loop } from '../core/time/loop.ts';
import { secretFilesIn } from './yaml/interpolation.ts';

export interface WatchDependencies {
  /** The configuration file; the secret files it names are watched too. */
  file: string;
  /** Other files that it depends on, such as `.env`. */
  beside: readonly string[];
  clock: Clock;
  /** Called once for each change, and again until it returns true; calls do not overlap. Must not throw. */
  changed(): Promise<boolean>;
}

const POLL_MS = 500;
/** A missing file counts after this time: some editors and tools delete the file before they write it again. */
const GONE_MS = 1_500;
const MAX_READ_BYTES = 256 * 1_024;

export function watchConfig({ file, beside, clock, changed }: WatchDependencies): Loop {
  let last = '';
  let lastChangeAt = 0;
  // Starts empty, so that the file is loaded once more: it may have changed since the first load.
  let known = '';
  return createLoop(clock, POLL_MS, async () => {
    const main = await contentsOf(file);
    const others = await Promise.all([...beside, ...secretFilesIn(main?.toString() ?? '')].map(contentsOf));
    const contents = [main, ...others].map((each) => (each === undefined ? 'gone' : digestOf(each))).join(' ');
    if (contents !== last) {
      last = contents;
      lastChangeAt = clock.monotonic();
    } else if (contents !== known && (main !== undefined || clock.monotonic() - lastChangeAt >= GONE_MS)) {
      known = (await changed()) ? contents : '';
    }
  });
}

export const digestOf = (contents: Buffer | string): string => createHash('sha256').update(contents).digest('hex');

/** A file too large for a configuration is not read; its size and time stand for its contents. */
async function contentsOf(file: string): Promise<Buffer | undefined> {
  try {
    const found = await stat(file);
    // A read from a pipe or device may never end.
    if (!found.isFile()) return undefined;
    return found.size > MAX_READ_BYTES ? Buffer.from(`${found.size} ${found.mtimeMs}`) : await readFile(file);
  } catch {
    return undefined;
  }
}
