// Collects the content of one dropped file: its items and its read errors. The read error of an item also invalidates the
// item if it came from an earlier part of the file.
import {
  type ErpBatch,
  type ErpFault,
  type FileContent,
  type FileItem,
  type FileMark,
  invalidates,
} from '../source.ts';

/** Size and time identify the content of a file, to notice a new file of the same name. */
export type FileIdentity = Pick<FileMark, 'size' | 'mtimeMs'>;

export const isSameContent = (a: FileIdentity, b: FileIdentity): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs;

export interface ContentCollector {
  add(batch: ErpBatch): void;
  /** Everything added so far. */
  content(): FileContent;
}

export function collectContent(): ContentCollector {
  const items = new Map<string, FileItem[]>();
  const readErrors: ErpFault[] = [];
  return {
    add(batch) {
      for (const { externalCode, startDay } of batch.items)
        items.set(externalCode, [...(items.get(externalCode) ?? []), { externalCode, startDay }]);
      for (const readError of batch.faults) {
        const known = items.get(readError.externalCode ?? '');
        if (readError.externalCode === undefined || known === undefined) continue;
        items.set(
          readError.externalCode,
          known.filter(({ startDay }) => !invalidates(readError, startDay)),
        );
      }
      readErrors.push(...batch.faults);
    },
    content: () => ({ items: [...items.values()].flat(), readErrors }),
  };
}
