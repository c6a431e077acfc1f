// COPY … FROM STDIN over the driver's connection, with the protocol messages that the driver already supports. Rows use
// the text format: fields separated by tabs, \\N for null, a backslash before special characters.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, Scalar } from '../../engine.ts';
import type { ColumnType } from '../../schema/table.ts';
import type { PgConnection } from './driver.ts';

/** The methods of the driver's protocol connection that a COPY uses. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  sendCopyFail(reason: string): void;
  endCopyFrom(): void;
}

/**
 * `statement` is a COPY … FROM STDIN. Each of `texts` is some complete lines; one is sent per turn of the event loop, and
 * the server stores it meanwhile. Resolves once the server has stored all rows.
 */
export const copyIn = (connection: PgConnection, statement: string, texts: Iterable<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    let isFailed = false;
    const send = async (wire: Wire): Promise<void> => {
      for (const text of texts) {
        for (const chunk of byteChunks(Buffer.from(text))) wire.sendCopyFromChunk(chunk);
        await nextTurn();
        // The connection may be in another statement by now, which would receive these rows.
        if (isFailed) return;
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
  for (let start = 0; start < text.length; start += CHUNK_BYTES) yield text.subarray(start, start + CHUNK_BYTES);
}

/** A row, or the last fields of one, as a line of the text format. */
export function copyLine(row: Row): string {
  let text = copyField(row[0] ?? null);
  for (let position = 1; position < row.length; position++) text += `\t${copyField(row[position] ?? null)}`;
  return text;
}

export const NULL_FIELD = '\\N';
const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyField(value: Scalar): string {
  if (value === null) return NULL_FIELD;
  if (typeof value !== 'string') return String(value);
  return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (met) => ESCAPES[met] ?? met) : value;
}

/** Reads lines that `copyLine` wrote. */
export const lineReader =
  (types: readonly ColumnType[]) =>
  (line: string): Row =>
    line.split('\t').map((field, position) => fieldValue(field, types[position]));

function fieldValue(field: string, type: ColumnType | undefined): Scalar {
  if (field === NULL_FIELD) return null;
  if (type === 'boolean') return field === 'true';
  if (type === 'real') return Number(field);
  // An integer beyond 2^53 is text in a row too.
  if (type === 'integer') return Number.isSafeInteger(Number(field)) ? Number(field) : field;
  return field.replace(/\\(.)/g, (_, escaped: string) => UNESCAPED[escaped] ?? escaped);
}

const UNESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
