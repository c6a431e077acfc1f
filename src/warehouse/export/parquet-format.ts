// Parquet with the declared types: instants in UTC to the millisecond, days as dates.
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { DAY_MS } from '../../core/time/durations.ts';
import type { ViewColumnType } from '../schema/view.ts';
import { type Cell, cell } from './cells.ts';
import type { ExportColumn, FileFormat } from './exportable.ts';

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const STORED_AS: Readonly<Record<ViewColumnType, Omit<SchemaElement, 'name'>>> = {
  integer: { type: 'INT64' },
  real: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  date: { type: 'INT32', converted_type: 'DATE' },
  instant: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } },
  local: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MILLIS' } },
};

/** Rows buffered in memory and written as one row group. */
const GROUP_ROWS = 10_000;

export const parquet: FileFormat = {
  extension: 'parquet',
  async open(path, columns) {
    const writer = new ParquetWriter({ writer: fileWriter(path), schema: schemaOf(columns) });
    // Without the places of its pages, which only readers of single rows use: a fifth of the memory.
    const emptyGroup = () => columns.map(({ name }) => ({ name, data: [] as Cell[], offsetIndex: false }));
    let group = emptyGroup();
    let rowGroupSize = 0;
    const writeGroup = async (): Promise<void> => {
      if (rowGroupSize === 0) return;
      await writer.write({ columnData: group, rowGroupSize });
      group = emptyGroup();
      rowGroupSize = 0;
    };
    return {
      async write(rows) {
        for (const [index, { type }] of columns.entries()) {
          for (const row of rows) group[index]?.data.push(storedCell(type, row[index]));
        }
        rowGroupSize += rows.length;
        if (rowGroupSize >= GROUP_ROWS) await writeGroup();
      },
      async finish() {
        await writeGroup();
        await writer.finish();
      },
    };
  },
};

/** Days as their number, other times as exact integers: only with these does a file have the bounds by which readers skip groups. */
function storedCell(type: ViewColumnType, value: unknown): Cell {
  const found = cell(type, value);
  if (typeof found !== 'number' || type === 'real') return found;
  return type === 'date' ? Math.floor(found / DAY_MS) : BigInt(found);
}

const schemaOf = (columns: readonly ExportColumn[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...STORED_AS[type] })),
];
