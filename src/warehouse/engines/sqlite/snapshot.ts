// One committed state of a SQLite file, read by batches for files that outgrow memory. The driver of the engine hands
// over whole answers only; Node's own steps through them. It does so in a process of its own (snapshot-reader.ts):
// two libraries of SQLite in one process take each other's locks away, and what is read would not stay one state.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Retriable } from '../../../core/errors.ts';
import type { Scalar, Scan } from '../../engine.ts';

const READER = resolve(import.meta.dirname, 'snapshot-reader.ts');

/** What the reader is asked for: the first batch of a statement, or the next one of the same. */
export type Question = { statement: string; bindings: readonly Scalar[] } | { isNext: true };

export type Answer =
  | { rows: Record<string, unknown>[]; isLast: boolean }
  /** Codes as SQLite numbers them. */
  | { errcode: number; words: string };

export async function sqliteSnapshot<T>(
  file: string,
  lockMs: number,
  work: (scan: Scan) => Promise<T>,
): Promise<T> {
  const reader = startReader([file, String(lockMs)]);
  reader.on('error', () => undefined);
  const ended = met(reader, 'exit').then(() => undefined);
  try {
    return await work((statement, bindings = []) => batches(reader, ended, { statement, bindings }));
  } finally {
    reader.kill();
    await ended;
  }
}

function startReader(args: string[]): ChildProcess {
  try {
    return fork(READER, args, {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  } catch {
    throw readerLost();
  }
}

/** A reader that cannot be started, or to whom a question cannot be handed over, is met as one that has ended. */
const met = (reader: ChildProcess, event: string): Promise<unknown> =>
  once(reader, event).catch(() => undefined);

async function* batches(reader: ChildProcess, ended: Promise<undefined>, first: Question) {
  for (let question = first; ; question = { isNext: true }) {
    const answered = met(reader, 'message') as Promise<[Answer] | undefined>;
    reader.send(question);
    const answer = (await Promise.race([answered, ended]))?.[0];
    if (answer === undefined) throw readerLost();
    if ('errcode' in answer) throw driverError(answer);
    if (answer.rows.length > 0) yield answer.rows;
    if (answer.isLast) return;
  }
}

/** Primary results of SQLite that are told in words of their own; the driver of the engine names them alike. */
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
  new Retriable('The process that reads the warehouse for an export has ended or could not be started', {
    code: 'reader_lost',
    hint: 'Look for what ended it, such as a limit of memory, then run the export again.',
  });
