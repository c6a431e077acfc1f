// Formats rows as aligned columns for a terminal.
import { harmlessText, styled, widthOf } from '../../core/text/terminal-text.ts';

type Cell = string | number | null | undefined;

/** A column for each field; `columns` has the fields by their headings. */
export const fieldTable = <Row extends object>(columns: Record<string, keyof Row>, rows: readonly Row[]): string =>
  textTable(
    Object.keys(columns),
    rows.map((row) => Object.values(columns).map((field) => row[field] as Cell)),
  );

/** A column for each field; the names of the fields are the headings. Nothing if there are no rows. */
export const recordTable = (rows: readonly Readonly<Record<string, Cell>>[]): string =>
  textTable(Object.keys(rows[0] ?? {}), rows.map(Object.values));

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

const COLOURED = {
  green: ['ok', 'confirmed', 'alive'],
  yellow: ['warn', 'late', 'warning', 'partial', 'differs', 'never ran', 'unknown'],
  red: ['silent', 'fail', 'failing', 'failed', 'rejected'],
};

/** A status word in its colour, if the terminal supports colours. */
export function coloured(word: string): string {
  const colour = (['green', 'yellow', 'red'] as const).find((each) => COLOURED[each].includes(word));
  return colour === undefined ? word : styled(colour, word);
}
