// roadbook init: asks for the service, the warehouse and a feed of route plans, tries each, and writes a commented
// configuration. Every answer can be given by an option, so that a script can do the same. Secrets are not written: the
// configuration names environment variables.
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { type Command, Option } from 'commander';
import { openApp } from '../app/app.ts';
import { createLog } from '../core/log.ts';
import { createRedactor } from '../core/text/redaction.ts';
import { systemClock } from '../core/time/clock.ts';
import { checkErp } from '../erp/check.ts';
import type { CheckResult } from '../status/doctor/check-result.ts';
import { type CommonOptions, defineCommand, print, say, usageError } from './command.ts';
import { checkApp, showChecks } from './doctor.ts';
import { type Answers, configText } from './output/config-text.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { VERSION } from './version.ts';

type InitOptions = Partial<Answers> & CommonOptions & { sample?: string; yes: boolean; force: boolean };

export const define = (command: Command): Command =>
  defineCommand<InitOptions>(command, {
    options: (command) =>
      command
        .option('--service <address>', 'address of the service, or `sandbox`')
        .option('--timezone <zone>', 'time zone of the company')
        .option('--warehouse <place>', 'file of a SQLite warehouse, or postgres://… of a PostgreSQL one')
        .addOption(new Option('--source <source>', 'where route plans come from').choices(['files', 'none']))
        .option('--folder <folder>', 'folder into which the ERP drops its files')
        .option('--sample <file>', 'a sample file of the ERP, to propose a mapping')
        .option('--yes', 'take the defaults instead of asking', false)
        .option('--force', 'replace an existing file', false),
    action: async (_args, options) => {
      const { config: file, force, json } = options;
      const isThere = await stat(file).then(
        () => true,
        () => false,
      );
      if (isThere && !force)
        throw usageError(`${file} exists`, 'Choose another with --config, or replace it with --force.');
      const answers = await answersOf(options);
      if (/^postgres(?:ql)?:\/\/[^@/:]*:[^@/]*@/.test(answers.warehouse))
        throw usageError(
          'The address of the warehouse contains a password, which does not belong into the file',
          `Set ROADBOOK_WAREHOUSE_URL to it, also in .env, and answer '\${ROADBOOK_WAREHOUSE_URL}'.`,
        );
      const mapping = options.sample === undefined ? {} : await proposeMapping(options.sample, answers);
      const text = configText(answers, mapping);
      const checks = await tryOut(file, text, options);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { flag: force ? 'w' : 'wx' });
      print(json ? JSON.stringify({ file, checks, mapping }, null, 2) : showChecks(checks));
      if (!json) say(`${file} was written. Try: npx roadbook start`);
      const failed = checks.find(({ state }) => state === 'fail');
      return failed === undefined ? EXIT.ok : exitCodeOf(failed.code ?? 'failed');
    },
  });

const DEFAULTS: Answers = {
  service: 'sandbox',
  timezone: 'America/Sao_Paulo',
  warehouse: 'data/warehouse.db',
  source: 'files',
  folder: 'data/erp/route-plans',
};

const QUESTIONS: readonly [keyof Answers, string][] = [
  ['service', 'Address of the service (sandbox: the built-in simulated one)'],
  ['timezone', 'Time zone of the company'],
  ['warehouse', 'Warehouse: a file for SQLite, or postgres://user@host/database'],
  ['source', 'Where route plans come from: files or none'],
  ['folder', 'Folder into which the ERP drops its files'],
];

async function answersOf({ yes, ...given }: InitOptions): Promise<Answers> {
  const answers: Answers = { ...DEFAULTS };
  const isAsking = !yes && process.stdin.isTTY === true;
  if (!yes && !isAsking)
    say('No terminal to ask in: the defaults are taken where no option is given. --help lists the options.');
  for (const [name, message] of QUESTIONS) {
    const said = given[name];
    if (said !== undefined) answers[name] = said;
    else if (isAsking && !(name === 'folder' && answers.source !== 'files'))
      answers[name] = await ask(message, DEFAULTS[name]);
  }
  return answers;
}

/** Loaded on first use: only this command asks. */
async function ask(message: string, fallback: string): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  return input({ message, default: fallback }, { output: process.stderr });
}

/** The columns of the sample that are probably meant, by path. */
async function proposeMapping(file: string, { timezone }: Answers): Promise<Record<string, string>> {
  const log = createLog({ level: 'silent', redactor: createRedactor() });
  const feed = { kind: 'route_plans', zone: timezone, reuseCodes: false } as const;
  const context = { ...feed, clock: systemClock, log, random: Math.random };
  const { mapping, tables } = await checkErp({ settings: undefined, file, context });
  if (extname(file).toLowerCase() !== '.json' && tables.length === 0)
    throw usageError(`${file} has no table that can be read`, `npx roadbook erp check ${file} shows why.`);
  return mapping;
}

/** Runs the checks of doctor with the configuration, from a draft beside its place. */
async function tryOut(file: string, text: string, { logLevel }: InitOptions): Promise<CheckResult[]> {
  const draft = `${file}.draft.yaml`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(draft, text);
  try {
    const app = await openApp({ configFile: draft, logLevel, version: VERSION });
    try {
      return await checkApp(app);
    } finally {
      await app.close();
    }
  } finally {
    await rm(draft, { force: true });
  }
}
