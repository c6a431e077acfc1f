// The journals of the dropped files in work, one file each. A journal starts whole or not at all, and every line
// is on disk before the promise resolves. The disk is the truth: another process may write or end a journal.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../core/atomic-file.ts';
import { type Appended, appendLines, type FileMark, markOf, orGone } from './durable-file.ts';
import { type JournalLine, type JournalState, parseJournal } from './file-journal.ts';

export interface JournalFolder {
  /** Names of the files that have a journal. */
  names(): Promise<string[]>;
  /** What it tells, and as of when; undefined where there is none. */
  read(name: string): Promise<{ state: JournalState; mark: FileMark } | undefined>;
  markOf(name: string): Promise<FileMark | undefined>;
  /** Takes the place of a journal that is there. */
  start(name: string, lines: readonly JournalLine[]): Promise<FileMark | undefined>;
  /** Undefined where the journal has ended. */
  append(name: string, lines: readonly JournalLine[]): Promise<Appended | undefined>;
  end(name: string): Promise<void>;
}

const ENDING = '.journal';

export function createJournalFolder(folder: string): JournalFolder {
  const pathOf = (name: string): string => join(folder, `${name}${ENDING}`);
  return {
    async names() {
      await mkdir(folder, { recursive: true });
      return (await readdir(folder))
        .filter((entry) => !entry.startsWith('.') && entry.endsWith(ENDING))
        .map((entry) => entry.slice(0, -ENDING.length));
    },
    async read(name) {
      // The mark first: what is written in between is then read again, not passed over.
      const mark = await markOf(pathOf(name));
      const text = await orGone(readFile(pathOf(name), 'utf8'));
      if (mark === undefined || text === undefined) return undefined;
      const state = parseJournal(text);
      if (state === undefined) await rm(pathOf(name), { force: true });
      return state && { state, mark };
    },
    markOf: (name) => markOf(pathOf(name)),
    async start(name, lines) {
      await replaceFile(pathOf(name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      return markOf(pathOf(name));
    },
    append: (name, lines) =>
      appendLines(
        pathOf(name),
        lines.map((line) => JSON.stringify(line)),
      ),
    end: (name) => rm(pathOf(name), { force: true }),
  };
}
