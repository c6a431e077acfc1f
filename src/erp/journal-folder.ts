// The journals of the dropped files in work, one file each. A journal starts whole or not at all, and every line
// is on disk before the promise resolves.
import { mkdir, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { appendLines, replaceFile } from './durable-file.ts';
import { type JournalLine, type JournalState, parseJournal } from './file-journal.ts';

export interface JournalFolder {
  pathOf(name: string): string;
  /** What every journal tells, by the name of its file. */
  load(): Promise<Map<string, JournalState>>;
  /** Takes the place of a journal that is there. */
  start(name: string, lines: readonly JournalLine[]): Promise<void>;
  append(name: string, lines: readonly JournalLine[]): Promise<void>;
}

const ENDING = '.journal';

export function createJournalFolder(folder: string): JournalFolder {
  const pathOf = (name: string): string => join(folder, `${name}${ENDING}`);
  return {
    pathOf,
    async load() {
      await mkdir(folder, { recursive: true });
      const states = new Map<string, JournalState>();
      for (const entry of await readdir(folder)) {
        if (entry.startsWith('.') || !entry.endsWith(ENDING)) continue;
        const state = await readJournal(join(folder, entry));
        if (state !== undefined) states.set(entry.slice(0, -ENDING.length), state);
      }
      return states;
    },
    start: (name, lines) =>
      replaceFile(pathOf(name), lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    async append(name, lines) {
      if (lines.length > 0)
        await appendLines(
          pathOf(name),
          lines.map((line) => JSON.stringify(line)),
        );
    },
  };
}

/** A line that a crash cut off is taken away, so that the next one does not join it. */
async function readJournal(path: string): Promise<JournalState | undefined> {
  const text = await readFile(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
  const state = parseJournal(whole);
  if (state === undefined) await rm(path, { force: true });
  return state;
}
