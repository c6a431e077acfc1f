// The text of the file as a YAML document. References such as `${NAME:-}` are masked while YAML reads the
// text, character for character, so that they may stand unquoted in `{ … }` and every offset stays true.
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { OffsetIssue } from '../faults.ts';
import { yamlWords } from './yaml-words.ts';

export interface YamlSource {
  document: Document.Parsed;
  lines: LineCounter;
  /** Errors of syntax; where there are any, the tree behind them is a guess. */
  issues: OffsetIssue[];
}

/** Noncharacters of Unicode: they occur in no text, and YAML gives them no meaning. */
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

/** A text of the document as the file has it. */
export const unmask = (text: string): string =>
  text.replace(/[\uFDD0-\uFDD6]/g, (mask) => UNMASKS.get(mask) ?? mask);

export function readYaml(text: string): YamlSource {
  const lines = new LineCounter();
  // Duplicate keys are found by the tree reader: the parser compares every key with every other.
  const document = parseDocument(maskReferences(text), {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const issues: OffsetIssue[] = [];
  const seen = new Set<number>();
  for (const { code, pos } of [...document.errors, ...document.warnings]) {
    // One error a line: the parser's next ones on it are echoes of the first.
    const { line } = lines.linePos(pos[0]);
    if (seen.has(line)) continue;
    seen.add(line);
    issues.push({ offset: pos[0], path: [], ...yamlWords(code) });
  }
  return { document, lines, issues };
}
