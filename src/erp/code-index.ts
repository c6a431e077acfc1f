// Which files in work hold a code. A plan may stand in several files: each of them is told of it.

export interface CodeIndex {
  add(code: string, name: string): void;
  remove(code: string, name: string): void;
  namesOf(code: string): string[];
}

export function createCodeIndex(): CodeIndex {
  const names = new Map<string, Set<string>>();
  return {
    add(code, name) {
      const known = names.get(code);
      if (known === undefined) names.set(code, new Set([name]));
      else known.add(name);
    },
    remove(code, name) {
      const known = names.get(code);
      known?.delete(name);
      if (known?.size === 0) names.delete(code);
    },
    namesOf: (code) => [...(names.get(code) ?? [])],
  };
}
