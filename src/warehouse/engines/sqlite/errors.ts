// A driver's error in plain words. Its message begins with the statement and its bound values; only what
// SQLite itself says at the end is kept, which names tables and columns, never values.
import { Fatal, Retriable, RoadbookError } from '../../../core/errors.ts';

export function sqliteError(thrown: unknown, file: string): unknown {
  if (thrown instanceof RoadbookError || !isDriverError(thrown)) return thrown;
  const code = thrown.code;
  switch (code) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return new Retriable(`The warehouse ${file} is locked by another process (${code})`, {
        code: 'warehouse_locked',
        hint: 'Close long transactions of other programs on this file, then run again.',
      });
    case 'SQLITE_FULL':
      return new Fatal(`The disk of the warehouse ${file} is full (${code})`, {
        code: 'warehouse_full',
        hint: 'Free disk space; nothing that was committed is lost.',
      });
    // What SQLite calls every other refusal of the system: a quota, the size limit of a file, a failing disk.
    case 'SQLITE_IOERR':
      return new Fatal(`The system refused to read or write the warehouse ${file} (${code})`, {
        code: 'warehouse_unwritable',
        hint: 'Check free space, quota and file size limit of this user, then the disk; nothing that was committed is lost.',
      });
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
      return new Fatal(`The warehouse ${file} cannot be opened for writing (${code})`, {
        code: 'warehouse_unwritable',
        hint: 'Check that the folder exists and that this user may write to it.',
      });
    case 'SQLITE_NOTADB':
    case 'SQLITE_CORRUPT':
      return new Fatal(`The file ${file} is not a sound SQLite database (${code})`, {
        code: 'warehouse_corrupt',
        hint: 'Check warehouse.file; restore a backup or move the file away to start afresh.',
      });
    default:
      return new Fatal(`The warehouse refused a statement (${ownWords(thrown)})`, {
        code: 'warehouse_failed',
        hint: 'This is a fault in the program: report it with the log line.',
        cause: withoutMessage(thrown),
      });
  }
}

interface DriverError extends Error {
  code: string;
}

const isDriverError = (thrown: unknown): thrown is DriverError =>
  thrown instanceof Error && /^SQLITE_/.test(String((thrown as { code?: unknown }).code));

/** SQLite's own part of the message, behind the statement that the query builder puts before it. */
const ownWords = ({ message, code }: DriverError): string =>
  message.slice(message.lastIndexOf(`${code}: `)) || code;

/** Where it happened, without what was bound. */
function withoutMessage(error: DriverError): Error {
  const bare = new Error(error.code);
  bare.stack = [error.code, ...(error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))].join(
    '\n',
  );
  return bare;
}
