// Finishes a dropped file whose items are all final: writes its result to `done/` or `failed/`, then moves the file there.
// Each step can be repeated after a crash: a result with the same read time belongs to the file, and is written anew.
// Finished files are removed after their retention time.
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { isDraft, makeFolder, moveFile, replaceFile, syncFolder } from '../../core/atomic-file.ts';
import type { FileContent, ItemOutcome, TakenFile } from '../source.ts';
import { type FileIdentity, isSameContent } from './drop-folder.ts';
import { exists, ifExists } from './gone.ts';
import { type IssuePlaces, reportedState, resultOf, resultTable, resultText } from './result.ts';
import type { Language } from './result-words.ts';

const FINISHED = ['done', 'failed'] as const;
const RESULT = '.result.json';
const TABLE = '.result.csv';
/** Bytes of a result up to its times. */
const LONGEST_HEAD = 4_096;

export interface Finishing {
  folder: string;
  file: TakenFile;
  content: FileContent;
  outcomes: readonly ItemOutcome[];
  /** ISO instant. */
  finishedAt: string;
  /** Of the table. */
  language: Language;
  places: IssuePlaces;
}

export async function finishFile(finishing: Finishing): Promise<void> {
  const { folder, file, content, outcomes, finishedAt } = finishing;
  const isDone = content.readErrors.length === 0 && outcomes.every((outcome) => reportedState(outcome) === 'confirmed');
  await removeResult(folder, file);
  const place = await freePlace(join(folder, isDone ? 'done' : 'failed'), file);
  const instants = { read_at: file.readAt, finished_at: finishedAt };
  await replaceFile(`${place}${RESULT}`, resultText(resultOf(file.name, content, outcomes, instants)));
  await replaceFile(`${place}${TABLE}`, resultTable(file.name, content, outcomes, finishing));
  await moveContent(join(folder, file.name), place, file);
}

/** Removes a result of this read. A crash left it without its file, and the outcomes may have changed since. */
async function removeResult(folder: string, file: TakenFile): Promise<void> {
  for (const place of FINISHED.flatMap((each) => placesIn(join(folder, each), file))) {
    const result = `${place}${RESULT}`;
    const head = await ifExists(headOf(result));
    // No other text of a result can look like this: quotation marks inside a text are escaped.
    if (head?.includes(`"read_at": "${file.readAt}"`) !== true) continue;
    // The table first: without its result nobody would know whose it is.
    await rm(`${place}${TABLE}`, { force: true });
    await rm(result, { force: true });
    await syncFolder(dirname(place));
  }
}

/** The time stands behind the name of the file. What follows may be larger than the memory. */
async function headOf(result: string): Promise<string> {
  const file = await open(result);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_HEAD), 0, LONGEST_HEAD, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The file's own name, or, if that is taken, its name with the read time. */
function placesIn(folder: string, { name, readAt }: TakenFile): [string, string] {
  const { name: stem, ext } = parse(name);
  return [join(folder, name), join(folder, `${stem}-${readAt.replace(/[-:.]/g, '')}${ext}`)];
}

async function freePlace(folder: string, file: TakenFile): Promise<string> {
  await makeFolder(folder);
  const [plain, timed] = placesIn(folder, file);
  // A table with a result of its own is a finished file. Without one it is left of an earlier result, and is replaced.
  for (const end of ['', RESULT, `${TABLE}${RESULT}`]) if (await exists(`${plain}${end}`)) return timed;
  return plain;
}

/** Moves the content that the result describes. A newer file of the same name stays in the drop folder. */
async function moveContent(from: string, to: string, content: FileIdentity): Promise<void> {
  if (await exists(to)) return;
  const found = await ifExists(stat(from));
  if (found === undefined || !isSameContent(found, content)) return;
  await ifExists(moveFile(from, to));
  const moved = await ifExists(stat(to));
  // The ERP replaced the file right before the move: the new file goes back, to be read.
  if (moved !== undefined && !isSameContent(moved, content) && !(await exists(from))) await moveFile(to, from);
}

/** Removes the files that were finished before `beforeMs`, and drafts that a crash left before then. */
export async function removeExpired(folder: string, beforeMs: number): Promise<void> {
  for (const each of [...FINISHED, 'returns']) {
    const place = join(folder, each);
    const entries = (await ifExists(readdir(place, { withFileTypes: true }))) ?? [];
    const names = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    const expired: string[] = [];
    for (const name of names)
      if (each !== 'returns' || isDraft(name))
        if ((await finishedMs(place, name, names)) < beforeMs) expired.push(name);
    for (const name of expired) await rm(join(place, name), { force: true });
  }
}

/** The time of the file's result. Without a result, which the ERP may have removed, the time of the file's own write or move. */
async function finishedMs(place: string, name: string, names: ReadonlySet<string>): Promise<number> {
  // A finished file may itself be called like a table.
  const dropped = name.endsWith(TABLE) ? name.slice(0, -TABLE.length) : name;
  const timed = [name + RESULT, dropped + RESULT].find((result) => names.has(result)) ?? name;
  const found = await ifExists(stat(join(place, timed)));
  const isOwnWrite = timed.endsWith(RESULT) || timed.endsWith(TABLE) || isDraft(timed);
  // The ERP may have written its file long before. The move changes only `ctime`.
  return (isOwnWrite ? found?.mtimeMs : found?.ctimeMs) ?? Number.POSITIVE_INFINITY;
}
