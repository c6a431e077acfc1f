// The `files` source: a folder into which the ERP drops JSON, CSV or XLSX. Nothing is lost at any crash:
//
//   1. A file is read once it has stopped growing, and stays where it is.
//   2. `taken` writes what was read into `pending/<name>.journal`. Without a journal to the file's end, the next
//      read gives the file again from its start; the engine knows its things by code and content.
//   3. `acknowledge` appends outcomes to the journal. When every thing is final, the place the file goes to is
//      appended, the result is written there, the file is moved, and the journal is removed, in this order.
//      Whatever a crash leaves undone, the next read does, from the journal.
//   4. A file that is replaced under its name while in work has another size or time: it is read as new, its
//      journal starts anew, and the outcomes already known are told again through `awaited`.
//   5. What changes after its file has moved is appended to `late-results.jsonl`.
import { access, constants, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Log } from '../../core/log.ts';
import { inBatches } from '../batches.ts';
import { readFileInLimits } from '../drop-file-reader.ts';
import { createDropFolder, type DropFolder, dropNames, type SettledFile } from '../drop-folder.ts';
import { isGone, orGone } from '../durable-file.ts';
import { type FileIdentity, sameIdentity } from '../file-journal.ts';
import { folderFailure, inFolder } from '../folder-failure.ts';
import { prepareMapping } from '../mapping.ts';
import { createPendingFiles, type PendingFiles } from '../pending-files.ts';
import { writeReturns } from '../plan-returns.ts';
import type { ReaderContext } from '../row-reader.ts';
import type { ErpBatch, ErpSource, SharedSettings, SourceContext, SourceKind } from '../source.ts';

export interface FilesSettings extends SharedSettings {
  source: 'files';
  folder: string;
  /** How long a file must stay the same before it is read. */
  settleMs: number;
}

const PAGE = 500;

export const files: SourceKind<FilesSettings> = { open: openFiles };

/** What reading a folder takes. */
interface FolderReading {
  reader: ReaderContext;
  drops: DropFolder;
  pending: PendingFiles;
  log: Log;
  /** The files that were read and not taken to their end, by name. */
  given: Map<string, GivenFile>;
}

/** A batch may come back as an equal copy: its name and part say which one it is. */
interface GivenFile {
  /** The content that was read. */
  identity: FileIdentity;
  /** How many parts of it were taken. */
  taken: number;
}

function openFiles({ folder, settleMs, mapping }: FilesSettings, context: SourceContext): ErpSource {
  const { kind, zone, reuseCodes, clock, log } = context;
  const reader = { kind, zone, reuseCodes, mapping: prepareMapping(kind, mapping) };
  const drops = createDropFolder({ folder, settleMs, clock });
  const pending = createPendingFiles({ folder, zone, clock, log });
  const reading: FolderReading = { reader, drops, pending, log, given: new Map() };
  // A return file is read, changed and replaced: two at once would lose one.
  const returns = new PQueue({ concurrency: 1 });

  return {
    async *read(signal) {
      try {
        yield* readFolder(reading, signal);
      } catch (thrown) {
        throw folderFailure(thrown, folder);
      }
    },
    taken: (batch) => inFolder(folder, () => take(reading, batch)),
    async *awaited() {
      await inFolder(folder, () => pending.recover());
      const items = pending.awaited();
      for (let at = 0; at < items.length; at += PAGE) yield items.slice(at, at + PAGE);
    },
    acknowledge: (outcomes) => inFolder(folder, () => pending.acknowledge(outcomes)),
    returnExecutions: (stops) =>
      returns.add(() => inFolder(folder, () => writeReturns(join(folder, 'returns'), stops, context))),
    check: () => inFolder(folder, () => findings(folder)),
    async close() {},
  };
}

async function* readFolder(reading: FolderReading, signal?: AbortSignal): AsyncIterable<ErpBatch> {
  const { drops, pending, log } = reading;
  await pending.recover();
  for await (const file of drops.settled(signal)) {
    signal?.throwIfAborted();
    if (pending.isTaken(file.name, file)) continue;
    try {
      yield* readFile(reading, file, signal);
    } catch (error) {
      if (!isGone(error)) throw error;
      reading.given.delete(file.name);
      log.warn({ file: file.name }, 'erp file vanished while it was read');
    }
  }
}

async function* readFile(
  { reader, log, given }: FolderReading,
  file: SettledFile,
  signal?: AbortSignal,
): AsyncIterable<ErpBatch> {
  const readings = readFileInLimits(file, reader, { signal });
  given.set(file.name, { identity: file, taken: 0 });
  try {
    for await (const batch of inBatches(file.name, readings, reader)) {
      // Without its last part nothing of the file counts; all of it is read again.
      if (batch.last && !(await isUnchanged(file))) break;
      yield batch;
      if (batch.last) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (isGone(error) || (await isUnchanged(file))) throw error;
  }
  given.delete(file.name);
  log.warn({ file: file.name }, 'erp file changed while it was read; it will be read again');
}

/** A part that was taken before is ignored: taken again, it would be awaited again. */
async function take({ pending, given }: FolderReading, batch: ErpBatch): Promise<void> {
  const file = given.get(batch.name);
  if (file === undefined || batch.part <= file.taken) return;
  await pending.take(batch, file.identity);
  file.taken = batch.part;
  if (batch.last) given.delete(batch.name);
}

async function isUnchanged(file: SettledFile): Promise<boolean> {
  const now = await orGone(stat(file.path));
  return now !== undefined && sameIdentity(now, file);
}

async function findings(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await access(folder, constants.R_OK | constants.W_OK);
  const waiting = (await dropNames(folder)).length;
  return `The drop folder ${folder} can be read and written; ${waiting} files are in it.`;
}
