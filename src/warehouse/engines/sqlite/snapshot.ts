// Reads one committed state of a SQLite file in batches, for exports larger than memory. The engine's driver returns only
// complete results; Node's own driver can iterate. It runs in a separate process (snapshot-reader.ts): two SQLite
// libraries in one process release each other's file locks, and the snapshot would not stay one state.
import { resolve } from 'node:path';
import { type Child, startChild } from '../../../core/child-process.ts';
import { Retriable } from '../../../core/errors.ts';
import type { Scalar, Scan, Values } from '../../engine.ts';

const READER = resolve(import.meta.dirname, 'snapshot-reader.ts');

/** A request for the first batch of a statement, or for its next batch. */
export type Question = { statement: string; bindings: readonly Scalar[] } | { isNext: true };

export type Answer =
  | { rows: Values[]; isLast: boolean }
  /** SQLite's numeric result code. */
  | { errcode: number; words: string };

export async function sqliteSnapshot<T>(file: string, lockMs: number, work: (scan: Scan) => Promise<T>): Promise<T> {
  const reader = startChild<Question, Answer>(READER, [file, String(lockMs)]);
  try {
    return await work((statement, bindings = []) => batches(reader, { statement, bindings }));
  } finally {
    reader.kill();
    await reader.ended;
  }
}

/** The reader prepares the next batch while the caller works on this one. */
async function* batches(reader: Child<Question, Answer>, first: Question) {
  let next: Promise<Answer | undefined> | undefined = reader.ask(first);
  try {
    while (next !== undefined) {
      const answer: Answer | undefined = await next;
      if (answer === undefined) throw readerLost();
      if ('errcode' in answer) throw driverError(answer);
      next = answer.isLast ? undefined : reader.ask({ isNext: true });
      if (answer.rows.length > 0) yield answer.rows;
    }
  } finally {
    // The next statement must not take this answer for its own.
    await next;
  }
}

/** Names of SQLite's primary result codes that have their own message, as the engine's driver spells them. */
const NAMES: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
};

function driverError({ errcode, words }: { errcode: number; words: string }): Error {
  const code = NAMES[errcode & 0xff] ?? 'SQLITE_ERROR';
  return Object.assign(new Error(`${code}: ${words}`), { code });
}

const readerLost = (): Retriable =>
  new Retriable('The process that reads the warehouse for the export ended or could not be started', {
    code: 'reader_lost',
    hint: 'Find out what ended the process, such as a memory limit, then run the export again.',
  });
