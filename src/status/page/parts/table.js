// @ts-check
// Tables that work on a phone: there rows become cards, and each cell shows the name of its column. Roles are explicit,
// because a changed CSS display removes the implicit ones. While the pointer or the focus is in a table its rows keep
// their order, under the pointer their sizes and their place on the screen too, so that nobody presses a button of the
// wrong row.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { href, readAddress } from '../address.js';
import { html } from '../html.js';
import { t } from '../texts.js';
import { Empty } from './words.js';

/** @typedef {{key: string, cells: any[], class?: string, below?: any}} Row */

/** Rows in the order of `before`; rows that are new come last. @type {(rows: Row[], before: string[]) => Row[]} */
function inOrder(rows, before) {
  const place = new Map(before.map((key, index) => [key, index]));
  return rows.toSorted((a, b) => (place.get(a.key) ?? before.length) - (place.get(b.key) ?? before.length));
}

const headOf = (/** @type {HTMLTableElement} */ table) => [...(table.tHead?.rows[0]?.cells ?? [])];

/** Keeps columns as wide and rows at least as high as they are now. */
function keepSizes(/** @type {HTMLTableElement} */ table) {
  const widths = headOf(table).map((cell) => cell.getBoundingClientRect().width);
  const heights = Array.from(table.rows, (row) => row.getBoundingClientRect().height);
  table.style.tableLayout = 'fixed';
  for (const [n, cell] of headOf(table).entries()) cell.style.width = `${widths[n]}px`;
  for (const [n, row] of [...table.rows].entries()) row.style.setProperty('--kept', `${heights[n]}px`);
}

function releaseSizes(/** @type {HTMLTableElement} */ table) {
  table.style.tableLayout = '';
  for (const cell of headOf(table)) cell.style.width = '';
  for (const row of table.rows) row.style.removeProperty('--kept');
}

const topInPage = (/** @type {Element} */ element) => element.getBoundingClientRect().top + scrollY;

/** Scrolls by as much as an update moves the row under the pointer. */
function usePinnedRow(/** @type {boolean} */ isPointed) {
  const pinned = useRef({ row: /** @type {Element | null} */ (null), top: 0 });
  useLayoutEffect(() => {
    const { row, top } = pinned.current;
    if (!isPointed || !row?.isConnected) return;
    pinned.current.top = topInPage(row);
    scrollBy(0, pinned.current.top - top);
  });
  return (/** @type {any} */ { target }) => {
    const row = target.closest('tr');
    if (row !== null) pinned.current = { row, top: topInPage(row) };
  };
}

/**
 * @param {{caption: string, columns: {name: string, class?: string, unseen?: boolean}[], rows: Row[], empty: string}} props
 */
export function Table({ caption, columns, rows, empty }) {
  const [isHeld, setHeld] = useState({ pointer: false, focus: false });
  const shown = useRef(/** @type {string[]} */ ([]));
  const pin = usePinnedRow(isHeld.pointer);
  if (rows.length === 0) return html`<${Empty}>${empty}<//>`;
  const ordered = isHeld.pointer || isHeld.focus ? inOrder(rows, shown.current) : rows;
  shown.current = ordered.map(({ key }) => key);
  const hold = (/** @type {object} */ change) => setHeld((held) => ({ ...held, ...change }));
  const point = (/** @type {boolean} */ pointer) => (/** @type {any} */ event) => {
    (pointer ? keepSizes : releaseSizes)(event.currentTarget);
    hold({ pointer });
  };
  return html`<div class="table-frame">
    <table role="table" onPointerEnter=${point(true)} onPointerLeave=${point(false)} onPointerOver=${pin}
      onFocusIn=${() => hold({ focus: true })} onFocusOut=${() => hold({ focus: false })}>
      <caption class="unseen">${caption}</caption>
      <thead role="rowgroup"><tr role="row">
        ${columns.map(
          (column) => html`<th role="columnheader" scope="col" class=${column.class}>
            ${column.unseen ? html`<span class="unseen">${column.name}</span>` : column.name}</th>`,
        )}
      </tr></thead>
      <tbody role="rowgroup">${ordered.flatMap((row) => bodyRows(columns, row))}</tbody>
    </table>
  </div>`;
}

function bodyRows(/** @type {any[]} */ columns, /** @type {Row} */ { key, cells, class: own = '', below }) {
  const filled = cells.map((cell, index) => {
    const { name, class: kind, unseen } = columns[index];
    return index === 0
      ? html`<th role="rowheader" scope="row" class=${kind}>${cell}</th>`
      : html`<td role="cell" class=${kind} data-label=${unseen ? undefined : name}>${cell}</td>`;
  });
  const row = html`<tr role="row" key=${key} class=${`${own} ${below ? 'has-below' : ''}`.trim() || undefined}>${filled}</tr>`;
  if (!below) return [row];
  const cell = html`<td role="cell" colspan=${columns.length} class="below">${below}</td>`;
  return [row, html`<tr role="row" key="${key} below" class="below-row">${cell}</tr>`];
}

/**
 * Links to newer and older pages of the list that was read last: they stay while the next page is on its way, for one of
 * them has the focus.
 * @param {{of: {last?: {page: number, more: boolean}}}} props
 */
export function Pager({ of: { last } }) {
  if (last === undefined || (last.page === 0 && !last.more)) return null;
  const { page, more } = last;
  const { view, args, query } = readAddress();
  const link = (/** @type {number} */ to, /** @type {string} */ words, /** @type {boolean} */ isOff) =>
    isOff
      ? html`<span class="button quiet" aria-disabled="true">${words}</span>`
      : html`<a class="button quiet" href=${href(view, args, { ...query, page: to === 0 ? '' : to })}>${words}</a>`;
  return html`<nav class="pager" aria-label=${t('list.pages')}>
    ${link(page - 1, t('list.newer'), page === 0)}
    <span>${t('list.page', { page: page + 1 })}</span>
    ${link(page + 1, t('list.older'), !more)}
  </nav>`;
}
