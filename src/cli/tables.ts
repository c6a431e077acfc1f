// roadbook tables: the data dictionary, from the declarations.
import type { Command } from 'commander';
import { tables } from '../warehouse/catalog.ts';
import type { Column, Table } from '../warehouse/table.ts';
import { addCommand, print } from './command.ts';
import { textTable } from './text-table.ts';

export const addTables = (program: Command): Command =>
  addCommand<{ markdown: boolean }>(program, {
    usage: 'tables',
    summary: 'the data dictionary',
    options: (command) => command.option('--markdown', 'print it as Markdown', false),
    action: async (_args, { json, markdown }) => {
      if (json) print(JSON.stringify(tables, null, 2));
      else if (markdown) print([PREFACE, ...tables.map(asMarkdown)].join('\n\n'));
      else print(tables.map(asText).join('\n\n'));
      return 0;
    },
  });

const facts = (table: Table, column: Column): string[] => [
  table.key.includes(column.name) ? `${column.name} (key)` : column.name,
  column.type,
  table.kind === 'base' && !column.name.startsWith('_') && column.name !== 'extra'
    ? column.from.join('.')
    : '',
  column.personal ? 'personal' : '',
  column.meaning,
];

const PREFACE = `# Warehouse

Every table and column, written by \`npm run docs\` from the declarations. Instants are UTC; in SQLite they are ISO 8601
text with milliseconds and \`Z\`, days are local dates, booleans are 0 and 1.`;

const HEAD = ['column', 'type', 'source field', 'privacy', 'meaning'];

const title = (table: Table): string =>
  table.meaning + (table.source === null ? '' : ` From ${table.source}.`);

const asText = (table: Table): string =>
  `${table.name}: ${title(table)}\n${textTable(
    HEAD,
    table.columns.map((column) => facts(table, column)),
  )}`;

const asMarkdown = (table: Table): string =>
  [
    `## ${table.name}`,
    '',
    title(table),
    '',
    `| ${HEAD.join(' | ')} |`,
    `|${HEAD.map(() => '---|').join('')}`,
    ...table.columns.map((column) => `| ${facts(table, column).join(' | ')} |`),
  ].join('\n');
