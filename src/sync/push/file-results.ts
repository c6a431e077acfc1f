// The result of a dropped file holds the outcomes of its items, and is written when all of them are final. While a file
// waits for its result, nothing else notifies the ERP of its items.
import PQueue from 'p-queue';
import { chunks } from '../../core/chunks.ts';
import { localDay } from '../../erp/items/moments.ts';
import type { FileContent, FileItem, Outcome, TakenFile } from '../../erp/source.ts';
import { nameOf } from '../../warehouse/outbox/entry.ts';
import { type EntryStatus, FINAL, statusByCode } from '../../warehouse/outbox/queries.ts';
import { codeInClear, codesOf, outcomeOf } from './codes.ts';
import type { PushRun } from './kind.ts';
import { abandonFile, closeFile, takenFiles } from './taken-files.ts';

interface WaitingFile {
  file: TakenFile;
  content: FileContent;
}

/** Every file that was taken and waits for its result. Removes the records of files that are gone or finished. */
export async function waitingFiles(push: PushRun): Promise<WaitingFile[]> {
  const { feed, engine, kind } = push;
  const { files } = feed.source;
  const waiting: WaitingFile[] = [];
  if (files === undefined) return waiting;
  for (const file of await takenFiles(engine, kind.feed)) {
    const content = await files.contentOf(file);
    if (content === 'gone') await engine.write((tx) => abandonFile(tx, push, file));
    else if (content === 'finished') await engine.write((tx) => closeFile(tx, push, file));
    else waiting.push({ file, content });
  }
  return waiting;
}

/** Selects the entries that will be in none of these files' results. */
export function entriesOutsideFiles(push: PushRun, files: readonly WaitingFile[]) {
  const items = Map.groupBy(
    files.flatMap(({ content }) => content.items),
    ({ externalCode }) => externalCode,
  );
  const unread = Map.groupBy(
    files.flatMap(({ content }) => content.readErrors),
    ({ externalCode }) => externalCode,
  );

  /** Matches a rejected entry to an item that could not be read. The outbox may not know the day of such an item. */
  function isUnread(entry: EntryStatus): boolean {
    const [code, day] = [codeInClear(entry), dayOf(push, entry)];
    if (code === undefined || entry.state !== 'rejected') return false;
    return unread.get(code)?.some(({ startDay }) => day === '' || startDay === day) ?? false;
  }

  return async (entries: readonly EntryStatus[]): Promise<EntryStatus[]> => {
    const held = entries.flatMap((entry) => items.get(codeInClear(entry) ?? '') ?? []);
    const found = await entriesOf(push, held);
    const inResults = new Set(found.map((entry) => entry && nameOf(entry)));
    return entries.filter((entry) => !inResults.has(nameOf(entry)) && !isUnread(entry));
  };
}

const AT_ONCE = 4;

/** Finishes the files whose items are all final. A file that cannot be finished does not hold up the others. */
export async function finishFiles(push: PushRun, waiting: readonly WaitingFile[]): Promise<void> {
  const { feed, engine, context } = push;
  const { files } = feed.source;
  if (files === undefined) return;
  const failures: unknown[] = [];
  const finish = async ({ file, content }: WaitingFile): Promise<void> => {
    if (context.signal.aborted) return;
    const outcomes = await finalOutcomes(push, content.items);
    if (outcomes === 'open') return;
    // The file is read again, so that the missing item is taken.
    if (outcomes === 'absent') return engine.write((tx) => abandonFile(tx, push, file));
    await files.finish(file, content, outcomes);
    await engine.write((tx) => closeFile(tx, push, file));
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

/** The page that was not final at the last check of a file's items; it is checked first. */
const openPages = new WeakMap<readonly FileItem[], number>();

/** `absent` if the outbox does not know an item. */
async function finalOutcomes(
  push: PushRun,
  items: readonly FileItem[],
): Promise<Outcome[] | 'open' | 'absent'> {
  const pages = [...chunks(items, PAGE)];
  const outcomes: Outcome[][] = [];
  for (const at of [openPages.get(items) ?? 0, ...pages.keys()]) {
    const page = pages[at];
    if (page === undefined || outcomes[at] !== undefined) continue;
    const entries = await entriesOf(push, page);
    const known = entries.flatMap((entry) => entry ?? []);
    if (known.length < page.length) return 'absent';
    if (!known.every(({ state, told_at }) => FINAL.includes(state) && told_at !== null)) {
      openPages.set(items, at);
      return 'open';
    }
    outcomes[at] = known.map((entry, i) => outcomeOf(entry, page[i]?.externalCode ?? ''));
  }
  return outcomes.flat();
}

/** The entry of each item, in the same order. */
async function entriesOf(push: PushRun, items: readonly FileItem[]): Promise<(EntryStatus | undefined)[]> {
  const { kind, engine, digest } = push;
  const codes = items.map(({ externalCode }) => codesOf(kind.feed, externalCode, digest).external_code);
  if (codes.length === 0) return [];
  const known = await engine.read((sql) => statusByCode(sql, kind.feed, [...new Set(codes)]));
  return items.map((item, i) => entryOf(push, item, known.get(codes[i] ?? '') ?? []));
}

/** The use of the code that starts on the item's day. If the plan was moved, or has no day, the latest use. */
function entryOf(
  push: PushRun,
  { startDay }: FileItem,
  uses: readonly EntryStatus[],
): EntryStatus | undefined {
  const sameDay = uses.find((use) => startDay !== '' && dayOf(push, use) === startDay);
  if (sameDay !== undefined) return sameDay;
  // If codes are reused, another day means another plan.
  if (push.settings.reuse_codes && startDay !== '') return uses.findLast((use) => dayOf(push, use) === '');
  return uses.findLast(({ attention }) => attention !== 'code_reused') ?? uses.at(-1);
}

const dayOf = ({ context }: PushRun, { period_start }: EntryStatus): string =>
  localDay(period_start, context.dependencies.timezone);
