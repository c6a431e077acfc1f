// roadbook tables: the data dictionary, from the declarations.
import { type Command, Option } from 'commander';
import { type DictionaryColumn, type DictionaryEntry, dictionary } from '../warehouse/schema/dictionary.ts';
import { fillCommand, print } from './command.ts';
import { dbtSources } from './output/dbt-sources.ts';
import { textTable } from './output/text-table.ts';

interface TablesOptions {
  markdown: boolean;
  dbt: boolean;
}

export const fillTables = (command: Command): Command =>
  fillCommand<TablesOptions>(command, {
    options: (command) =>
      command
        .option('--markdown', 'print it as Markdown', false)
        .addOption(
          new Option('--dbt', 'print it as a sources.yml of dbt').default(false).conflicts('markdown'),
        ),
    action: async (_args, { json, markdown, dbt }) => {
      const entries = dictionary();
      if (json) print(JSON.stringify(entries, null, 2));
      else if (dbt) print(dbtSources().trimEnd());
      else if (markdown) print([PREFACE, contents(entries), ...entries.map(asMarkdown)].join('\n\n'));
      else print(entries.map(asText).join('\n\n'));
      return 0;
    },
  });

const HEAD = ['column', 'type', 'source', 'privacy', 'meaning'];

const facts = ({ name, type, source, meaning, is_key, is_personal }: DictionaryColumn): string[] => [
  is_key ? `${name} (key)` : name,
  type,
  source ?? '',
  is_personal ? 'personal' : '',
  meaning,
];

const PREFACE = `# Warehouse

Every view, table and column, written by \`npm run docs\` from the declarations. The views \`bi_*\` are the stable
surface: start there. Instants are UTC; in SQLite they are ISO 8601 text with milliseconds and \`Z\`. Days are local
dates, \`local\` is wall-clock time of the configured zone, booleans are 0 and 1 in SQLite. A source is the field of
the service's record, or the column that a view shows; it is empty for what Roadbook makes itself.`;

const KINDS: Readonly<Record<DictionaryEntry['kind'], string>> = {
  view: 'Views for BI',
  base: 'Records of the service',
  control: 'Code lists and control tables',
};

const contents = (entries: readonly DictionaryEntry[]): string =>
  Object.entries(KINDS)
    .map(([kind, words]) => {
      const names = entries.filter((entry) => entry.kind === kind).map(({ name }) => `[${name}](#${name})`);
      return `${words}: ${names.join(', ')}.`;
    })
    .join('\n\n');

const title = ({ meaning, call }: DictionaryEntry): string =>
  meaning + (call === null ? '' : ` From ${call}.`);

const asText = (entry: DictionaryEntry): string =>
  `${entry.name}: ${title(entry)}\n${textTable(HEAD, entry.columns.map(facts))}`;

const asMarkdown = (entry: DictionaryEntry): string =>
  [
    `## ${entry.name}`,
    '',
    title(entry),
    '',
    `| ${HEAD.join(' | ')} |`,
    `|${HEAD.map(() => '---|').join('')}`,
    ...entry.columns.map((column) => `| ${facts(column).join(' | ')} |`),
  ].join('\n');
