// The interface of a file format. A file is written in batches, to a path that the caller renames once it is complete.
import type { Values } from '../engine.ts';
import type { ExportColumn } from './exportable.ts';

export interface FileFormat {
  readonly extension: string;
  open(
    path: string,
    columns: readonly ExportColumn[],
  ): Promise<{ write(rows: readonly Values[]): Promise<void>; finish(): Promise<void> }>;
}
