// COPY … FROM STDIN over the driver's connection, with the protocol messages that the driver already supports. Rows use
// the text format: fields separated by tabs, \\N for null, a backslash before special characters.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, Scalar } from '../../engine.ts';
import type { PgConnection } from './driver.ts';

/** The methods of the driver's protocol connection that a COPY uses. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(reason: string): void;
  endCopyFrom(): void;
}

/** Lines sent per turn of the event loop. Meanwhile the server stores the lines before. */
const CHUNK_LINES = 4_000;

/**
 * `statement` is a COPY … FROM STDIN. `end` is appended to each of `lines`. Resolves once the server has stored all rows.
 */
export const copyIn = (
  connection: PgConnection,
  statement: string,
  lines: readonly string[],
  end = '',
): Promise<void> =>
  new Promise((resolve, reject) => {
    let isFailed = false;
    const send = async (wire: Wire): Promise<void> => {
      for (let start = 0; start < lines.length; start += CHUNK_LINES) {
        if (start > 0) await nextTurn();
        // The connection may be in another statement by now, which would receive these rows.
        if (isFailed) return;
        const text = lines.slice(start, start + CHUNK_LINES).join(`${end}\n`);
        for (const chunk of byteChunks(Buffer.from(`${text}${end}\n`))) wire.sendCopyFromChunk(chunk);
      }
      wire.endCopyFrom();
    };
    connection.query({
      submit: (wire: Wire) => wire.query(statement),
      handleCopyInResponse: (wire: Wire) =>
        void send(wire).catch((thrown) => {
          reject(thrown);
          wire.sendCopyFail('the rows could not be sent');
        }),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      // The driver waits for the server to be ready again before it sends the next statement.
      handleError(error: Error) {
        isFailed = true;
        reject(error);
      },
    });
  });

/** The server reports its progress per message. Writers that wait for the lock judge a COPY by it (see locks.ts). */
const CHUNK_BYTES = 65_536;

function* byteChunks(text: Buffer): Generator<Buffer> {
  for (let start = 0; start < text.length; start += CHUNK_BYTES)
    yield text.subarray(start, start + CHUNK_BYTES);
}

/** A row, or the last fields of one, as a line of the text format. */
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
