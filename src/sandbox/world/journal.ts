// Every write the sandbox accepted, in order: the only history it stores. With a state file each entry is on
// disk before its answer leaves, and a restarted sandbox reads them back.
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { writtenId } from '../made-up/identifiers.ts';
import type { ClockOrigin } from '../sandbox-clock.ts';

export type WrittenKind = 'route_plan' | 'point_of_interest' | 'agent' | 'itinerary';

export interface JournalEntry<T = unknown> {
  at: number;
  kind: WrittenKind;
  id: number;
  /** False where it changes something that was there. */
  created: boolean;
  /** The name the ledger counts it by. */
  name: string;
  record: T;
}

export interface Journal {
  /** The newest entry of each id, in the order in which the ids first came. */
  latest<T>(kind: WrittenKind): ReadonlyMap<number, JournalEntry<T>>;
  nextId(kind: WrittenKind): number;
  /** When a client created it; undefined where none did. */
  createdAt(kind: WrittenKind, id: number): number | undefined;
  write(entry: JournalEntry): void;
}

const KINDS: readonly WrittenKind[] = ['route_plan', 'point_of_interest', 'agent', 'itinerary'];

export function createJournal(
  stateFile: string | undefined,
  onEntry: (entry: JournalEntry) => void,
): Journal {
  const latest = new Map(KINDS.map((kind) => [kind, new Map<number, JournalEntry>()]));
  const created = new Map(KINDS.map((kind) => [kind, new Map<number, number>()]));

  const take = (entry: JournalEntry): void => {
    latest.get(entry.kind)?.set(entry.id, entry);
    if (entry.created) created.get(entry.kind)?.set(entry.id, entry.at);
    onEntry(entry);
  };
  for (const line of stateFile === undefined ? [] : stateLines(stateFile)) {
    if (line.kind !== 'clock') take(line as JournalEntry);
  }

  return {
    latest: <T>(kind: WrittenKind) => latest.get(kind) as ReadonlyMap<number, JournalEntry<T>>,
    nextId: (kind) => writtenId(created.get(kind)?.size ?? 0),
    createdAt: (kind, id) => created.get(kind)?.get(id),
    write(entry) {
      if (stateFile !== undefined) appendLine(stateFile, entry);
      take(entry);
    },
  };
}

/** The clock's origin from the state file; `fresh` is stored there when it holds none. */
export function keptOrigin(stateFile: string | undefined, fresh: ClockOrigin): ClockOrigin {
  if (stateFile === undefined) return fresh;
  const kept = stateLines(stateFile).find((line) => line.kind === 'clock');
  if (kept !== undefined) return kept as unknown as ClockOrigin;
  appendLine(stateFile, { kind: 'clock', ...fresh });
  return fresh;
}

function appendLine(stateFile: string, line: object): void {
  mkdirSync(dirname(stateFile), { recursive: true });
  appendFileSync(stateFile, `${JSON.stringify(line)}\n`);
}

/** Whole lines only: a line that a crash cut short was never answered, and is taken off. */
function stateLines(stateFile: string): { kind: string }[] {
  if (!existsSync(stateFile)) return [];
  const bytes = readFileSync(stateFile);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) truncateSync(stateFile, end);
  const lines = bytes.subarray(0, end).toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as { kind: string });
}
