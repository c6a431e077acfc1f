// The dictionary as dbt reads it: a sources.yml with descriptions, tests of the keys, and personal columns marked.
import { stringify } from 'yaml';
import {
  type DictionaryColumn,
  type DictionaryEntry,
  dictionary,
} from '../../warehouse/schema/dictionary.ts';

const PREFACE = `# Written by \`npm run docs\` from the declarations. Put it below models/ of a dbt project.
# The schema is the one of warehouse.schema; tell another with --vars 'roadbook_schema: …'.
`;

export function dbtSources(): string {
  const source = {
    name: 'roadbook',
    description: 'Fleet and delivery data that Roadbook keeps in step with the service.',
    schema: "{{ var('roadbook_schema', 'fleet') }}",
    tables: dictionary().map(tableOf),
  };
  return PREFACE + stringify({ version: 2, sources: [source] }, { lineWidth: 110 });
}

function tableOf({ name, kind, meaning, call, columns }: DictionaryEntry): object {
  const keys = columns.filter(({ is_key }) => is_key);
  return {
    name,
    description: call === null ? meaning : `${meaning} From ${call}.`,
    meta: { kind },
    ...(kind === 'base' ? { loaded_at_field: '_changed_at' } : {}),
    columns: columns.map((column) => columnOf(column, keys.length === 1)),
  };
}

function columnOf(
  { name, type, meaning, is_key, is_required, source, is_personal }: DictionaryColumn,
  isOnlyKey: boolean,
): object {
  const tests = [...(is_key || is_required ? ['not_null'] : []), ...(is_key && isOnlyKey ? ['unique'] : [])];
  return {
    name,
    description: meaning,
    data_type: TYPES[type],
    ...(source === null && !is_personal
      ? {}
      : { meta: { ...(source === null ? {} : { source }), ...(is_personal ? { personal: true } : {}) } }),
    ...(tests.length === 0 ? {} : { data_tests: tests }),
  };
}

/** PostgreSQL's words: dbt-sqlite asks for none. */
const TYPES: Readonly<Record<DictionaryColumn['type'], string>> = {
  integer: 'bigint',
  real: 'double precision',
  text: 'text',
  boolean: 'boolean',
  instant: 'timestamptz',
  local: 'timestamp',
  date: 'date',
  json: 'jsonb',
};
