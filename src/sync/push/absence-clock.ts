// How long something has not been found, by clocks that nobody can set here: this process's own since it began to
// look, or the service's where another process began. The wall clock alone would take a jump for a wait.
import type { Engine } from '../../warehouse/engine.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';

export interface Moment {
  /** ISO instant by the wall clock. */
  at: string;
  /** By the process's own clock. */
  elapsedMs: number;
  /** ISO instant by the service's clock; null where its answers tell no time. */
  thereAt: string | null;
}

type Absent = Pick<OutboxEntry, 'kind' | 'external_code' | 'absent_since' | 'absent_since_there'>;

interface Note {
  since: string;
  elapsedMs: number;
  /** This process was the first not to find it. */
  isFirst: boolean;
}

/** The service tells whole seconds. */
const SECOND_MS = 1_000;

const notes = new WeakMap<Engine, Map<string, Note>>();

const nameOf = ({ kind, external_code }: Absent): string => `${kind} ${external_code}`;

/** Two searches are made by two runs, each with an engine of its own: the notes belong to what is behind both. */
const notesOf = (engine: Engine): Map<string, Note> => {
  const base = engine.base ?? engine;
  const own = notes.get(base) ?? new Map<string, Note>();
  notes.set(base, own);
  return own;
};

/** Remembers since when it is absent; `since` is what the warehouse holds. */
export function noteAbsent(engine: Engine, entry: Absent, since: string, { elapsedMs, at }: Moment): void {
  const own = notesOf(engine);
  if (own.get(nameOf(entry))?.since === since) return;
  own.set(nameOf(entry), { since, elapsedMs, isFirst: since === at });
}

export function forgetAbsent(engine: Engine, entry: Absent): void {
  notesOf(engine).delete(nameOf(entry));
}

/** Undefined where no clock can tell that is safe from being set. */
export function absentForMs(engine: Engine, entry: Absent, moment: Moment): number | undefined {
  if (entry.absent_since === null) return undefined;
  const note = notesOf(engine).get(nameOf(entry));
  const isOwn = note?.since === entry.absent_since;
  const hereMs = isOwn ? moment.elapsedMs - note.elapsedMs : undefined;
  if (isOwn && note.isFirst) return hereMs;
  if (entry.absent_since_there === null || moment.thereAt === null) return hereMs;
  return Date.parse(moment.thereAt) - Date.parse(entry.absent_since_there) + SECOND_MS;
}
