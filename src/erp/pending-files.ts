// The dropped files in work: which items each still waits for, kept in memory and in one journal a file. One call runs
// at a time, and a result is made of all that is known, by whichever process. An outcome goes to the item of its code and
// start day, never to another day of that code.
import { join } from 'node:path';
import PQueue from 'p-queue';
import { isoInstant } from '../core/clock.ts';
import { Fatal } from '../core/errors.ts';
import { exists } from './durable-file.ts';
import {
  append,
  type Desk,
  type DeskOptions,
  hold,
  openDesk,
  opened,
  type Pending,
  refresh,
  refreshAll,
  release,
  start,
} from './file-desk.ts';
import {
  batchLines,
  type FileIdentity,
  isOpen,
  isOutdated,
  isSettled,
  itemOf,
  itemsOf,
  type JournalState,
  sameIdentity,
} from './file-journal.ts';
import { finishFile, freePlace } from './finished-file.ts';
import { appendLateResults, LATE_RESULTS } from './late-results.ts';
import { localDay } from './moments.ts';
import type { AwaitedItem, ErpBatch, Outcome } from './source.ts';

export interface PendingFiles {
  /** Reads what is new in the journals and finishes what a crash left unfinished. */
  recover(): Promise<void>;
  /** The file was taken whole and has not changed since. */
  isTaken(name: string, identity: FileIdentity): boolean;
  take(batch: ErpBatch, identity: FileIdentity): Promise<void>;
  acknowledge(outcomes: readonly Outcome[]): Promise<void>;
  awaited(): AwaitedItem[];
}

export function createPendingFiles(options: DeskOptions): PendingFiles {
  const desk = openDesk(options);
  const turns = new PQueue({ concurrency: 1 });
  let isLoaded = false;

  const inTurn = (work: () => Promise<void>): Promise<void> =>
    turns.add(async () => {
      if (!isLoaded) await refreshAll(desk);
      isLoaded = true;
      await work();
    });

  return {
    recover: () =>
      inTurn(async () => {
        await refreshAll(desk);
        await finishSettled(desk);
        await forgetVanished(desk);
      }),
    isTaken(name, identity) {
      const state = desk.files.get(name);
      return state?.isWhole === true && sameIdentity(state.identity, identity);
    },
    take: (batch, identity) => inTurn(() => take(desk, batch, identity)),
    acknowledge: (outcomes) => inTurn(() => acknowledge(desk, outcomes)),
    awaited: () => awaitedIn(desk),
  };
}

/** The first place that the journal names holds, whoever wrote it. */
async function finish(desk: Desk, name: string, settled: Pending): Promise<void> {
  const { folder, journals, clock, log } = desk;
  const state =
    settled.move === undefined
      ? await append(desk, name, settled, [{ move: await freePlace(folder, name, settled) }])
      : settled;
  if (state?.move === undefined || !isSettled(state)) return;
  const { move } = state;
  await finishFile({ folder, name, move, state, finishedAt: isoInstant(clock.now()) });
  await journals.end(name);
  release(desk, name, state);
  log.debug({ file: name, moved_to: `${move.folder}/${move.name}` }, 'erp file finished');
}

async function finishSettled(desk: Desk): Promise<void> {
  const settled = [...desk.files].filter(([, state]) => isSettled(state));
  // Places that are spoken for come first, so that no other file takes them.
  settled.sort(([, a], [, b]) => Number(b.move !== undefined) - Number(a.move !== undefined));
  for (const [name, state] of settled) await finish(desk, name, state);
}

/** Taken in part and then withdrawn by the ERP: there is nothing to read on or to move. */
async function forgetVanished(desk: Desk): Promise<void> {
  for (const [name, state] of desk.files) {
    if (state.isWhole || (await exists(join(desk.folder, name)))) continue;
    await desk.journals.end(name);
    release(desk, name, state);
  }
}

/** A first part starts the journal anew: the file was never taken whole, or it is another content. */
async function take(desk: Desk, batch: ErpBatch, identity: FileIdentity): Promise<void> {
  const { name, part } = batch;
  const known = desk.files.get(name);
  const isNext = known !== undefined && part > 1 && sameIdentity(known.identity, identity);
  const state = isNext ? known : opened(identity, desk.clock);
  if (part !== state.parts + 1) throw outOfOrder(name);
  const lines = batchLines(batch);
  const taken = part === 1 ? await start(desk, name, state, lines) : await append(desk, name, state, lines);
  if (taken === undefined) return;
  if (known !== undefined && !isNext) release(desk, name, known);
  taken.parts = part;
  for (const { externalCode, startDay = '' } of batch.faults)
    if (externalCode !== undefined) desk.unread.add(externalCode, startDay);
  hold(desk, name, taken, batch.things.map(({ externalCode }) => externalCode).values());
  if (isSettled(taken)) await finish(desk, name, taken);
}

/** An outcome whose day is known. */
type DatedOutcome = Outcome & { startDay: string };

async function acknowledge(desk: Desk, given: readonly Outcome[]): Promise<void> {
  const outcomes = given.map(
    (outcome): DatedOutcome => ({
      ...outcome,
      startDay: outcome.startDay ?? localDay(outcome.periodStart, desk.zone),
    }),
  );
  const told = outcomes.flatMap((outcome) => holdersOf(desk, outcome).map((name) => ({ name, outcome })));
  const late = new Set(outcomes.filter((outcome) => isLate(desk, outcome)));
  for (const [name, own] of Map.groupBy(told, (entry) => entry.name)) {
    const known = await refresh(desk, name);
    if (known === undefined) {
      // Another process has finished the file, perhaps without this.
      for (const { outcome } of own) late.add(outcome);
      continue;
    }
    const news = own.filter(({ outcome }) => isNews(known, outcome)).map(({ outcome }) => ({ outcome }));
    const state = await append(desk, name, known, news);
    if (state !== undefined && isSettled(state)) await finish(desk, name, state);
  }
  await appendLateResults(join(desk.folder, LATE_RESULTS), [...late], isoInstant(desk.clock.now()));
}

/** The files that hold the item of this day; where there is none, those that hold one of unknown day. */
function holdersOf({ holders, files }: Desk, { externalCode, startDay }: DatedOutcome): string[] {
  const found = holders.entriesOf(externalCode).flatMap((name) => {
    const state = files.get(name);
    const item = state && itemOf(state, externalCode, startDay);
    return item === undefined ? [] : [{ name, isOfDay: item.startDay === startDay }];
  });
  const exact = found.filter(({ isOfDay }) => isOfDay);
  return (exact.length > 0 ? exact : found).map(({ name }) => name);
}

/** No file in work holds it, and it is not what the result of its file says already. */
function isLate(desk: Desk, outcome: DatedOutcome): boolean {
  const { externalCode, startDay, state } = outcome;
  if (holdersOf(desk, outcome).length > 0) return false;
  const unread = desk.unread.entriesOf(externalCode);
  // The outbox may not know the day of an item that could not be read.
  const day = startDay === '' ? unread[0] : unread.find((each) => each === startDay);
  if (day === undefined) return true;
  desk.unread.remove(externalCode, day);
  return state !== 'rejected';
}

function awaitedIn({ files }: Desk): AwaitedItem[] {
  const open = [...files.values()].flatMap(itemsOf).filter(isOpen);
  const items = open.map(({ externalCode, startDay = '' }): AwaitedItem => ({ externalCode, startDay }));
  return [
    ...new Map(items.map((item) => [JSON.stringify([item.externalCode, item.startDay]), item])).values(),
  ];
}

function isNews(state: JournalState, outcome: DatedOutcome): boolean {
  const item = itemOf(state, outcome.externalCode, outcome.startDay);
  if (item === undefined || isOutdated(item, outcome)) return false;
  return JSON.stringify(item.outcome) !== JSON.stringify(outcome);
}

const outOfOrder = (name: string): Fatal =>
  new Fatal(`A part of the file ${name} was taken before the parts that precede it`, {
    code: 'erp_parts_out_of_order',
    hint: 'This is a fault in the program: report it with the log line.',
  });
