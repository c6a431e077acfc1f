// COPY … FROM STDIN over the driver's connection, by the messages of the protocol that it already speaks. Rows travel
// in the text format: fields between tabs, \\N for null, a backslash before what would end a field.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, Scalar } from '../../engine.ts';
import type { PgConnection } from './driver.ts';

/** The part of the driver's wire that a COPY uses. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(reason: string): void;
  endCopyFrom(): void;
}

/** Lines sent between two turns of the event loop; the server stores those before meanwhile. */
const CHUNK_LINES = 4_000;

/**
 * `statement` is a COPY … FROM STDIN; `lines` are rows without their ends, all with the same `end`. Resolves once the
 * server has taken all rows.
 */
export const copyIn = (
  connection: PgConnection,
  statement: string,
  lines: readonly string[],
  end = '',
): Promise<void> =>
  new Promise((resolve, reject) => {
    let isRefused = false;
    const send = async (wire: Wire): Promise<void> => {
      for (let start = 0; start < lines.length; start += CHUNK_LINES) {
        if (start > 0) await nextTurn();
        // The connection may be in another statement by now, which would take the rows for its own.
        if (isRefused) return;
        const text = lines.slice(start, start + CHUNK_LINES).join(`${end}\n`);
        for (const piece of pieces(Buffer.from(`${text}${end}\n`))) wire.sendCopyFromChunk(piece);
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

/** A row, or the end of one, as a line of the text format. */
export function copyLine(row: Row): string {
  let text = copyField(row[0] ?? null);
  for (let position = 1; position < row.length; position++) text += `\t${copyField(row[position] ?? null)}`;
  return text;
}

const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyField(value: Scalar): string {
  if (value === null) return '\\N';
  if (typeof value !== 'string') return String(value);
  return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (met) => ESCAPES[met] ?? met) : value;
}
