// CSV for people and spreadsheets. UTF-8 with a byte order mark, so that Excel reads accents. Null differs from an empty
// text. A text that a spreadsheet would run as a formula gets an apostrophe in front.
import { open } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import type { ViewColumnType } from '../schema/view.ts';
import { type Cell, cell } from './cells.ts';
import type { FileFormat } from './exportable.ts';

const BYTE_ORDER_MARK = '\uFEFF';

export const csv: FileFormat = {
  extension: 'csv',
  async open(path, columns) {
    const file = await open(path, 'w');
    const put = (text: string): Promise<void> => file.writeFile(text);
    await put(BYTE_ORDER_MARK + stringify([columns.map(({ name }) => name)]));
    return {
      write: (rows) => {
        const lines = rows.map((row) => columns.map(({ type }, index) => csvValue(type, cell(type, row[index]))));
        return put(stringify(lines, { escape_formulas: true, quoted_empty: false, quoted_string: false, cast }));
      },
      finish: () => file.close(),
    };
  },
};

const cast = {
  boolean: (value: boolean) => String(value),
  string: (value: string) => (value === '' ? { value, quoted_empty: true } : value),
};

const csvValue = (type: ViewColumnType, value: Cell): Cell => {
  if (value === null || !['instant', 'local', 'date'].includes(type)) return value;
  const text = new Date(Number(value)).toISOString();
  if (type === 'date') return text.slice(0, 10);
  return type === 'local' ? text.slice(0, 19).replace('T', ' ') : text;
};
