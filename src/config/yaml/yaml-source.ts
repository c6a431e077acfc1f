// Parses the text of the file as a YAML document. References such as `${NAME:-}` are masked for the parser, character by
// character, so that they may appear unquoted in `{ … }` and every offset stays correct.
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { OffsetIssue } from '../faults.ts';
import { yamlWords } from './yaml-words.ts';

export interface YamlSource {
  document: Document.Parsed;
  lines: LineCounter;
  /** Syntax errors; if there are any, the document is unreliable. */
  issues: OffsetIssue[];
}

/** Unicode noncharacters: no real text contains them, and they have no meaning in YAML. */
const MASKS: ReadonlyMap<string, string> = new Map([
  ['{', '\uFDD0'],
  ['}', '\uFDD1'],
  ['[', '\uFDD2'],
  [']', '\uFDD3'],
  [',', '\uFDD4'],
  [':', '\uFDD5'],
  ['#', '\uFDD6'],
]);
const UNMASKS = new Map([...MASKS].map(([character, mask]) => [mask, character]));

const maskReferences = (text: string): string =>
  text.replace(/\$\{[^{}"'\n]*\}/g, (reference) =>
    reference.replace(/[{}[\],:#]/g, (character) => MASKS.get(character) ?? character),
  );

/** Restores a text of the document to its form in the file. */
export const unmask = (text: string): string => text.replace(/[\uFDD0-\uFDD6]/g, (mask) => UNMASKS.get(mask) ?? mask);

export function readYaml(text: string): YamlSource {
  const lines = new LineCounter();
  // The tree reader finds duplicate keys; the parser would compare every key with every other.
  const document = parseDocument(maskReferences(text), {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const issues: OffsetIssue[] = [];
  const seen = new Set<number>();
  for (const { code, pos } of [...document.errors, ...document.warnings]) {
    // One error for each line: further ones on the same line follow from the first.
    const { line } = lines.linePos(pos[0]);
    if (seen.has(line)) continue;
    seen.add(line);
    issues.push({ offset: pos[0], path: [], ...yamlWords(code) });
  }
  return { document, lines, issues };
}
