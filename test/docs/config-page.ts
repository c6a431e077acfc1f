// docs/reference/config.md, made of the JSON Schema of the configuration.

/** As much of JSON Schema as the configuration uses. */
interface Schema {
  type?: string | string[];
  /** The kind of a text, such as `duration`. */
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  definitions?: Record<string, Schema>;
  /** Added by this page: the engine that has the key cannot do without it. */
  isRequired?: boolean;
}

const HEAD = `# Configuration

Written by \`npm run docs\` from the schema of the file, which is also \`config/roadbook.schema.json\`. The first line of
\`config/roadbook.yaml\` names it, so editors complete and check the file.

- The file is YAML. Leave out what you do not change: every key has a default, except those marked *required*. An unknown key is
  an error.
- \`\${NAME}\` and \`\${NAME:-default}\` take environment variables; \`.env\` in the folder in which the command runs is read too.
  \`\${file:PATH}\` takes the content of a secret file.
- Durations are \`90s\`, \`10m\`, \`6h\`, \`7d\`. Relative paths start at the folder in which the command runs.
- \`npx roadbook config check\` lists every error with line, column and a hint.
- A running daemon takes over an edit within two seconds; [how](../how-to/run-day-to-day.md#edit-the-configuration).`;

/** Keys of a job that mean the same in each; the schedule is listed with the job, because its default differs. */
const COMMON = new Set(['enabled', 'timezone']);

const FEEDS = `Each kind has one feed: \`route_plans\`, \`points_of_interest\`, \`agents\`, \`itineraries\`. A kind without a feed is
not pushed. [erp-feeds.md](erp-feeds.md#settings) lists the keys of a feed, and which it requires.`;

const PRIVACY = `Each personal column can be given a policy as \`table.column\`: \`keep\`, \`mask\`, \`hash\` or \`drop\`.
[privacy.md](../explanation/privacy.md) explains them.`;

export function configPage(root: Schema): string {
  const sections = propertiesOf(root);
  const top = sections.filter(([, schema]) => propertiesOf(schema).length === 0);
  return `${[
    HEAD,
    `## Top level\n\n${tableOf(top)}`,
    ...sections.filter(([, schema]) => propertiesOf(schema).length > 0).map(([name, schema]) => section(name, schema)),
  ].join('\n\n')}\n`;
}

function section(name: string, schema: Schema): string {
  const opening = `## ${name}\n\n${schema.description ?? ''}`;
  if (name === 'erp') return `${opening}\n\n${FEEDS}`;
  if (name === 'privacy') return `${opening}\n\n${PRIVACY}\n\n${tableOf(propertiesOf(schema))}`;
  if (name === 'warehouse') return `${opening}\n\n${tableOf(keysByEngine(schema))}`;
  if (name !== 'jobs') return `${opening}\n\n${tableOf(propertiesOf(schema))}`;
  const jobs = propertiesOf(schema);
  const common = propertiesOf(jobs[0]?.[1] ?? {}).filter(([key]) => COMMON.has(key));
  return [
    `${opening} These keys are the same for every job:`,
    tableOf(common),
    ...jobs.map(([job, own]) => {
      const rows = propertiesOf(own).filter(([key]) => !COMMON.has(key));
      return `### ${job}\n\n${tableOf(rows)}`;
    }),
  ].join('\n\n');
}

/** Of an object, or of the alternatives that are objects. A key of several alternatives takes the values of each. */
function propertiesOf(schema: Schema): [string, Schema][] {
  const all = new Map<string, Schema>();
  for (const each of [schema, ...alternatives(schema)]) {
    for (const [key, value] of Object.entries(each.properties ?? {})) {
      const known = all.get(key);
      all.set(key, known === undefined ? value : { ...value, ...known, anyOf: [known, value] });
    }
  }
  return [...all];
}

/** The keys of all engines first, then those of each. */
function keysByEngine(schema: Schema): [string, Schema][] {
  const engines = alternatives(schema).filter(({ properties }) => properties?.engine !== undefined);
  const isShared = (key: string): boolean => engines.every(({ properties }) => properties?.[key] !== undefined);
  const own = engines.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties)
      .filter(([key]) => !isShared(key))
      .map(([key, value]): [string, Schema] => {
        const description = `With \`engine: ${properties.engine?.const}\`: ${value.description}`;
        return [key, { ...value, description, isRequired: required.includes(key) }];
      }),
  );
  return [...propertiesOf(schema).filter(([key]) => isShared(key)), ...own];
}

const alternatives = ({ anyOf = [], oneOf = [], allOf = [] }: Schema): Schema[] =>
  [...anyOf, ...oneOf, ...allOf].flatMap((each) => [each, ...alternatives(each)]);

const tableOf = (rows: readonly [string, Schema][]): string =>
  [
    '| key | values | default | meaning |',
    '|---|---|---|---|',
    ...rows.flatMap(([key, value]) => rowsOf(key, value)),
  ].join('\n');

function rowsOf(key: string, schema: Schema): string[] {
  const meaning = (schema.description ?? '').replace(DEFAULT, '').replaceAll('|', '\\|');
  const inner = propertiesOf(schema).flatMap(([name, value]) => rowsOf(`${key}.${name}`, value));
  return [`| \`${key}\` | ${valuesOf(schema)} | ${defaultOf(schema)} | ${meaning} |`, ...inner];
}

/** How a description ends that names its default. */
const DEFAULT = / \(default ([^()]*)\)/;

const defaultOf = ({ default: value, description = '', isRequired }: Schema): string => {
  if (isRequired) return 'required';
  if (value === undefined) return DEFAULT.exec(description)?.[1] ?? '';
  return value === '' ? 'empty' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
};

/** Words where there are any, and `list` if one may stand instead; otherwise the kind of a text, or the type. */
function valuesOf(schema: Schema): string {
  const all = [schema, ...alternatives(schema)];
  const words = all.flatMap((each) => each.enum ?? (each.const === undefined ? [] : [each.const]));
  const list = all.some((each) => each.type === 'array') ? ['list'] : [];
  if (words.length > 0) return [...[...new Set(words)].map((word) => `\`${word}\``), ...list].join(', ');
  const title = all.find((each) => each.title !== undefined)?.title;
  if (title !== undefined) return title;
  const [type] = all.flatMap((each) => each.type ?? []).filter((each) => each !== 'null');
  return TYPES[type ?? ''] ?? '';
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: '`true`, `false`',
  array: 'list',
  object: 'keys below',
};
