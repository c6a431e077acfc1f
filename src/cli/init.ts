// roadbook init: asks for the service, the warehouse and a feed of route plans, tries each, and writes a commented
// configuration. Every answer can be given by an option. Credentials go to `.env`, which only its owner can read.
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { type App, openApp } from '../app/app.ts';
import { readDotenv, withVariables } from '../config/dotenv.ts';
import { makeFolder, replaceFile } from '../core/atomic-file.ts';
import { asRoadbookError, Fatal } from '../core/errors.ts';
import type { CheckReport } from '../erp/check.ts';
import { ifExists } from '../erp/files/gone.ts';
import type { Mapping } from '../erp/rows/mapping.ts';
import { type CommonOptions, defineCommand, print, say, usageError } from './command.ts';
import { schemaText } from './config.ts';
import { checkApp, showChecks } from './doctor.ts';
import { checkFeed, feedExitCode, reportText } from './erp.ts';
import {
  askNeeded,
  type Chosen,
  completePairs,
  isChosen,
  mappingOf,
  missingPaths,
  proposedColumns,
  STOP_CODE,
} from './init/columns.ts';
import {
  type Answers,
  addQuestionOptions,
  askPart,
  askYes,
  DEFAULTS,
  type Interview,
  isStop,
  optionOf,
  PARTS,
  queryText,
  unwrittenOf,
  variablesOf,
} from './init/questions.ts';
import { configText, tablesText } from './output/config-text.ts';
import { exitCodeOf } from './output/exit-codes.ts';
import { VERSION } from './version.ts';

type InitOptions = Partial<Answers> & CommonOptions & { map: string[]; yes: boolean; force: boolean };

interface Setup {
  answers: Answers;
  chosen: Chosen;
  mapping: Mapping;
  /** Required paths for which the feed has no column. */
  missing: readonly string[];
  /** What the feed gives with the mapping; absent if it was not read. */
  feed?: (CheckReport & { text: string }) | undefined;
}

export const define = (command: Command): Command =>
  defineCommand<InitOptions>(command, {
    options: (command) =>
      addQuestionOptions(command)
        .option(
          '--map <path=column...>',
          'column of a canonical path; two are joined: plan.date_time_start=DATA,HORA',
          [],
        )
        .option('--yes', 'take the defaults instead of asking', false)
        .option('--force', 'replace existing files and variables of .env', false),
    action: async (_args, options) => {
      try {
        return await init(options);
      } catch (thrown) {
        if (!isStop(thrown)) throw thrown;
        throw new Fatal('Stopped; nothing was written', { code: 'stopped', hint: 'Run npx roadbook init again.' });
      }
    },
  });

async function init(options: InitOptions): Promise<number> {
  const { config: file, json, yes, ...given } = options;
  const isAsking = !yes && process.stdin.isTTY === true;
  if (!yes && !isAsking)
    say('No terminal to ask in: the defaults are taken where no option is given. --help lists the options.');
  const tables = join(dirname(file), 'roadbook-tables.sql');
  await allowReplacing(file, isAsking, options);
  const interview = { given, isAsking, stored: readDotenv(process.cwd()) };
  const setup = await interviewed(interview, options);
  if (setup.answers.source === 'sql') await allowReplacing(tables, isAsking, options);
  const variables = variablesOf(setup.answers);
  const env = await dotenvWith(variables, interview, options);
  const tried = await tryOut(options, setup, (app) => checkApp(app));
  const checks = tried.map((result) => ({ ...result, found: result.found.replace(draftOf(file), file) }));
  if (env !== undefined) await replaceFile('.env', env, 0o600);
  await replaceFile(file, fileText(setup));
  await replaceFile(join(dirname(file), 'roadbook.schema.json'), `${await schemaText()}\n`);
  if (setup.answers.source === 'sql') await replaceFile(tables, tablesText(setup.answers.client));
  const { mapping, feed } = setup;
  const { items = 0, rejected = 0, text } = feed ?? {};
  print(
    json
      ? JSON.stringify({ file, variables: Object.keys(variables), checks, mapping, items, rejected }, null, 2)
      : [showChecks(checks), ...(text === undefined || isAsking ? [] : [text])].join('\n\n'),
  );
  if (rejected > 0) say(correctionOf(setup));
  const failed = checks.find(({ state }) => state === 'fail');
  if (!json) sayNext(options, setup, interview, failed?.check);
  return failed === undefined ? feedExitCode({ items, rejected }) : exitCodeOf(failed.code ?? 'failed');
}

const fileText = ({ answers, mapping, chosen }: Setup): string =>
  configText({ ...answers, query: queryText(answers) }, mapping, isChosen('point.order', chosen));

function correctionOf({ missing, feed }: Setup): string {
  const { items = 0, rejected = 0 } = feed ?? {};
  const formats = unclearFormats(feed);
  const isReadable = missing.length === 0 && formats.length === 0;
  if (isReadable && items > 0)
    return `${rejected} of ${items + rejected} plans cannot be sent: correct their rows in the ERP.`;
  const what = missing.length === 0 ? 'Not all plans can be sent' : `No column is read as ${missing.join(', ')}`;
  const map = isReadable ? ['PATH=COLUMN'] : missing.map((path) => `${path}=COLUMN`);
  const options = [
    ...(map.length === 0 ? [] : ['--map', ...map]),
    ...formats.map(({ name, choices }) => `${optionOf(name)} <${choices.join('|')}>`),
  ].join(' ');
  return `${what}: correct the feed in the file, or repeat the command with --force and ${options}.`;
}

/** The forms that a reason of the feed asks for, by the name of the setting. */
const unclearFormats = (feed: Setup['feed']) =>
  PARTS.formats.filter(({ name }) => feed?.issues.some(({ reason }) => reason.includes(`\`${name}`)));

function sayNext({ config: file }: InitOptions, setup: Setup, { stored }: Interview, failed?: string): void {
  const { answers, chosen, feed } = setup;
  const [written, unwritten] = [Object.keys(variablesOf(answers)), unwrittenOf(answers, stored)];
  if (written.length > 0) say(`.env has ${written.join(', ')} now; only its owner can read it.`);
  if (unwritten.length > 0)
    say(`Taken from the environment and not written to .env, where the daemon needs it too: ${unwritten.join(', ')}`);
  if (answers.source === 'sql')
    say(`${join(dirname(file), 'roadbook-tables.sql')} has the tables for the outcomes: run it in the ERP's database.`);
  if (answers.source === 'sql' && feed !== undefined && !isChosen(STOP_CODE, chosen))
    say(`No column is read as ${STOP_CODE}, so no outcome of a stop returns: select one, and add it to the mapping.`);
  say(`${file} was written. Try: npx roadbook ${nextCommand(setup, failed)}`);
}

function nextCommand({ answers, feed }: Setup, failed: string | undefined): string {
  if (failed !== undefined) return `doctor, once ${failed} is corrected`;
  if (feed === undefined || feed.rejected === 0) return 'start';
  const sample = sampleOf(answers);
  return `erp check${sample === '' ? '' : ` ${sample}`}, once the plans are corrected`;
}

/** The sample file; empty if the feed is none of files. */
const sampleOf = ({ source, sample }: Setup['answers']): string => (source === 'files' ? sample : '');

async function allowReplacing(file: string, isAsking: boolean, { force }: InitOptions): Promise<void> {
  if (force || (await ifExists(stat(file))) === undefined) return;
  if (isAsking && (await askYes(`${file} exists. Replace it?`, false))) return;
  throw usageError(`${file} exists`, 'Choose another with --config, or replace it with --force.');
}

/** The new content of `.env`; undefined if it stays as it is. A question that was answered may change a variable. */
async function dotenvWith(
  variables: Readonly<Record<string, string>>,
  { isAsking, stored }: Interview,
  { force }: InitOptions,
): Promise<string | undefined> {
  const changed = Object.entries(variables).filter(([name, value]) => stored[name] !== value);
  const lost = changed.map(([name]) => name).filter((name) => (stored[name] ?? '') !== '');
  if (lost.length > 0 && !force && !(isAsking && (await askYes(`.env has ${lost.join(', ')}. Replace?`, true))))
    throw usageError(
      `.env has another value of ${lost.join(', ')}`,
      'Replace it with --force, or leave out the option.',
    );
  if (changed.length === 0) return undefined;
  return withVariables((await ifExists(readFile('.env', 'utf8'))) ?? '', Object.fromEntries(changed));
}

/** Asks for one part after the other. On a terminal each is tried, and may be corrected or kept as it is. */
async function interviewed(interview: Interview, options: InitOptions): Promise<Setup> {
  let setup: Setup = { answers: { ...DEFAULTS, source: 'none' }, chosen: new Map(), mapping: {}, missing: [] };
  // The login is stored in the warehouse, so the warehouse comes first.
  for (const part of ['company', 'warehouse', 'service', 'feed'] as const) {
    if (part === 'feed') setup.answers.source = DEFAULTS.source;
    for (let isAgain = false; ; isAgain = true) {
      setup = { ...setup, answers: await askPart(PARTS[part], setup.answers, interview, isAgain) };
      const failure = await tryPart(part, interview, options, setup, isAgain);
      if (failure === undefined || !interview.isAsking) break;
      say(failure);
      if (!(await askYes('Correct the answers? No keeps them as they are.', true))) break;
    }
  }
  return setup;
}

/** The checks of doctor that try a part. The configuration is read in any case. */
const CHECKS = { company: [], warehouse: ['warehouse'], service: ['login'] };
type Part = keyof typeof CHECKS | 'feed';

/** Why the part does not work; undefined if it works. Adds the mapping of the feed. */
async function tryPart(
  part: Part,
  interview: Interview,
  options: InitOptions,
  setup: Setup,
  isAgain: boolean,
): Promise<string | undefined> {
  try {
    if (part === 'feed') return await tryFeed(interview, options, setup, isAgain);
    // Without a terminal everything is tried at the end.
    if (!interview.isAsking) return undefined;
    const only = CHECKS[part];
    const checks = await tryOut(options, setup, (app) => checkApp(app, { only }));
    if (checks.length > 0) say(showChecks(checks));
    return checks.some(({ state }) => state === 'fail') ? `The ${part} does not work with these answers.` : undefined;
  } catch (thrown) {
    const { code, message, hint } = asRoadbookError(thrown);
    if (code === 'usage' && !interview.isAsking) throw thrown;
    return `${message.replaceAll(draftOf(options.config), options.config)}${hint === undefined ? '' : `\n  Try: ${hint}`}`;
  }
}

async function tryFeed(interview: Interview, options: InitOptions, setup: Setup, isAgain: boolean) {
  const { isAsking } = interview;
  setup.answers = await askPart(PARTS.formats, setup.answers, { ...interview, isAsking: false }, isAgain);
  const { source, sample } = setup.answers;
  Object.assign(setup, { mapping: {}, missing: [], feed: undefined });
  if (source === 'none') return undefined;
  const read = () =>
    tryOut(options, setup, async (app) => {
      const report = await checkFeed(app, { file: sampleOf(setup.answers) || undefined, kind: 'route_plans' });
      return { ...report, text: app.redactor.redact(reportText(report)) };
    });
  let found = source === 'files' && sample === '' ? undefined : await read();
  if (found !== undefined && found.tables.length === 0 && found.rejected > 0) {
    // JSON records with names of their own: only a mapping lets them be read as rows, with columns.
    setup.mapping = { 'options.optimize': 'options.optimize' };
    found = await read();
  }
  const tables = found?.tables ?? [];
  const columns = new Map(tables.flatMap((table) => table.columns).map((each) => [each.column, each]));
  const chosen = proposedColumns(columns, options.map, setup.chosen);
  setup.chosen = chosen;
  // Records in canonical form have no columns.
  if (columns.size > 0) {
    await completePairs(chosen, columns, isAsking, isAgain);
    if (isAsking) await askNeeded(chosen, columns, source, isAgain);
    setup.missing = missingPaths(chosen);
  }
  setup.mapping = mappingOf(chosen, columns);
  if (found === undefined) return undefined;
  setup.feed = tables.length === 0 ? found : await read();
  const unclear = unclearFormats(setup.feed);
  if (isAsking && unclear.length > 0) {
    say(setup.feed.text);
    setup.answers = await askPart(unclear, setup.answers, interview, true);
    setup.feed = await read();
  }
  if (isAsking) say(setup.feed.text);
  return setup.feed.rejected > 0 ? 'Not all plans can be sent.' : undefined;
}

const draftOf = (file: string): string => `${file}.draft.yaml`;

/** Opens the configuration from a draft beside its place. */
async function tryOut<T>({ config, logLevel }: InitOptions, setup: Setup, work: (app: App) => Promise<T>): Promise<T> {
  const draft = draftOf(config);
  await makeFolder(dirname(config));
  await writeFile(draft, fileText(setup));
  try {
    const app = await openApp({ configFile: draft, logLevel, version: VERSION, env: variablesOf(setup.answers) });
    try {
      return await work(app);
    } finally {
      await app.close();
    }
  } finally {
    await rm(draft, { force: true });
  }
}
