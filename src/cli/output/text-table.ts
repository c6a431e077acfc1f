// Formats rows as aligned columns for a terminal.
import { harmlessText, styled, widthOf } from '../../core/text/terminal-text.ts';

type Cell = string | number | null | undefined;

/** A column for each field; `columns` has the fields by their headings. */
export const fieldTable = <Row extends object>(columns: Record<string, keyof Row>, rows: readonly Row[]): string =>
  textTable(
    Object.keys(columns),
    rows.map((row) => Object.values(columns).map((field) => row[field] as Cell)),
  );

export function textTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => oneLine(String(cell ?? '-'))));
  const widths = head.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, widthOf(line[column] ?? '')), 0),
  );
  return lines
    .map((line, index) => {
      const padded = line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)));
      const text = padded.join('  ').trimEnd();
      return index === 0 ? styled('bold', text) : text;
    })
    .join('\n');
}

/** A line end inside a cell would look like a new row. */
const oneLine = (cell: string): string => harmlessText(cell).replace(/\s/g, ' ');

const COLOURS = {
  ok: 'green',
  confirmed: 'green',
  warn: 'yellow',
  late: 'yellow',
  attention: 'yellow',
  partial: 'yellow',
  'never ran': 'yellow',
  unknown: 'yellow',
  alive: 'green',
  silent: 'red',
  fail: 'red',
  failing: 'red',
  failed: 'red',
  rejected: 'red',
} as const;

/** A status word in its colour, if the terminal supports colours. */
export const coloured = (word: string): string =>
  word in COLOURS ? styled(COLOURS[word as keyof typeof COLOURS], word) : word;
