// COPY … FROM STDIN over the driver's connection, by the messages of the protocol that it already speaks. Rows travel
// in the text format: fields between tabs, \\N for null, a backslash before what would end a field.
import type { Row, Scalar } from '../engine.ts';
import type { PgConnection } from './postgres-connection.ts';

/** The part of the driver's wire that a COPY uses. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** `statement` is a COPY … FROM STDIN. Resolves once the server has taken all rows. */
export const copyIn = (connection: PgConnection, statement: string, rows: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.query({
      submit: (wire: Wire) => wire.query(statement),
      handleCopyInResponse(wire: Wire) {
        wire.sendCopyFromChunk(rows);
        wire.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      // The driver waits for the server to be ready again before it sends the next statement.
      handleError: reject,
    });
  });

/** The rows, each with `tail` behind it. */
export function copyText(rows: readonly Row[], tail: readonly Scalar[]): Buffer {
  const end = `${tail.map((value) => `\t${field(value)}`).join('')}\n`;
  let text = '';
  for (const row of rows) {
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
