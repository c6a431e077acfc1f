// The files in work as this process knows them, kept in step with their journals on disk. Another process may work on
// the same folder: what it wrote is read before anything is made of what is known.
import { join } from 'node:path';
import { type Clock, isoInstant } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { type CodeIndex, createCodeIndex } from './code-index.ts';
import type { FileMark } from './durable-file.ts';
import {
  applyLine,
  type FileIdentity,
  type JournalLine,
  type JournalState,
  newState,
  openingLine,
} from './file-journal.ts';
import { createJournalFolder, type JournalFolder } from './journal-folder.ts';

export interface DeskOptions {
  folder: string;
  /** IANA zone of local days. */
  zone: string;
  clock: Clock;
  log: Log;
}

export interface Pending extends JournalState {
  /** Parts taken by this process. */
  parts: number;
  /** The journal that says so. */
  mark: FileMark | undefined;
}

export interface Desk extends DeskOptions {
  journals: JournalFolder;
  files: Map<string, Pending>;
  /** Names of the files that hold an item of the code, of whatever day. A plan may stand in several files. */
  holders: CodeIndex;
  /** Start days of items that this process could not read in a file, empty for an unknown one: its result says so already. */
  unread: CodeIndex;
}

export const openDesk = (options: DeskOptions): Desk => ({
  ...options,
  journals: createJournalFolder(join(options.folder, 'pending')),
  files: new Map(),
  holders: createCodeIndex(),
  unread: createCodeIndex(),
});

export function hold(
  { files, holders }: Desk,
  name: string,
  state: Pending,
  codes = state.items.keys(),
): void {
  files.set(name, state);
  for (const code of codes) holders.add(code, name);
}

export function release({ files, holders }: Desk, name: string, state: Pending): void {
  files.delete(name);
  for (const code of state.items.keys()) holders.remove(code, name);
}

export async function refreshAll(desk: Desk): Promise<void> {
  for (const name of new Set([...(await desk.journals.names()), ...desk.files.keys()]))
    await refresh(desk, name);
}

/** What is known of the file now; undefined where another process has finished it. */
export async function refresh(desk: Desk, name: string): Promise<Pending | undefined> {
  const { files, journals } = desk;
  const known = files.get(name);
  if (known !== undefined && isSameMark(known.mark, await journals.markOf(name))) return known;
  const read = await journals.read(name);
  if (known !== undefined) release(desk, name, known);
  if (read === undefined) return undefined;
  const state: Pending = { ...read.state, parts: known?.parts ?? 0, mark: read.mark };
  hold(desk, name, state);
  return state;
}

/** What is known with the lines, and with those that another process has written before them. */
export async function append(
  desk: Desk,
  name: string,
  state: Pending,
  lines: readonly JournalLine[],
): Promise<Pending | undefined> {
  if (lines.length === 0) return state;
  const appended = await desk.journals.append(name, lines);
  const { mark, bytes = 0 } = appended ?? {};
  const isOurs = isSameMark(mark, state.mark && { ...state.mark, size: state.mark.size + bytes });
  if (!isOurs) return refresh(desk, name);
  for (const line of lines) applyLine(state, line);
  state.mark = mark;
  return state;
}

const isSameMark = (a: FileMark | undefined, b: FileMark | undefined): boolean =>
  a !== undefined && b !== undefined && a.ino === b.ino && a.size === b.size;

/** Takes the place of a journal that is there. */
export async function start(desk: Desk, name: string, state: Pending, lines: readonly JournalLine[]) {
  state.mark = await desk.journals.start(name, [openingLine(state.identity, state.readAt), ...lines]);
  for (const line of lines) applyLine(state, line);
  return state;
}

export const opened = (identity: FileIdentity, clock: Clock): Pending => ({
  ...newState(identity, isoInstant(clock.now())),
  parts: 0,
  mark: undefined,
});
