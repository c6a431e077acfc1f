// The outcomes of a dropped file's items are in the file's result, which is written when all of them are final. Nothing else
// notifies the ERP of them, as long as the file waits.
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

/** Every file that was taken and waits for its result. The other files are forgotten. */
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

/** Chooses the entries that no result of these files will have. */
export function entriesOutsideFiles(push: PushRun, files: readonly WaitingFile[]) {
  const items = Map.groupBy(
    files.flatMap(({ content }) => content.items),
    ({ externalCode }) => externalCode,
  );
  const unread = Map.groupBy(
    files.flatMap(({ content }) => content.readErrors),
    ({ externalCode }) => externalCode,
  );

  /** The outbox may not know the day of an item that could not be read. */
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

/** Finishes the files whose items are all final. One that cannot be finished does not hold up the others. */
export async function finishFiles(push: PushRun, waiting: readonly WaitingFile[]): Promise<void> {
  const { feed, engine, context } = push;
  const { files } = feed.source;
  if (files === undefined) return;
  const failures: unknown[] = [];
  const finish = async ({ file, content }: WaitingFile): Promise<void> => {
    if (context.signal.aborted) return;
    const outcomes = await finalOutcomes(push, content.items);
    if (outcomes === 'open') return;
    // The file is read again, and the item taken.
    if (outcomes === 'absent') return engine.write((tx) => abandonFile(tx, push, file));
    await files.finish(file, content, outcomes);
    await engine.write((tx) => closeFile(tx, push, file));
  };
  // Most of the time is spent waiting for the disk. All have ended before the run does.
  await new PQueue({ concurrency: AT_ONCE }).addAll(
    waiting.map((file) => () => finish(file).catch((failure) => failures.push(failure))),
  );
  if (context.signal.aborted) return;
  await files.removeExpired();
  if (failures.length > 0) throw failures[0];
}

const PAGE = 500;

/** The page that was not final when a file's items were last looked at: it is asked for first. */
const openPages = new WeakMap<readonly FileItem[], number>();

/** `absent` where the outbox does not know an item. */
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

/** The use of the code that starts on the item's day; for a plan that was moved, or has no day, the latest one. */
function entryOf(
  push: PushRun,
  { startDay }: FileItem,
  uses: readonly EntryStatus[],
): EntryStatus | undefined {
  const sameDay = uses.find((use) => startDay !== '' && dayOf(push, use) === startDay);
  if (sameDay !== undefined) return sameDay;
  // Another day of a reused code is another plan.
  if (push.settings.reuse_codes && startDay !== '') return uses.findLast((use) => dayOf(push, use) === '');
  return uses.findLast(({ attention }) => attention !== 'code_reused') ?? uses.at(-1);
}

const dayOf = ({ context }: PushRun, { period_start }: EntryStatus): string =>
  localDay(period_start, context.dependencies.timezone);
