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

export interface JournalItem {
  externalCode: string;
  /** Undefined in the journal of an earlier version, which did not write it. */
  startDay: string | undefined;
  /** Null until something is known. */
  outcome: Outcome | null;
}

export interface JournalState {
  identity: FileIdentity;
  /** ISO instant. */
  readAt: string;
  /** By code, in the order of the file; usually one, several where a code is used again on other days. */
  items: Map<string, JournalItem[]>;
  /** How many of them have no final state. */
  open: number;
  faults: ErpFault[];
  /** The file was taken to its end. */
  isWhole: boolean;
  move: Move | undefined;
}

export type JournalLine =
  | { opened: FileIdentity; at: string }
  | { thing: string; startDay?: string }
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
    ...things.map(({ externalCode, startDay }): JournalLine => ({ thing: externalCode, startDay })),
    ...faults.map((fault): JournalLine => ({ fault })),
    ...(last ? [{ whole: true } as const] : []),
  ];
}

export function applyLine(state: JournalState, line: JournalLine): void {
  if ('thing' in line) addItem(state, line.thing, line.startDay);
  else if ('whole' in line) state.isWhole = true;
  else if ('move' in line) state.move ??= line.move;
  else if ('outcome' in line) applyOutcome(state, line.outcome);
  else if ('fault' in line) applyFault(state, line.fault);
}

function addItem(state: JournalState, externalCode: string, startDay: string | undefined): void {
  const known = state.items.get(externalCode) ?? [];
  const item = known.find((each) => each.startDay === startDay);
  if (item === undefined) {
    state.items.set(externalCode, [...known, { externalCode, startDay, outcome: null }]);
    state.open += 1;
  } else {
    setOutcome(state, item, null);
  }
}

/** The item that starts on this day; an item of unknown day stands in for any. */
export function itemOf({ items }: JournalState, code: string, startDay?: string): JournalItem | undefined {
  const known = items.get(code) ?? [];
  return (
    known.find((item) => item.startDay === startDay) ?? known.find((item) => item.startDay === undefined)
  );
}

export const itemsOf = ({ items }: JournalState): JournalItem[] => [...items.values()].flat();

function applyOutcome(state: JournalState, outcome: Outcome): void {
  const item = itemOf(state, outcome.externalCode, outcome.startDay);
  if (item !== undefined && !isOutdated(item, outcome)) setOutcome(state, item, outcome);
}

/** Another process has told a later state, and a final one. */
export const isOutdated = ({ outcome: known }: JournalItem, { revision = 0 }: Outcome): boolean =>
  known !== null && isFinal(known.state) && revision < (known.revision ?? 0);

function setOutcome(state: JournalState, item: JournalItem, outcome: Outcome | null): void {
  if (isOpen(item)) state.open -= 1;
  item.outcome = outcome;
  if (isOpen(item)) state.open += 1;
}

/** A fault with a code invalidates the item of its day, or every item of the code: nothing else will be told of it. */
function applyFault(state: JournalState, fault: ErpFault): void {
  const { externalCode, startDay } = fault;
  state.faults.push(fault);
  const known = externalCode === undefined ? undefined : state.items.get(externalCode);
  if (externalCode === undefined || known === undefined) return;
  const left = known.filter((item) => startDay !== undefined && item.startDay !== startDay);
  state.open -= known.filter((item) => isOpen(item) && !left.includes(item)).length;
  state.items.set(externalCode, left);
}

/** Its final state is not known. */
export const isOpen = ({ outcome }: JournalItem): boolean => outcome === null || !isFinal(outcome.state);

export const newState = (identity: FileIdentity, readAt: string): JournalState => ({
  identity,
  readAt,
  items: new Map(),
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

export const isFailed = (state: JournalState): boolean =>
  state.faults.length > 0 || itemsOf(state).some(({ outcome }) => outcome?.state !== 'confirmed');
