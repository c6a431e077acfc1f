// Finds by code what belongs to it: the files in work that hold it, or the days on which it could not be read.

export interface CodeIndex {
  add(code: string, entry: string): void;
  remove(code: string, entry: string): void;
  entriesOf(code: string): string[];
}

export function createCodeIndex(): CodeIndex {
  const entries = new Map<string, Set<string>>();
  return {
    add(code, entry) {
      const known = entries.get(code);
      if (known === undefined) entries.set(code, new Set([entry]));
      else known.add(entry);
    },
    remove(code, entry) {
      const known = entries.get(code);
      known?.delete(entry);
      if (known?.size === 0) entries.delete(code);
    },
    entriesOf: (code) => [...(entries.get(code) ?? [])],
  };
}
