// A commented configuration file from the answers of `roadbook init`.
import { stringify } from 'yaml';

export interface Answers {
  /** `sandbox` or an address. */
  service: string;
  timezone: string;
  /** A file, or the address of a PostgreSQL database. */
  warehouse: string;
  source: string;
  folder: string;
}

/** An address, or the environment variable that has it. */
const ADDRESS = /^(?:postgres(?:ql)?:\/\/|\$\{)/;

/** Quotes a text that YAML would read as something else. */
const scalar = (text: string): string => stringify(text).trimEnd();

export const configText = (
  answers: Answers,
  mapping: Readonly<Record<string, string>>,
) => `# The configuration of Roadbook, written by \`npx roadbook init\`. Every key has a default: docs/reference/config.md.
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

erp:   # one feed a kind; docs/how-to/connect-erp.md has feeds by SQL and HTTP
${feedText(answers, mapping)}

jobs: {}   # every job takes its declared defaults
`;

const warehouseText = ({ warehouse }: Answers): string =>
  ADDRESS.test(warehouse)
    ? `  engine: postgres\n  url: ${scalar(warehouse)}\n  schema: fleet`
    : `  engine: sqlite\n  file: ${scalar(warehouse)}`;

function feedText({ source, folder }: Answers, mapping: Readonly<Record<string, string>>): string {
  if (source !== 'files') return '  {}';
  const rules = Object.entries(mapping).map(([path, column]) => `\n      ${path}: ${scalar(column)}`);
  const proposed = rules.length === 0 ? '' : `\n    mapping:   # proposed from the sample: check it${rules.join('')}`;
  return `  route_plans:
    source: files
    folder: ${scalar(folder)}
    # dates: dd/MM/yyyy   # if a date could mean two days
    # decimal: comma   # if a number could mean two values${proposed}`;
}
