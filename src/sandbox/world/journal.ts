// Every write that the sandbox accepted, in order: the only state that it stores. With a state file, each entry is on
// disk before its answer is sent, and a restarted sandbox reads the entries back.
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LedgerRecorder } from '../ledger.ts';
import { writtenId } from '../made-up/identifiers.ts';

/** The kinds of writes, each with its list in the ledger. */
const LEDGER_LISTS = {
  route_plan: 'plans',
  point_of_interest: 'points_of_interest',
  agent: 'agents',
  itinerary: 'itineraries',
} as const;

export type WrittenKind = keyof typeof LEDGER_LISTS;

export interface JournalEntry<T = unknown> {
  at: number;
  kind: WrittenKind;
  id: number;
  /** False if the entry changes an existing record. */
  created: boolean;
  /** The name under which the ledger counts the entry. */
  name: string;
  record: T;
}

/** The start of accelerated time. */
interface ClockOrigin {
  realAt: number;
  simulatedAt: number;
}

export type Journal = ReturnType<typeof createJournal>;

export function createJournal(stateFile: string | undefined, ledger: LedgerRecorder) {
  const kinds = Object.keys(LEDGER_LISTS) as WrittenKind[];
  const latest = new Map(kinds.map((kind) => [kind, new Map<number, JournalEntry>()]));
  const created = new Map(kinds.map((kind) => [kind, new Map<number, number>()]));

  const apply = (entry: JournalEntry): void => {
    latest.get(entry.kind)?.set(entry.id, entry);
    if (!entry.created) return;
    created.get(entry.kind)?.set(entry.id, entry.at);
    ledger.count(LEDGER_LISTS[entry.kind], entry.name);
  };
  for (const line of stateFile === undefined ? [] : stateLines(stateFile)) {
    if (line.kind !== 'clock') apply(line as JournalEntry);
  }

  return {
    /** The newest entry of each id, in the order of the first writes. */
    latest: <T>(kind: WrittenKind) => latest.get(kind) as ReadonlyMap<number, JournalEntry<T>>,
    nextId: (kind: WrittenKind): number => writtenId(created.get(kind)?.size ?? 0),
    /** When a client created the record; undefined if no client did. */
    createdAt: (kind: WrittenKind, id: number): number | undefined => created.get(kind)?.get(id),
    write(entry: JournalEntry): void {
      if (stateFile !== undefined) appendLine(stateFile, entry);
      apply(entry);
    },
  };
}

/** The clock's origin from the state file. If the file has none, `fresh` is stored and returned. */
export function storedOrigin(stateFile: string | undefined, fresh: ClockOrigin): ClockOrigin {
  if (stateFile === undefined) return fresh;
  const stored = stateLines(stateFile).find((line) => line.kind === 'clock');
  if (stored !== undefined) return stored as unknown as ClockOrigin;
  appendLine(stateFile, { kind: 'clock', ...fresh });
  return fresh;
}

function appendLine(stateFile: string, line: object): void {
  mkdirSync(dirname(stateFile), { recursive: true });
  appendFileSync(stateFile, `${JSON.stringify(line)}\n`);
}

/** Complete lines only. A line that a crash cut short was never answered, so it is removed from the file. */
function stateLines(stateFile: string): { kind: string }[] {
  if (!existsSync(stateFile)) return [];
  const bytes = readFileSync(stateFile);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) truncateSync(stateFile, end);
  const lines = bytes.subarray(0, end).toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as { kind: string });
}
