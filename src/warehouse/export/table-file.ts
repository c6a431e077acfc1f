// How a format writes one file: batch by batch, under a name of its own until it is whole.
import type { ExportColumn } from './exportable.ts';

export interface TableFile {
  write(rows: readonly Record<string, unknown>[]): Promise<void>;
  finish(): Promise<void>;
}

export interface FileFormat {
  readonly extension: string;
  open(path: string, columns: readonly ExportColumn[]): Promise<TableFile>;
}
