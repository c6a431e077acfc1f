// What is known of one dropped file while it is in work, as lines that are only ever appended: what was read of
// it, what became of each thing, where it moves. A line that a crash cut off counts as never written. Two processes
// may write one journal: the first place a file moves to holds, and a final state is never replaced by an older one.
import type { ErpBatch, ErpFault, Outcome } from './source.ts';
import { isFinal } from './source.ts';

/** Tells one content of a file from the next under the same name. */
export interface FileIdentity {
  size: number;
  mtimeMs: number;
}

export interface Move {
  folder: 'done' | 'failed';
  /** Its name there. */
  name: string;
}

export interface JournalState {
  identity: FileIdentity;
  /** ISO instant. */
  readAt: string;
  /** By code, in the order of the file; null until something is known. */
  things: Map<string, Outcome | null>;
  /** How many of them have no final state. */
  open: number;
  faults: ErpFault[];
  /** The file was taken to its end. */
  isWhole: boolean;
  move: Move | undefined;
}

export type JournalLine =
  | { opened: FileIdentity; at: string }
  | { thing: string }
  | { fault: ErpFault }
  | { whole: true }
  | { outcome: Outcome }
  | { move: Move };

export const sameIdentity = (a: FileIdentity, b: FileIdentity): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs;

export function openingLine(identity: FileIdentity, at: string): JournalLine {
  return { opened: { size: identity.size, mtimeMs: identity.mtimeMs }, at };
}

export function batchLines({ things, faults, last }: ErpBatch): JournalLine[] {
  return [
    ...things.map(({ externalCode }): JournalLine => ({ thing: externalCode })),
    ...faults.map((fault): JournalLine => ({ fault })),
    ...(last ? [{ whole: true } as const] : []),
  ];
}

export function applyLine(state: JournalState, line: JournalLine): void {
  if ('thing' in line) setOutcome(state, line.thing, null);
  else if ('whole' in line) state.isWhole = true;
  else if ('move' in line) state.move ??= line.move;
  else if ('outcome' in line && !isOutdated(state, line.outcome))
    setOutcome(state, line.outcome.externalCode, line.outcome);
  else if ('fault' in line) applyFault(state, line.fault);
}

/** Another process has told a later state, and a final one. */
export function isOutdated({ things }: JournalState, { externalCode, revision = 0 }: Outcome): boolean {
  const known = things.get(externalCode);
  return known !== undefined && known !== null && isFinal(known.state) && revision < (known.revision ?? 0);
}

function setOutcome(state: JournalState, code: string, outcome: Outcome | null): void {
  if (isOpen(state, code)) state.open -= 1;
  state.things.set(code, outcome);
  if (isOpen(state, code)) state.open += 1;
}

/** A fault with a code withdraws the thing: nothing else will be told of it. */
function applyFault(state: JournalState, fault: ErpFault): void {
  state.faults.push(fault);
  if (fault.externalCode === undefined) return;
  if (isOpen(state, fault.externalCode)) state.open -= 1;
  state.things.delete(fault.externalCode);
}

/** A thing of the file whose final state is not known. */
export function isOpen({ things }: JournalState, code: string): boolean {
  const outcome = things.get(code);
  return outcome === null || (outcome !== undefined && !isFinal(outcome.state));
}

export const newState = (identity: FileIdentity, readAt: string): JournalState => ({
  identity,
  readAt,
  things: new Map(),
  open: 0,
  faults: [],
  isWhole: false,
  move: undefined,
});

/** Undefined where it has no beginning. */
export function parseJournal(text: string): JournalState | undefined {
  const [opened, ...rest] = text.split('\n').flatMap(wholeLine);
  if (opened === undefined || !('opened' in opened)) return undefined;
  const state = newState(opened.opened, opened.at);
  for (const line of rest) applyLine(state, line);
  return state;
}

/** None for a line that was cut off. */
function wholeLine(text: string): JournalLine[] {
  if (text === '') return [];
  try {
    return [JSON.parse(text) as JournalLine];
  } catch {
    return [];
  }
}

/** Every thing of the file has its final state. */
export const isSettled = ({ isWhole, open }: JournalState): boolean => isWhole && open === 0;

export const isFailed = ({ things, faults }: JournalState): boolean =>
  faults.length > 0 || [...things.values()].some((outcome) => outcome?.state !== 'confirmed');
