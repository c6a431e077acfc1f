// Parses the text of the file as a YAML document. References such as `${NAME:-}` are masked for the parser, character by
// character, so that they may appear unquoted in `{ … }` and every offset stays correct.
import { type Document, isCollection, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { OffsetIssue } from '../faults.ts';
import { INDENT, notClosed, yamlWords } from './yaml-words.ts';

/** Each is masked by a Unicode noncharacter: no real text contains those, and they have no meaning in YAML. */
const MASKED = '{}[],:#';
const FIRST_MASK = 0xfdd0;

const maskReferences = (text: string): string =>
  text.replace(/\$\{[^{}"'\n]*\}/g, (reference) =>
    reference.replace(/[{}[\],:#]/g, (character) => String.fromCharCode(FIRST_MASK + MASKED.indexOf(character))),
  );

/** Restores a text of the document to its form in the file. */
export const unmask = (text: string): string =>
  text.replace(/[\uFDD0-\uFDD6]/g, (mask) => MASKED.charAt(mask.charCodeAt(0) - FIRST_MASK));

/** `issues` are syntax errors; if there are any, the document is unreliable. */
export function readYaml(text: string) {
  const lines = new LineCounter();
  // The tree reader finds duplicate keys; the parser would compare every key with every other.
  const masked = maskReferences(text);
  const document = parseDocument(masked, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const issues: OffsetIssue[] = [];
  const seen = new Set<number>();
  // All errors after an open bracket or quote follow from it.
  const open = document.errors.length === 0 ? undefined : findNotClosed(document, masked);
  if (open !== undefined) issues.push({ offset: open, path: [], ...notClosed(masked[open] ?? '') });
  for (const { code, pos } of [...document.errors, ...document.warnings]) {
    if (open !== undefined && pos[0] >= open) continue;
    // One error for each line: further ones on the same line follow from the first.
    const { line } = lines.linePos(pos[0]);
    if (seen.has(line)) continue;
    seen.add(line);
    const words = yamlWords(code);
    issues.push({ offset: pos[0], path: [], ...words });
    // The lines below are misread because of it.
    if (words === INDENT) break;
  }
  return { document, lines, issues };
}

const CLOSED_BY: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };

/** Offset of the first bracket or quote that is not closed; undefined if there is none. */
function findNotClosed(document: Document.Parsed, text: string): number | undefined {
  let found: number | undefined;
  visit(document, (_key, node) => {
    if (!(isCollection(node) && node.flow) && !(isScalar(node) && node.type?.startsWith('QUOTE'))) return undefined;
    const [start, end] = node.range ?? [0, 0];
    // A pair in a flow list is a map too, but has no bracket of its own.
    const closing = CLOSED_BY[text[start] ?? ''];
    if (closing === undefined || (end > start + 1 && text[end - 1] === closing)) return undefined;
    found = start;
    return visit.BREAK;
  });
  return found;
}
