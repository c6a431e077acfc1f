// COPY … FROM STDIN over the driver's connection, by the messages of the protocol that it already speaks. Rows travel
// in the text format: fields between tabs, \\N for null, a backslash before what would end a field.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, Scalar } from '../engine.ts';
import type { PgConnection } from './postgres-driver.ts';

/** The part of the driver's wire that a COPY uses. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(reason: string): void;
  endCopyFrom(): void;
}

/**
 * Rows made into text between two turns of the event loop; the server stores those before meanwhile. A turn of its own
 * is not waited for: the lock of all writers is held.
 */
const CHUNK_ROWS = 2_000;

interface Copied {
  rows: readonly Row[];
  /** Behind each of them. */
  tail?: readonly Scalar[];
  /** Made of a row and its place as it is sent. */
  as?: (row: Row, index: number) => Row;
}

/** `statement` is a COPY … FROM STDIN. Resolves once the server has taken all rows. */
export const copyIn = (connection: PgConnection, statement: string, copied: Copied): Promise<void> =>
  new Promise((resolve, reject) => {
    let isRefused = false;
    const send = async (wire: Wire): Promise<void> => {
      for (let start = 0; start < copied.rows.length; start += CHUNK_ROWS) {
        if (start > 0) await nextTurn();
        // The connection may be in another statement by now, which would take the rows for its own.
        if (isRefused) return;
        for (const piece of pieces(copyText(copied, start))) wire.sendCopyFromChunk(piece);
      }
      wire.endCopyFrom();
    };
    connection.query({
      submit: (wire: Wire) => wire.query(statement),
      handleCopyInResponse: (wire: Wire) =>
        void send(wire).catch((thrown) => {
          reject(thrown);
          wire.sendCopyFail('the rows could not be written down');
        }),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      // The driver waits for the server to be ready again before it sends the next statement.
      handleError(error: Error) {
        isRefused = true;
        reject(error);
      },
    });
  });

/** The server tells how far it is by whole messages, and who waits for the lock goes by that. */
const PIECE_BYTES = 65_536;

function* pieces(text: Buffer): Generator<Buffer> {
  for (let start = 0; start < text.length; start += PIECE_BYTES)
    yield text.subarray(start, start + PIECE_BYTES);
}

function copyText({ rows, tail = [], as = (row) => row }: Copied, start: number): Buffer {
  const end = `${tail.map((value) => `\t${field(value)}`).join('')}\n`;
  let text = '';
  for (const [index, each] of rows.slice(start, start + CHUNK_ROWS).entries()) {
    const row = as(each, start + index);
    text += field(row[0] ?? null);
    for (let position = 1; position < row.length; position++) text += `\t${field(row[position] ?? null)}`;
    text += end;
  }
  return Buffer.from(text);
}

const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function field(value: Scalar): string {
  if (value === null) return '\\N';
  if (typeof value !== 'string') return String(value);
  return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (met) => ESCAPES[met] ?? met) : value;
}
