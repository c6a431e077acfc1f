// Lays a settled file with its result into `done/` or `failed/`. The place is written into the journal first, so
// every step can be repeated after a crash, or by another process: result stored, then the file moved.
import { stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { makeFolder, moveFile, replaceFile } from '../core/atomic-file.ts';
import { exists, orGone } from './durable-file.ts';
import { type FileIdentity, isFailed, type JournalState, type Move, sameIdentity } from './file-journal.ts';
import { resultOf } from './file-result.ts';

export interface Finishing {
  /** The drop folder. */
  folder: string;
  name: string;
  move: Move;
  state: JournalState;
  /** ISO instant. */
  finishedAt: string;
}

export async function finishFile({ folder, name, move, state, finishedAt }: Finishing): Promise<void> {
  const target = join(folder, move.folder, move.name);
  const result = JSON.stringify(resultOf(name, state, finishedAt), undefined, 2);
  await replaceFile(`${target}.result.json`, `${result}\n`);
  await moveOriginal(join(folder, name), target, state.identity);
}

/** Where a file may go that has no place yet. */
export async function freePlace(folder: string, name: string, state: JournalState): Promise<Move> {
  const place = isFailed(state) ? 'failed' : 'done';
  await makeFolder(join(folder, place));
  return { folder: place, name: await freeName(join(folder, place), name) };
}

/** The name itself, or the first of `name-2`, `name-3`, … that nothing has. */
async function freeName(folder: string, name: string): Promise<string> {
  const { name: stem, ext } = parse(name);
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${stem}-${count}${ext}`;
    const path = join(folder, candidate);
    if (!(await exists(path)) && !(await exists(`${path}.result.json`))) return candidate;
  }
}

/** Moves the content the result speaks of; a newer file under the same name is left where it is. */
async function moveOriginal(from: string, to: string, identity: FileIdentity): Promise<void> {
  if (await exists(to)) return;
  const waiting = await orGone(stat(from));
  if (waiting === undefined || !sameIdentity(waiting, identity)) return;
  await orGone(moveFile(from, to));
  const moved = await orGone(stat(to));
  // Replaced in the instant before the move: it goes back, to be read as new.
  if (moved !== undefined && !sameIdentity(moved, identity) && !(await exists(from)))
    await moveFile(to, from);
}
