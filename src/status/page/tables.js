// Tables that work on a phone: there rows become cards, and each cell shows the name of its column. Roles are explicit,
// because a changed CSS display removes the implicit ones.
import { el } from './dom.js';

/**
 * @param {{name: string, class?: string, unseen?: boolean}[]} columns
 * @param {{key: string, cells: unknown[], class?: string, below?: Node}[]} rows
 */
export function table(caption, columns, rows, empty) {
  if (rows.length === 0) return el('p', { class: 'empty' }, empty);
  const head = columns.map((column) =>
    el(
      'th',
      { role: 'columnheader', scope: 'col', class: column.class },
      column.unseen ? el('span', { class: 'unseen' }, column.name) : column.name,
    ),
  );
  return el(
    'div',
    { class: 'table-frame' },
    el(
      'table',
      { role: 'table' },
      el('caption', { class: 'unseen' }, caption),
      el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head)),
      el(
        'tbody',
        { role: 'rowgroup' },
        rows.flatMap((row) => bodyRows(columns, row)),
      ),
    ),
  );
}

function bodyRows(columns, { key, cells, class: own, below }) {
  const filled = cells.map((cell, index) => {
    const { name, class: kind, unseen } = columns[index];
    const isHead = index === 0;
    return el(
      isHead ? 'th' : 'td',
      {
        role: isHead ? 'rowheader' : 'cell',
        scope: isHead ? 'row' : undefined,
        class: kind,
        'data-label': isHead || unseen ? undefined : name,
      },
      cell,
    );
  });
  const row = el(
    'tr',
    { role: 'row', 'data-key': key, class: [own, below ? 'has-below' : ''].join(' ').trim() || undefined },
    filled,
  );
  if (below === undefined) return [row];
  const cell = el('td', { role: 'cell', colspan: columns.length, class: 'below' }, below);
  return [row, el('tr', { role: 'row', 'data-key': `${key} below`, class: 'below-row' }, cell)];
}

/** Buttons for newer and older pages of a list; the view reads `data-page`. */
export const pager = ({ page, more }) =>
  page === 0 && !more
    ? null
    : el(
        'nav',
        { class: 'pager', 'aria-label': 'Pages' },
        el('button', { type: 'button', class: 'quiet', 'data-page': page - 1, disabled: page === 0 }, 'Newer'),
        el('span', {}, `Page ${page + 1}`),
        el('button', { type: 'button', class: 'quiet', 'data-page': page + 1, disabled: !more }, 'Older'),
      );
