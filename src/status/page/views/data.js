// The tables with their rows and freshness, the invalid records in quarantine, and the dictionary.
import { read } from '../api.js';
import { el } from '../dom.js';
import { orderButton } from '../orders.js';
import { pager, table } from '../tables.js';
import { count, plural, ticking } from '../words.js';

export const title = 'Data';

const filter = { page: 0, table: '', word: '' };
let dictionary;
/** Tables whose columns are shown. Building the columns of all tables would be slow on an old machine. */
const opened = new Set();

export async function load(_, live) {
  dictionary ??= (await read('dictionary')).tables;
  const [status, quarantine] = await Promise.all([
    live ?? read('overview'),
    read('quarantine', { page: filter.page, table: filter.table }),
  ]);
  return { status, quarantine, dictionary };
}

export const render = ({ status, quarantine, dictionary: tables }) => [
  el('h1', {}, 'Data'),
  el('h2', {}, 'Tables'),
  table(
    'Tables with rows and freshness',
    COLUMNS,
    status.tables.map((each) => row(each, tables)),
    'There are no tables.',
  ),
  el('h2', {}, 'Quarantine'),
  showQuarantine(quarantine, status),
  el('h2', {}, 'Dictionary'),
  el(
    'div',
    { class: 'filters' },
    el(
      'label',
      {},
      el('span', {}, 'Find'),
      el('input', {
        type: 'search',
        'data-filter': 'word',
        value: filter.word,
        placeholder: 'table, view or column',
        autocomplete: 'off',
      }),
    ),
  ),
  el('div', { class: 'dictionary' }, tables.filter(fits).map(entry)),
];

const COLUMNS = [
  { name: 'Table', class: 'job' },
  { name: 'Rows', class: 'number' },
  { name: 'Read' },
  { name: 'Last change' },
];

const none = () => el('span', { class: 'faint' }, 'never');

const row = (each, tables) => ({
  key: each.name,
  cells: [
    [
      el('span', { class: 'name' }, each.name),
      el('span', { class: 'meaning' }, tables.find(({ name }) => name === each.name)?.meaning ?? ''),
    ],
    count(each.rows),
    each.read_at === null ? none() : ticking('ago', each.read_at),
    each.last_change_at === null ? none() : ticking('ago', each.last_change_at),
  ],
});

function showQuarantine({ total, rows, page, more }, { tables }) {
  if (total === 0) return el('p', { class: 'empty' }, 'No record is in quarantine.');
  return [
    el('p', { class: 'hint' }, `${plural(total, 'invalid record')}. Only values declared as not personal are shown.`),
    el(
      'div',
      { class: 'filters' },
      el(
        'label',
        {},
        el('span', {}, 'Table'),
        el(
          'select',
          { 'data-filter': 'table' },
          ['', ...tables.map(({ name }) => name)].map((name) =>
            el('option', { value: name, selected: name === filter.table }, name === '' ? 'all' : name),
          ),
        ),
      ),
    ),
    el('div', { class: 'records' }, rows.map(record)),
    rows.length === 0 ? el('p', { class: 'empty' }, 'No records of this table.') : null,
    pager({ page, more }),
  ];
}

const record = ({ id, table_name, record_key, reason, payload, times, last_seen_at, job }) =>
  el(
    'details',
    { class: 'record', 'data-key': id },
    el(
      'summary',
      {},
      el('strong', {}, table_name),
      ' ',
      el('span', { dir: 'auto' }, record_key ?? ''),
      el('span', { class: 'reason', dir: 'auto' }, reason),
    ),
    el('p', { class: 'faint' }, `read ${plural(times, 'time')} by ${job}, last `, ticking('ago', last_seen_at)),
    el('pre', { dir: 'auto', tabindex: '0', 'aria-label': 'Masked record' }, JSON.stringify(payload, null, 2)),
    el('p', { class: 'buttons' }, orderButton('Retry', 'quarantine/retry', { body: { id } })),
  );

const fits = ({ name, columns }) => {
  const word = filter.word.toLowerCase();
  return word === '' || name.includes(word) || columns.some((column) => column.name.includes(word));
};

const KINDS = { view: 'view for BI', base: 'from the service', control: 'internal to Roadbook' };

const entry = ({ name, kind, meaning, call, columns }) =>
  el(
    'details',
    { 'data-key': name, 'data-table': name },
    el('summary', {}, el('strong', {}, name), el('span', { class: 'reason' }, meaning)),
    el('p', { class: 'faint' }, [KINDS[kind] ?? kind, call, `key: ${keyOf(columns)}`].filter(Boolean).join(' · ')),
    opened.has(name) ? columnTable(name, columns) : null,
  );

const keyOf = (columns) =>
  columns
    .filter(({ is_key }) => is_key)
    .map(({ name }) => name)
    .join(', ');

const columnTable = (name, columns) =>
  table(
    `Columns of ${name}`,
    [{ name: 'Column' }, { name: 'Type' }, { name: 'Source' }, { name: 'Meaning', class: 'wide' }],
    columns.map((column) => ({
      key: column.name,
      cells: [
        el('code', {}, column.name),
        column.type,
        column.source === null ? null : el('code', {}, column.source),
        [column.meaning, column.is_personal ? el('span', { class: 'tag' }, 'personal') : null],
      ],
    })),
    'None.',
  );

export function toggle({ target }, again) {
  const { table: name } = target.dataset;
  if (name === undefined || opened.has(name) === target.open) return;
  if (target.open) opened.add(name);
  else opened.delete(name);
  again();
}

export function click(event, again) {
  const button = event.target.closest('[data-page]');
  if (button === null) return;
  filter.page = Number(button.dataset.page);
  again();
}

export function input(event, again) {
  const { filter: name } = event.target.dataset;
  if (name === undefined) return;
  Object.assign(filter, { [name]: event.target.value, page: 0 });
  again();
}
