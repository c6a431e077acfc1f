// What one dropped file holds: its items, and what could not be read. A read error of an item invalidates the item, also
// where an earlier part of the file gave it.
import {
  type ErpBatch,
  type ErpFault,
  type FileContent,
  type FileItem,
  type FileMark,
  invalidates,
} from '../source.ts';

/** Tells one content of a file from the next under the same name. */
export type FileIdentity = Pick<FileMark, 'size' | 'mtimeMs'>;

export const isSameContent = (a: FileIdentity, b: FileIdentity): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs;

export interface ContentCollector {
  add(batch: ErpBatch): void;
  /** What was added so far. */
  content(): FileContent;
}

export function collectContent(): ContentCollector {
  const items = new Map<string, FileItem[]>();
  const readErrors: ErpFault[] = [];
  return {
    add(batch) {
      for (const { externalCode, startDay } of batch.items)
        items.set(externalCode, [...(items.get(externalCode) ?? []), { externalCode, startDay }]);
      for (const fault of batch.faults) {
        const known = items.get(fault.externalCode ?? '');
        if (fault.externalCode === undefined || known === undefined) continue;
        items.set(
          fault.externalCode,
          known.filter(({ startDay }) => !invalidates(fault, startDay)),
        );
      }
      readErrors.push(...batch.faults);
    },
    content: () => ({ items: [...items.values()].flat(), readErrors }),
  };
}
