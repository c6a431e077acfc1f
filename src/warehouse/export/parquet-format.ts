// Parquet with the declared types: instants in UTC to the millisecond, days as dates.
import { type ColumnSource, fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { ViewColumnType } from '../schema/view.ts';
import { cell } from './cells.ts';
import type { ExportColumn } from './exportable.ts';
import type { FileFormat } from './table-file.ts';

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
const GROUP_ROWS = 20_000;

export const parquet: FileFormat = {
  extension: 'parquet',
  async open(path, columns) {
    const writer = new ParquetWriter({ writer: fileWriter(path), schema: schemaOf(columns) });
    let buffered: Record<string, unknown>[] = [];
    const writeGroup = async (): Promise<void> => {
      if (buffered.length === 0) return;
      await writer.write({ columnData: columnsOf(buffered, columns), rowGroupSize: buffered.length });
      buffered = [];
    };
    return {
      async write(rows) {
        buffered.push(...rows);
        if (buffered.length >= GROUP_ROWS) await writeGroup();
      },
      async finish() {
        await writeGroup();
        await writer.finish();
      },
    };
  },
};

const schemaOf = (columns: readonly ExportColumn[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...STORED_AS[type] })),
];

const columnsOf = (rows: readonly Record<string, unknown>[], columns: readonly ExportColumn[]): ColumnSource[] =>
  columns.map(({ name, type }) => ({ name, data: rows.map((row) => cell(type, row[name])) }));
