// Looks at a drop folder and tells which files have stopped growing: the same size and time at two looks, at
// least the settling time apart. Looks are remembered, so that a folder that is polled is hardly waited for.
import { mkdir, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Clock } from '../../core/time/clock.ts';
import { type FileIdentity, isSameContent } from './content.ts';
import { FORMATS } from './drop-file.ts';
import { orGone } from './gone.ts';

export interface SettledFile extends FileIdentity {
  name: string;
  path: string;
}

export interface DropFolder {
  /** Files that have stopped growing, by age; waits once on the clock where some may still grow. */
  settled(signal?: AbortSignal): AsyncIterable<SettledFile>;
}

export interface DropFolderOptions {
  folder: string;
  settleMs: number;
  clock: Clock;
}

/** Leaves room in the 255 bytes of a file name for the time and endings of the finished file, its result and a temporary file. */
const LONGEST_NAME_BYTES = 200;

interface Look extends SettledFile {
  /** When it was first seen like this, on the monotonic clock. */
  since: number;
}

export function createDropFolder({ folder, settleMs, clock }: DropFolderOptions): DropFolder {
  let looks = new Map<string, Look>();

  async function look(): Promise<Look[]> {
    await mkdir(folder, { recursive: true });
    const seen = new Map<string, Look>();
    for (const name of await dropNames(folder)) {
      const path = join(folder, name);
      const found = await orGone(stat(path));
      if (found === undefined) continue;
      const before = looks.get(name);
      const isSame = before !== undefined && isSameContent(before, found);
      const { size, mtimeMs } = found;
      seen.set(name, { name, path, size, mtimeMs, since: isSame ? before.since : clock.monotonic() });
    }
    looks = seen;
    return [...seen.values()].toSorted(byAge);
  }

  const isSettled = ({ since }: Look): boolean => clock.monotonic() - since >= settleMs;

  return {
    async *settled(signal) {
      const first = await look();
      const ready = first.filter(isSettled);
      yield* ready;
      if (ready.length === first.length) return;
      await clock.sleep(settleMs, signal);
      const given = new Set(ready.map(({ name }) => name));
      yield* (await look()).filter((file) => isSettled(file) && !given.has(file.name));
    },
  };
}

const names = new Intl.Collator('en', { numeric: true });

/** The older file first: where two hold one code, the newer content has the last word. */
const byAge = (a: SettledFile, b: SettledFile): number =>
  a.mtimeMs - b.mtimeMs || names.compare(a.name, b.name);

/** Plain files of a known format; hidden ones and those an office program has open are left alone. */
export async function dropNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && isDropName(entry.name)).map(({ name }) => name);
}

const isDropName = (name: string): boolean =>
  FORMATS.includes(extname(name).toLowerCase()) &&
  !/^(?:\.|~\$)/.test(name) &&
  Buffer.byteLength(name) <= LONGEST_NAME_BYTES;
