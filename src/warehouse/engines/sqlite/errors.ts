// Driver errors in plain words. The message begins with the statement and its bound values. Only SQLite's own text at the
// end is kept: it names tables and columns, never values.
import { Fatal, Retriable, RoadbookError } from '../../../core/errors.ts';
import { statementRejected } from '../statement-rejected.ts';

export function sqliteError(thrown: unknown, file: string): unknown {
  if (thrown instanceof RoadbookError || !isDriverError(thrown)) return thrown;
  const code = thrown.code;
  switch (code) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return new Retriable(`The warehouse ${file} is locked by another process (${code})`, {
        code: 'warehouse_locked',
        hint: 'End long transactions of other programs on this file, then run again.',
      });
    case 'SQLITE_FULL':
      return new Fatal(`The disk of the warehouse ${file} is full (${code})`, {
        code: 'warehouse_full',
        hint: 'Free disk space. No committed data is lost.',
      });
    // SQLite reports every other error of the operating system so: a quota, a file size limit, a failing disk.
    case 'SQLITE_IOERR':
      return new Fatal(`The operating system could not read or write the warehouse ${file} (${code})`, {
        code: 'warehouse_unwritable',
        hint: 'Check free space, quota and file size limit of this user, then the disk. No committed data is lost.',
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
      return new Fatal(`The file ${file} is not a valid SQLite database (${code})`, {
        code: 'warehouse_corrupt',
        hint: 'Check warehouse.file. Restore a backup, or move the file away to start with an empty warehouse.',
      });
    default:
      return statementRejected(sqliteText(thrown), thrown, code);
  }
}

interface DriverError extends Error {
  code: string;
}

const isDriverError = (thrown: unknown): thrown is DriverError =>
  thrown instanceof Error && /^SQLITE_/.test(String((thrown as { code?: unknown }).code));

/** SQLite's own text, without the statement that the query builder prepends. */
const sqliteText = ({ message, code }: DriverError): string => message.slice(message.lastIndexOf(`${code}: `)) || code;
