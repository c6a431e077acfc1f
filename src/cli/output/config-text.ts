// A commented configuration file from the answers of `roadbook init`, and the tables that its statements write to.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the file refers to environment variables.
import { stringify } from 'yaml';
import type { Mapping } from '../../erp/rows/mapping.ts';
import type { Answers } from '../init/questions.ts';

/** Quotes a text that YAML would read as something else, and escapes what would be a reference. */
const scalar = (text: string): string => literal(text).trimEnd();
const literal = (value: unknown): string => stringify(value, { lineWidth: 0 }).replaceAll('${', () => '$${');

const indented = (text: string, spaces: number): string => text.trimEnd().replace(/^(?=.)/gm, ' '.repeat(spaces));

export const configText = (
  answers: Answers,
  mapping: Mapping,
  /** The feed has a column of `point.order`. */
  isOrdered = false,
) => `# yaml-language-server: $schema=./roadbook.schema.json
#
# The configuration of Roadbook, written by \`npx roadbook init\`. Every key has a default: docs/reference/config.md.
# \${NAME} takes an environment variable, also from .env. Check an edit with: npx roadbook config check

timezone: ${scalar(answers.timezone)}   # of schedules and of local days

service:
  base_url: ${scalar(answers.service)}   # \`sandbox\` starts the built-in simulated service
  username: \${ROADBOOK_USERNAME:-demo}
  parent_username: \${ROADBOOK_PARENT_USERNAME:-00000000000000}
  password: \${ROADBOOK_PASSWORD:-demo}
  realm: \${ROADBOOK_REALM:-demo}

warehouse:
${warehouseText(answers)}

erp:   # one feed a kind: points_of_interest, agents and itineraries may have one too; docs/how-to/connect-erp.md
${feedText(answers)}${answers.source === 'none' ? '' : optionsText(isOrdered)}${mappingText(mapping)}

status: { token: "\${ROADBOOK_STATUS_TOKEN:-}" }   # without a token, the page only shows

jobs: {}   # every job takes its declared defaults
`;

const warehouseText = ({ warehouse }: Answers): string =>
  warehouse === 'postgres'
    ? '  engine: postgres\n  url: ${ROADBOOK_WAREHOUSE_URL}\n  schema: fleet'
    : `  engine: sqlite\n  file: ${scalar(warehouse)}`;

const formatsText = ({ dates, decimal }: Answers): string => `
    ${dates === '' ? '# dates: dd/MM/yyyy   # if a date could mean two days' : `dates: ${scalar(dates)}`}
    ${decimal === '' ? '# decimal: comma   # if a number could mean two values' : `decimal: ${decimal}`}`;

function feedText(answers: Answers): string {
  switch (answers.source) {
    case 'files':
      return `  route_plans:
    source: files
    folder: ${scalar(answers.folder)}${formatsText(answers)}`;
    case 'sql':
      return `  route_plans:
    source: sql
    client: ${answers.client}
    connection: \${ERP_DATABASE_URL}
    # Order the rows by the code of the plan. Once roadbook-tables.sql was run, leave out what has started and was acknowledged;
    # a rejected plan comes again until a week after its start, and is sent when it was corrected:
    #   where the start of the plan > seven days ago and (the start of the plan > now or not exists (select 1
    #     from roadbook_outcome r where r.external_code = the code of the plan, as text, and r.state not in ('rejected', 'unknown')))
    # If the ERP enters the next use of a code only after its start, this hides it: write the outcome into the ERP's own row instead.
${indented(literal({ query: answers.query }), 4)}
    # Both write to tables of Roadbook's own, see roadbook-tables.sql. Remove them if the ERP need not know.
${indented(literal(statementsFor(answers.client)), 4)}${formatsText(answers)}`;
    case 'http':
      return `  route_plans:
    source: http
    url: ${scalar(answers.url)}
    headers: { authorization: "\${ERP_AUTHORIZATION:-}" }
    records: ${scalar(answers.records)}   # dotted path to the list in the answer; empty if the answer is the list
    # acknowledge_url: https://…   # gets the state of each plan
    # return_url: https://…   # gets the outcomes of stops${formatsText(answers)}`;
    default:
      return '  {}';
  }
}

const optionsText = (isOrdered: boolean): string =>
  `\n    ${isOrdered ? '' : '# '}options: { optimize: false }   # keeps the order of point.order; else the service chooses its own`;

const mappingText = (mapping: Mapping): string =>
  Object.keys(mapping).length === 0
    ? ''
    : `\n    mapping:   # proposed: check it. Codes are translated: { column: TIPO, values: { E: Entrega, C: Coleta } }\n${indented(literal(mapping), 6)}`;

interface Table {
  name: string;
  keys: readonly string[];
  /** Type of each column that is no key. */
  columns: Readonly<Record<string, 'code' | 'text' | 'integer'>>;
}

const OUTCOME: Table = {
  name: 'roadbook_outcome',
  keys: ['external_code'],
  columns: { state: 'code', remote_id: 'integer', message: 'text' },
};
const STOP: Table = {
  name: 'roadbook_stop',
  keys: ['plan_external_code', 'point_external_code'],
  // An instant as ISO text in UTC, which every database stores unchanged.
  columns: { status: 'code', executed_at: 'code', reason: 'text' },
};

const TYPES: Readonly<Record<string, Record<'code' | 'text' | 'integer', string>>> = {
  mssql: { code: 'nvarchar(100)', text: 'nvarchar(max)', integer: 'bigint' },
  oracledb: { code: 'varchar2(100)', text: 'varchar2(4000)', integer: 'number(19)' },
};
const USUAL_TYPES = { code: 'varchar(100)', text: 'text', integer: 'bigint' };

export const tablesText = (client: string): string =>
  `-- The tables that the statements in the configuration write to. Run this once in the database of the ERP, and grant
-- Roadbook's user select, insert, update and delete on both.
${[OUTCOME, STOP].map((table) => createTable(client, table)).join('\n')}`;

function createTable(client: string, { name, keys, columns }: Table): string {
  const types = TYPES[client] ?? USUAL_TYPES;
  const lines = [
    ...keys.map((key) => `${key} ${types.code} not null`),
    ...Object.entries(columns).map(([column, type]) => `${column} ${types[type]}`),
    `primary key (${keys.join(', ')})`,
  ];
  return `create table ${name} (\n  ${lines.join(',\n  ')}\n);\n`;
}

const statementsFor = (client: string) => ({ acknowledge: upsert(client, OUTCOME), return: upsert(client, STOP) });

/** Inserts the row or replaces the one with its key: run again with the same values, it changes nothing. */
function upsert(client: string, { name, keys, columns }: Table): string {
  const others = Object.keys(columns);
  const all = [...keys, ...others];
  const [names, values] = [all.join(', '), all.map((column) => `:${column}`).join(', ')];
  const set = (value: (column: string) => string) => others.map((column) => `${column} = ${value(column)}`).join(', ');
  const bound = (column: string): string => `:${column}`;
  if (client === 'mysql2') return `replace into ${name} (${names})\nvalues (${values})\n`;
  if (client !== 'mssql' && client !== 'oracledb')
    return `insert into ${name} (${names})\nvalues (${values})\non conflict (${keys.join(', ')}) do update set ${set((column) => `excluded.${column}`)}\n`;
  const isOracle = client === 'oracledb';
  const row = `select ${keys.map((key) => `:${key} as ${key}`).join(', ')}${isOracle ? ' from dual' : ''}`;
  const isSame = keys.map((key) => `r.${key} = n.${key}`).join(' and ');
  return `merge into ${name} ${isOracle ? '' : 'with (holdlock) '}r
using (${row}) n on (${isSame})
when matched then update set ${set(bound)}
when not matched then insert (${names}) values (${values})${isOracle ? '' : ';'}\n`;
}
