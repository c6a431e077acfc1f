// The questions of `roadbook init`. Each has an option of the same name, so that a script can answer it too. Answers that are
// credentials go to `.env`. A variable that the environment has is not asked for, because it takes precedence over `.env`.
import { existsSync, readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { say, usageError } from '../command.ts';

interface Question {
  name: string;
  message: string;
  /** The answer where none is given; empty if absent. */
  fallback?: string;
  choices?: readonly string[];
  /** The environment variable that gets the answer. */
  variable?: string;
  isHidden?: boolean;
  isNeeded?: boolean;
  isAsked?(answers: Texts): boolean;
}

type Texts = Readonly<Record<string, string>>;

const isReal = ({ service }: Texts): boolean => service !== 'sandbox';
const isFrom =
  (source: string) =>
  (answers: Texts): boolean =>
    answers.source === source;
const [isFiles, isSql, isHttp] = [isFrom('files'), isFrom('sql'), isFrom('http')];

/** The questions of each part, which is tried once they are answered. */
export const PARTS = {
  company: [{ name: 'timezone', message: 'Time zone of the company', fallback: 'America/Sao_Paulo' }],
  warehouse: [
    {
      name: 'warehouse',
      message: 'Warehouse: file of a SQLite database, or `postgres`',
      fallback: 'data/warehouse.db',
    },
    {
      name: 'warehouseUrl',
      message: 'Address of the PostgreSQL database, postgres://user:password@host/database',
      variable: 'ROADBOOK_WAREHOUSE_URL',
      isHidden: true,
      isNeeded: true,
      isAsked: ({ warehouse }) => warehouse === 'postgres',
    },
  ],
  service: [
    {
      name: 'service',
      message: 'Address of the service, or `sandbox` for the built-in simulated one',
      fallback: 'sandbox',
    },
    { name: 'username', message: 'User name at the service', variable: 'ROADBOOK_USERNAME', isAsked: isReal },
    {
      name: 'parentUsername',
      message: 'User name of the parent account',
      variable: 'ROADBOOK_PARENT_USERNAME',
      isAsked: isReal,
    },
    { name: 'realm', message: 'Realm of the account', variable: 'ROADBOOK_REALM', isAsked: isReal },
    {
      name: 'password',
      message: 'Password at the service',
      variable: 'ROADBOOK_PASSWORD',
      isHidden: true,
      isAsked: isReal,
    },
  ],
  feed: [
    {
      name: 'source',
      message: 'Where route plans come from',
      choices: ['files', 'sql', 'http', 'none'],
      fallback: 'files',
    },
    {
      name: 'folder',
      message: 'Folder into which the ERP drops its files',
      fallback: 'data/erp/route-plans',
      isAsked: isFiles,
    },
    { name: 'sample', message: 'Sample file of the ERP, to propose a mapping (empty: none)', isAsked: isFiles },
    {
      name: 'client',
      message: 'Database of the ERP (mysql2 is also for MariaDB)',
      choices: ['mysql2', 'pg', 'mssql', 'oracledb', 'sqlite3'],
      fallback: 'mysql2',
      isAsked: isSql,
    },
    {
      name: 'connection',
      message:
        "Address of the ERP's database, such as mysql://user:password@host/database (or postgres://, mssql://, oracledb://); for SQLite, its file",
      variable: 'ERP_DATABASE_URL',
      isHidden: true,
      isNeeded: true,
      isAsked: isSql,
    },
    {
      name: 'query',
      message: 'Query that returns one row a stop, or the name of a .sql file that has it',
      isNeeded: true,
      isAsked: isSql,
    },
    { name: 'url', message: 'Address that returns the plans as JSON', isNeeded: true, isAsked: isHttp },
    {
      name: 'authorization',
      message: 'Authorization header of its requests, such as `Bearer …` (empty: none)',
      variable: 'ERP_AUTHORIZATION',
      isHidden: true,
      isAsked: isHttp,
    },
    { name: 'records', message: 'Dotted path to the list in the answer (empty: the answer)', isAsked: isHttp },
  ],
  /** Asked only if a value of the feed could mean two things. */
  formats: [
    {
      name: 'dates',
      message: 'Form of dates in the feed, if they could mean two days',
      choices: ['dd/MM/yyyy', 'MM/dd/yyyy', 'dd/MM/yy', 'MM/dd/yy'],
    },
    {
      name: 'decimal',
      message: 'Decimal mark of numbers in the feed, if they could mean two values',
      choices: ['comma', 'point'],
    },
  ],
} as const satisfies Record<string, readonly Question[]>;

/** All texts; empty if there is no answer. */
export type Answers = Record<(typeof PARTS)[keyof typeof PARTS][number]['name'], string>;

const QUESTIONS = Object.values(PARTS).flat() as readonly (Question & { name: keyof Answers })[];

export const DEFAULTS = Object.fromEntries(QUESTIONS.map(({ name, fallback = '' }) => [name, fallback])) as Answers;

export const optionOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function addQuestionOptions(command: Command): Command {
  for (const { name, message, choices, variable } of QUESTIONS) {
    const place = variable === undefined ? '' : `; written to .env as ${variable}`;
    const option = new Option(`${optionOf(name)} <answer>`, `${message}${place}`);
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  return command;
}

/** The answers that belong into `.env`, by variable. */
export const variablesOf = (answers: Answers): Record<string, string> =>
  Object.fromEntries(
    QUESTIONS.flatMap(({ name, variable, isAsked }) =>
      variable !== undefined && answers[name] !== '' && isAsked?.(answers) !== false ? [[variable, answers[name]]] : [],
    ),
  );

/** The variables that the environment alone has. */
export const unwrittenOf = (answers: Answers, stored: Interview['stored']): string[] =>
  QUESTIONS.flatMap(({ name, variable = '', isAsked }) =>
    answers[name] === '' && isAsked?.(answers) !== false && (process.env[variable] ?? '') !== '' ? [variable] : [],
  ).filter((variable) => stored[variable] === undefined);

export interface Interview {
  /** Answers of the options. */
  given: Partial<Answers>;
  /** False: what no option answers takes its default. */
  isAsking: boolean;
  /** The variables of `.env`. */
  stored: Readonly<Record<string, string>>;
}

/** Answers the questions of a part. `isAgain`: also those that an option answers, to correct them. */
export async function askPart(
  questions: readonly (typeof QUESTIONS)[number][],
  before: Answers,
  { given, isAsking, stored }: Interview,
  isAgain: boolean,
): Promise<Answers> {
  const answers = { ...before };
  for (const question of questions) {
    const { name, variable, isAsked } = question;
    if (isAsked?.(answers) === false) continue;
    const isSet = variable !== undefined && (process.env[variable] ?? '') !== '';
    if (isSet && isAsking) say(`${variable} is set in the environment.`);
    const isKnown = isSet || (variable !== undefined && (stored[variable] ?? '') !== '');
    if (given[name] !== undefined && !isAgain) answers[name] = given[name];
    else if (isAsking && !isSet) answers[name] = await ask(question, answers[name], isKnown);
    const fault = faultOf(question, answers[name], isKnown);
    if (fault !== undefined)
      throw usageError(
        `${fault} Asked for: ${question.message}`,
        `Add ${optionOf(name)}${variable === undefined ? '' : `, or set ${variable}`}.`,
      );
  }
  if (/^postgres(?:ql)?:\/\//.test(answers.warehouse))
    Object.assign(answers, { warehouse: 'postgres', warehouseUrl: answers.warehouse });
  return answers;
}

const isFileName = (query: string): boolean => /^\S+\.sql$/.test(query);

/** The file is read each time: a person may correct it between two tries. */
export const queryText = ({ query }: Answers): string => (isFileName(query) ? readFileSync(query, 'utf8') : query);

function faultOf({ name, isNeeded }: Question, answer: string, isKnown: boolean): string | undefined {
  if (answer === '' && isNeeded && !isKnown) return 'An answer is needed.';
  return name === 'query' && isFileName(answer) && !existsSync(answer) ? `There is no file ${answer}.` : undefined;
}

async function ask(question: Question, fallback: string, isKnown: boolean): Promise<string> {
  const { message, choices, isHidden } = question;
  const { input, password, select } = await prompts();
  const text = isKnown ? `${message} (empty: as in .env)` : message;
  if (choices !== undefined) return select({ message, choices, default: fallback }, OUTPUT);
  const validate = (answer: string) => faultOf(question, answer, isKnown) ?? true;
  if (!isHidden) return input({ message: text, default: fallback, validate }, OUTPUT);
  const typed = await password({ message: text, validate: (answer) => validate(answer || fallback) }, OUTPUT);
  return typed || fallback;
}

/** Loaded on first use: only this command asks. Standard output is for data. */
export const prompts = () => import('@inquirer/prompts');
export const OUTPUT = { output: process.stderr };

export async function askYes(message: string, fallback: boolean): Promise<boolean> {
  const { confirm } = await prompts();
  return confirm({ message, default: fallback }, OUTPUT);
}

/** Ctrl-C at a question. */
export const isStop = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'ExitPromptError';
