// The dropped files in work: which things each still waits for, kept in memory and in one journal a file. One
// call runs at a time, so that a journal has one writer.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { type Clock, isoInstant } from '../core/clock.ts';
import { Fatal } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type CodeIndex, createCodeIndex } from './code-index.ts';
import { exists } from './durable-file.ts';
import {
  applyLine,
  batchLines,
  type FileIdentity,
  isOpen,
  isSettled,
  type JournalState,
  newState,
  openingLine,
  sameIdentity,
} from './file-journal.ts';
import { finishFile } from './finished-file.ts';
import { createJournalFolder, type JournalFolder } from './journal-folder.ts';
import type { ErpBatch, Outcome } from './source.ts';

export interface PendingFiles {
  /** Reads the journals once and finishes what a crash left unfinished. */
  recover(): Promise<void>;
  /** The file was taken whole and has not changed since. */
  isTaken(name: string, identity: FileIdentity): boolean;
  take(batch: ErpBatch, identity: FileIdentity): Promise<void>;
  acknowledge(outcomes: readonly Outcome[]): Promise<void>;
  awaited(): string[];
}

export interface PendingOptions {
  folder: string;
  clock: Clock;
  log: Log;
}

interface Pending extends JournalState {
  /** Parts taken by this process. */
  parts: number;
}

/** What the functions below share. */
interface Desk extends PendingOptions {
  journals: JournalFolder;
  files: Map<string, Pending>;
  holders: CodeIndex;
}

export function createPendingFiles(options: PendingOptions): PendingFiles {
  const journals = createJournalFolder(join(options.folder, 'pending'));
  const desk: Desk = { ...options, journals, files: new Map(), holders: createCodeIndex() };
  const turns = new PQueue({ concurrency: 1 });
  let isLoaded = false;

  const inTurn = (work: () => Promise<void>): Promise<void> =>
    turns.add(async () => {
      if (!isLoaded)
        for (const [name, state] of await journals.load()) hold(desk, name, { ...state, parts: 0 });
      isLoaded = true;
      await work();
    });

  return {
    recover: () =>
      inTurn(async () => {
        await finishSettled(desk);
        await forgetVanished(desk);
      }),
    isTaken(name, identity) {
      const state = desk.files.get(name);
      return state?.isWhole === true && sameIdentity(state.identity, identity);
    },
    take: (batch, identity) => inTurn(() => take(desk, batch, identity)),
    acknowledge: (outcomes) => inTurn(() => acknowledge(desk, outcomes)),
    awaited: () => [...new Set([...desk.files.values()].flatMap(openCodes))],
  };
}

function hold({ files, holders }: Desk, name: string, state: Pending, codes = state.things.keys()): void {
  files.set(name, state);
  for (const code of codes) holders.add(code, name);
}

function release({ files, holders }: Desk, name: string, state: Pending): void {
  files.delete(name);
  for (const code of state.things.keys()) holders.remove(code, name);
}

async function finish(desk: Desk, name: string, state: Pending): Promise<void> {
  const { folder, journals, clock, log } = desk;
  const finishedAt = isoInstant(clock.now());
  const move = await finishFile({ folder, name, journal: journals.pathOf(name), state, finishedAt });
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
    await rm(desk.journals.pathOf(name), { force: true });
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
  if (part === 1) await desk.journals.start(name, [openingLine(identity, state.readAt), ...lines]);
  else await desk.journals.append(name, lines);
  if (known !== undefined && !isNext) release(desk, name, known);
  for (const line of lines) applyLine(state, line);
  state.parts = part;
  hold(desk, name, state, batch.things.map(({ externalCode }) => externalCode).values());
  if (isSettled(state)) await finish(desk, name, state);
}

async function acknowledge(desk: Desk, outcomes: readonly Outcome[]): Promise<void> {
  const told = outcomes.flatMap((outcome) =>
    desk.holders.namesOf(outcome.externalCode).map((name) => ({ name, outcome })),
  );
  for (const [name, own] of Map.groupBy(told, (entry) => entry.name)) {
    const state = desk.files.get(name);
    if (state === undefined) continue;
    const news = own.filter(({ outcome }) => isNews(state, outcome)).map(({ outcome }) => ({ outcome }));
    await desk.journals.append(name, news);
    for (const line of news) applyLine(state, line);
    if (isSettled(state)) await finish(desk, name, state);
  }
}

const opened = (identity: FileIdentity, clock: Clock): Pending => ({
  ...newState(identity, isoInstant(clock.now())),
  parts: 0,
});

const openCodes = (state: JournalState): string[] =>
  [...state.things.keys()].filter((code) => isOpen(state, code));

const isNews = ({ things }: JournalState, outcome: Outcome): boolean =>
  things.has(outcome.externalCode) &&
  JSON.stringify(things.get(outcome.externalCode)) !== JSON.stringify(outcome);

const outOfOrder = (name: string): Fatal =>
  new Fatal(`A part of the file ${name} was taken before the parts that precede it`, {
    code: 'erp_parts_out_of_order',
    hint: 'This is a fault in the program: report it with the log line.',
  });
