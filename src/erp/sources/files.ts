// The `files` source: a folder into which the ERP drops JSON, CSV or XLSX files. A file is read once it has stopped growing,
// and stays in place until every item in it is final. Then its result is written, and the file is moved beside the result.
// The engine stores which files it has taken; this source has no state that a crash could lose.
import { access, constants, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { Fatal, Retriable, Skippable } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Log } from '../../core/log.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { ITEMS_PER_TURN, inBatches } from '../batches.ts';
import type { FileContext, FileFormat } from '../files/drop-file.ts';
import { readFileInLimits } from '../files/drop-file-reader.ts';
import {
  createFolderScan,
  dropNames,
  type FileIdentity,
  isSameContent,
  type StableFile,
  unreadBatches,
  unreadNames,
  whyNotRead,
} from '../files/drop-folder.ts';
import { finishFile, removeExpired } from '../files/finish.ts';
import { ifExists, isGone } from '../files/gone.ts';
import { appendLateResults, type IssuePlaces } from '../files/result.ts';
import type { Language } from '../files/result-words.ts';
import { writeReturns } from '../files/returns.ts';
import { issuePlace, rejectedPlaces } from '../items/issue-places.ts';
import { localDay } from '../items/moments.ts';
import { validateItem } from '../items/schemas.ts';
import type { Mapping } from '../rows/mapping.ts';
import { columnNames, readerOf } from '../rows/row-reader.ts';
import type { FeedFormats } from '../rows/written-values.ts';
import {
  type CellPlace,
  type DroppedFiles,
  type ErpBatch,
  type ErpSource,
  type FileContent,
  type FileItem,
  type FoundHeader,
  type ItemOutcome,
  type ReadError,
  type SourceContext,
  validItems,
} from '../source.ts';

export interface FilesSettings extends FileFormat, FeedFormats {
  source: 'files';
  mapping: Mapping;
  folder: string;
  /** How long a file must stay unchanged before it is read. */
  settleMs: number;
  /** How long finished files are kept. */
  keepFilesMs: number;
  /** Of result tables; default pt. */
  language?: Language | undefined;
}

const HOUR_MS = 3_600_000;

interface FolderReader {
  reader: FileContext;
  log: Log;
  /** Contents read by this process, by `contentKey`, so that a waiting file is not read again in every run. */
  contents: Map<string, FileContent>;
}

const contentKey = ({ name, size, mtimeMs }: FileIdentity & { name: string }): string =>
  JSON.stringify([name, size, mtimeMs]);

export function openFiles(settings: FilesSettings, context: SourceContext): ErpSource {
  const { folder, settleMs } = settings;
  const { clock, log } = context;
  const stableFiles = createFolderScan(folder, settleMs, clock);
  const folderReader: FolderReader = { reader: fileContext(settings, context), log, contents: new Map() };
  // A return file is read, changed and replaced: two updates at once would lose one.
  const returns = new PQueue({ concurrency: 1 });

  return {
    async *read(signal, taken = []) {
      const known = new Set(taken.map(contentKey));
      for (const key of folderReader.contents.keys()) if (!known.has(key)) folderReader.contents.delete(key);
      const failures: unknown[] = [];
      try {
        for await (const file of stableFiles(signal)) {
          signal?.throwIfAborted();
          if (known.has(contentKey(file))) continue;
          try {
            yield* readFile(folderReader, file, signal);
          } catch (thrown) {
            // The failure of one file does not hold up the others. The run reports it, and the next run reads the file again.
            signal?.throwIfAborted();
            log.warn({ file: file.name }, 'erp file could not be read to its end; it will be read again');
            failures.push(thrown);
          }
        }
        for (const name of await unreadNames(folder)) yield* unreadBatches(name, folderReader.reader);
        if (failures.length > 0) throw failures[0];
      } catch (thrown) {
        throw folderFailure(thrown, folder);
      }
    },
    acknowledge: (outcomes) => inFolder(folder, () => appendLateResults(folder, outcomes, isoInstant(clock.now()))),
    files: droppedFiles(settings, context, folderReader),
    returnExecutions: (stops) =>
      returns.add(() => inFolder(folder, () => writeReturns(join(folder, 'returns'), stops, context))),
    check: () => inFolder(folder, () => checkFolder(folder)),
    async close() {},
  };
}

/** How the files of the feed are read. */
export function fileContext(settings: FilesSettings, context: SourceContext): FileContext {
  const { encoding, sheet, headerRow } = settings;
  return { ...readerOf(settings, context), file: { encoding, sheet, headerRow } };
}

/** Reads the file again, if items are rejected or partial, to find the cells that the reasons are about. */
async function placesOf(
  { reader }: FolderReader,
  file: StableFile,
  outcomes: readonly ItemOutcome[],
): Promise<IssuePlaces> {
  const keyOf = (code: string, day: string): string => (reader.reuseCodes ? JSON.stringify([code, day]) : code);
  const outcomeKey = ({ externalCode, periodStart }: ItemOutcome): string =>
    keyOf(externalCode, localDay(periodStart, reader.zone));
  const reasonsOf = new Map(
    outcomes.flatMap((outcome) => (outcome.reasons ? [[outcomeKey(outcome), outcome.reasons]] : [])),
  );
  const places = new Map<string, Map<string, CellPlace>>();
  if (reasonsOf.size === 0) return () => undefined;
  let columnOf = (path: string): string => path;
  const onHeader = (found: FoundHeader) => {
    columnOf = columnNames(found);
  };
  let count = 0;
  for await (const parsed of readFileInLimits(file, { ...reader, onHeader })) {
    count += 1;
    if (count % ITEMS_PER_TURN === 0) await yieldToEventLoop();
    if (!('item' in parsed)) continue;
    const { item } = parsed;
    const key = keyOf(item.externalCode, item.startDay);
    const reasons = reasonsOf.get(key);
    if (reasons === undefined) continue;
    const issues = new Set(validateItem(reader.kind, item));
    const rejectedPlace = rejectedPlaces(item);
    const placeOf = (reason: string): CellPlace =>
      issues.has(reason) ? issuePlace(reader.kind, item, reason, columnOf) : rejectedPlace(reason);
    places.set(key, new Map(reasons.map((reason) => [reason, placeOf(reason)])));
  }
  return (outcome) => places.get(outcomeKey(outcome));
}

function droppedFiles(
  { folder, keepFilesMs, language = 'pt' }: FilesSettings,
  { clock, log }: SourceContext,
  folderReader: FolderReader,
): DroppedFiles {
  const { contents } = folderReader;
  let expiryDueMs = clock.monotonic();

  return {
    contentOf: (file) =>
      inFolder(folder, async () => {
        const [path, key] = [join(folder, file.name), contentKey(file)];
        if (!(await isUnchanged(path, file))) return undefined;
        if (!contents.has(key)) for await (const _ of readFile(folderReader, { ...file, path }));
        const content = contents.get(key);
        return content?.items.length === file.items ? content : undefined;
      }),
    finish: (file, content, outcomes) =>
      inFolder(folder, async () => {
        const places = await placesOf(folderReader, { ...file, path: join(folder, file.name) }, outcomes);
        await finishFile({ folder, file, content, outcomes, finishedAt: isoInstant(clock.now()), language, places });
        log.debug({ file: file.name }, 'erp file finished');
      }),
    removeExpired: () =>
      inFolder(folder, async () => {
        if (clock.monotonic() < expiryDueMs) return;
        expiryDueMs = clock.monotonic() + HOUR_MS;
        await removeExpired(folder, clock.now() - keepFilesMs);
      }),
  };
}

async function* readFile(
  { reader, log, contents }: FolderReader,
  file: StableFile,
  signal?: AbortSignal,
): AsyncIterable<ErpBatch> {
  const { name, path, size, mtimeMs } = file;
  const items: FileItem[] = [];
  const readErrors: ReadError[] = [];
  try {
    for await (const batch of inBatches(name, readFileInLimits(file, reader, { signal }), reader)) {
      if (batch.part === 1) items.length = readErrors.length = 0;
      items.push(
        ...batch.items.map(({ externalCode, startDay, rows }) => ({ externalCode, startDay, row: rows?.[0] })),
      );
      readErrors.push(...batch.readErrors);
      if (!batch.last) {
        yield batch;
        continue;
      }
      // The file has changed. Without a last part none of its parts counts, and it is read again.
      if (!(await isUnchanged(path, file))) break;
      const content = { items: items.filter(validItems(readErrors)), readErrors };
      contents.set(contentKey(file), content);
      yield { ...batch, file: { size, mtimeMs, items: content.items.length } };
      return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!isGone(error) && (await isUnchanged(path, file))) throw error;
  }
  log.warn({ file: name }, 'erp file changed or disappeared during the read; it will be read again');
}

async function isUnchanged(path: string, file: FileIdentity): Promise<boolean> {
  const now = await ifExists(stat(path));
  return now !== undefined && isSameContent(now, file);
}

async function checkFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await access(folder, constants.R_OK | constants.W_OK);
  const waiting = (await dropNames(folder)).length;
  const found = `The drop folder ${folder} is readable and writable; it contains ${waiting} files to read.`;
  const unread = (await unreadNames(folder)).map((name) => `${name} ${whyNotRead(name)}`);
  if (unread.length === 0) return found;
  throw new Skippable(`${found} These are not read: ${unread.join(', ')}.`, {
    code: 'erp_file_not_read',
    hint: 'Save them in a format that is read, under a short name without accents, or take them away.',
  });
}

/** Converts a file system error into one with a readable message and a hint; any other error stays unchanged. */
function folderFailure(thrown: unknown, folder: string): unknown {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string' || syscall === undefined) return thrown;
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) {
    return new Retriable(`The disk of the drop folder ${folder} is full (${code})`, {
      code: 'erp_folder_full',
      hint: 'Free disk space; no stored data is lost.',
    });
  }
  return new Fatal(`The drop folder ${folder} cannot be used (${syscall}, ${code})`, {
    code: 'erp_folder_unusable',
    hint: 'Check that the folder and its subfolders are on one disk and that this user may write to them.',
  });
}

/** Runs `work` and converts its file system errors. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw folderFailure(thrown, folder);
  }
}
