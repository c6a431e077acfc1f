// Dropped files that were taken and wait for their results, one fact in the warehouse for each. A result holds the outcomes
// of the file's items, and is written when all of them are final. Until then, nothing notifies the ERP of its entries. Writing
// the result marks them as acknowledged and forgets the file. If the file or the feed was replaced, no result is written, and
// the ERP is notified by calls.
import PQueue from 'p-queue';
import { chunks } from '../../core/chunks.ts';
import { asRoadbookError } from '../../core/errors.ts';
import { localDay } from '../../erp/items/moments.ts';
import type { FileContent, FileItem, ReadError, TakenFile } from '../../erp/source.ts';
import { deleteFact, factsNamed, writeFact } from '../../warehouse/control/learned-facts.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { takenFileFact } from '../../warehouse/outbox/lists.ts';
import {
  type EntrySummary,
  isReportable,
  markAcknowledged,
  type Period,
  summariesByCode,
} from '../../warehouse/outbox/queries.ts';
import { codesOf, itemOutcome } from './codes.ts';
import type { PushRun } from './kind.ts';

export const takenFiles = ({ engine, kind }: PushRun): Promise<TakenFile[]> =>
  engine.read((sql) => factsNamed<TakenFile>(sql, takenFileFact(kind.feed)));

/** Part of the transaction that stores the last items of the file. Replaces an earlier file of the same name. */
export const markTaken = (tx: Transaction, { kind }: PushRun, file: TakenFile): Promise<void> =>
  writeFact(tx, takenFileFact(kind.feed, file.name), file, Date.parse(file.readAt));

const forgetFile = ({ sql }: Transaction, { kind }: PushRun, file: TakenFile): Promise<void> =>
  deleteFact(sql, takenFileFact(kind.feed, file.name));

export interface WaitingFile {
  file: TakenFile;
  content: FileContent;
  /** The entry of each item, in order; undefined if the outbox does not know the item. */
  entries: (EntrySummary | undefined)[];
  /** The entries of items that could not be read. */
  unread: EntrySummary[];
}

/**
 * Every file that was taken and waits for its result. Forgets the files that are gone, or that the feed no longer has. A
 * file that cannot be read now is reported and left out, so that it does not hold up the others.
 */
export async function waitingFiles(push: PushRun): Promise<WaitingFile[]> {
  const { feed, engine } = push;
  const waiting: WaitingFile[] = [];
  for (const file of await takenFiles(push)) {
    try {
      const content = await feed.source.files?.contentOf(file);
      if (content === undefined) await engine.write((tx) => forgetFile(tx, push, file));
      else waiting.push({ file, content, ...(await entriesOf(push, content)) });
    } catch (thrown) {
      if (push.context.signal.aborted) throw thrown;
      push.report(asRoadbookError(thrown), 'dropped file could not be read for its result');
    }
  }
  return waiting;
}

const AT_ONCE = 4;

/** Finishes the files whose items are all final. A file that cannot be finished does not hold up the others. */
export async function finishFiles(push: PushRun, waiting: readonly WaitingFile[], idAwaited: Period): Promise<void> {
  const { feed, engine, kind, context } = push;
  const { files } = feed.source;
  if (files === undefined) return;
  const failures: unknown[] = [];
  const finish = async ({ file, content, entries, unread }: WaitingFile): Promise<void> => {
    if (context.signal.aborted) return;
    const known = entries.flatMap((entry) => entry ?? []);
    // The file is read again, so that the missing item is taken.
    if (known.length < entries.length) return engine.write((tx) => forgetFile(tx, push, file));
    if (!known.every((entry) => isReportable(entry, idAwaited))) return;
    const outcomes = known.map((entry, i) => itemOutcome(entry, content.items[i]?.externalCode ?? ''));
    await files.finish(file, content, outcomes);
    await engine.write(async (tx) => {
      await markAcknowledged(tx.sql, kind.feed, [...known, ...unread], push.now());
      await forgetFile(tx, push, file);
    });
  };
  // Most of the time is spent waiting for the disk. All files are awaited, so that none is still written after the run.
  await new PQueue({ concurrency: AT_ONCE }).addAll(
    waiting.map((file) => () => finish(file).catch((failure) => failures.push(failure))),
  );
  if (context.signal.aborted) return;
  await files.removeExpired();
  if (failures.length > 0) throw failures[0];
}

const PAGE = 500;

async function entriesOf(
  push: PushRun,
  { items, readErrors }: FileContent,
): Promise<Pick<WaitingFile, 'entries' | 'unread'>> {
  const { kind, engine, digest } = push;
  const named = readErrors.filter(({ externalCode }) => externalCode !== undefined);
  const codeOf = ({ externalCode = '' }: Partial<FileItem>): string =>
    codesOf(kind.feed, externalCode, digest).external_code;
  const uses = new Map<string, EntrySummary[]>();
  for (const page of chunks([...new Set([...items, ...named].map(codeOf))], PAGE)) {
    const known = await engine.read((sql) => summariesByCode(sql, kind.feed, page));
    for (const [code, entries] of known) uses.set(code, entries);
  }
  const usesOf = (one: Partial<FileItem>): EntrySummary[] => uses.get(codeOf(one)) ?? [];
  return {
    entries: items.map((item) => entryOf(push, item, usesOf(item))),
    unread: named.flatMap((each) => usesOf(each).filter((use) => isUnread(push, use, each))),
  };
}

/** The use of the code that starts on the item's day. If the plan was moved, or has no day, the latest use. */
function entryOf(push: PushRun, { startDay }: FileItem, uses: readonly EntrySummary[]): EntrySummary | undefined {
  const sameDay = uses.find((use) => startDay !== '' && dayOf(push, use) === startDay);
  if (sameDay !== undefined) return sameDay;
  // If codes are reused, another day means another plan.
  if (push.settings.reuse_codes && startDay !== '') return uses.findLast((use) => dayOf(push, use) === '');
  return uses.findLast(({ attention }) => attention !== 'code_reused') ?? uses.at(-1);
}

/** Matches a rejected entry to an item that could not be read. The outbox may not know the day of such an item. */
function isUnread(push: PushRun, entry: EntrySummary, { startDay }: ReadError): boolean {
  const day = dayOf(push, entry);
  return entry.state === 'rejected' && (day === '' || day === startDay);
}

const dayOf = ({ context }: PushRun, { period_start }: EntrySummary): string =>
  localDay(period_start, context.dependencies.timezone);
