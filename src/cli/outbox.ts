// roadbook outbox list | show | retry | cancel: what was pushed, what needs a person, what was rejected and why.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { App } from '../app/app.ts';
import { Fatal } from '../core/errors.ts';
import type { RunSummary } from '../core/glossary.ts';
import { suggest } from '../core/text/near-word.ts';
import { isoInstant } from '../core/time/clock.ts';
import { runLeased } from '../sync/leased-run.ts';
import {
  type Action,
  act,
  actOnMany,
  assertAbsent,
  cancel,
  namedEntry,
  retry,
} from '../sync/push/actions.ts';
import { outboxAttention } from '../sync/push/attention.ts';
import { attemptsOf } from '../warehouse/outbox/attempts.ts';
import { OUTBOX_STATES, type OutboxEntry, type OutboxState, shownEntry } from '../warehouse/outbox/entry.ts';
import { countEntries, type EntryFilter, searchEntries } from '../warehouse/outbox/lists.ts';
import { addCommand, print, say, sayWaiting, withApp } from './command.ts';
import { namedJob } from './named-job.ts';
import { wholeNumber } from './number-options.ts';
import { EXIT, exitCodeOfRun } from './output/exit-codes.ts';
import { type AttemptRow, attemptsText, entriesText, entryText, numberOf } from './output/outbox-text.ts';

interface NameOptions {
  kind?: string;
  /** Which use of the code. */
  use?: number;
}

interface SearchOptions {
  kind?: string;
  code?: string;
  state?: OutboxState[];
}

interface ListOptions extends SearchOptions {
  limit: number;
}

/** One entry by its code, or many by --state. */
interface ActionOptions extends NameOptions, SearchOptions {
  yes: boolean;
}

const KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'];

const withKind = (command: Command): Command =>
  command.addOption(new Option('--kind <kind>', 'kind of item').choices(KINDS));

const withName = (command: Command): Command =>
  withKind(command).option(
    '--use <n>',
    'which use of the code, where the ERP has used it several times',
    wholeNumber,
  );

const withSearch = (command: Command): Command =>
  command
    .option('--code <text>', 'only entries whose external code holds this')
    .option('--state <state...>', `only entries in these states: ${OUTBOX_STATES.join(', ')}`, stateOf);

const withMany = (command: Command): Command =>
  withSearch(withName(command)).option(
    '--yes',
    'with --state: act on all of them; without it they are only counted',
    false,
  );

function stateOf(word: string, before: OutboxState[] = []): OutboxState[] {
  const state = OUTBOX_STATES.find((each) => each === word);
  if (state !== undefined) return [...before, state];
  throw new InvalidArgumentError(`It is no state of an entry: ${suggest(word, OUTBOX_STATES)}`);
}

export function fillOutbox(outbox: Command): void {
  addList(outbox);
  addShow(outbox);
  addRetry(outbox);
  addCancel(outbox);
}

const addList = (outbox: Command): Command =>
  addCommand<ListOptions>(outbox, {
    usage: 'list',
    summary: 'entries, those that need a person first',
    options: (command) =>
      withSearch(withKind(command)).option('--limit <n>', 'how many at most', wholeNumber, 50),
    action: withApp(async (app, _args, { json, limit, ...options }) => {
      const engine = await app.warehouse();
      const search = searchOf(options);
      const entries = await engine.read((sql) => searchEntries(sql, { ...search, limit }));
      print(json ? JSON.stringify(entries.map(shownEntry), null, 2) : entriesText(entries, app.clock.now()));
      if (json) return EXIT.ok;
      const found = await engine.read((sql) => countEntries(sql, search));
      if (found > entries.length)
        say(`These are ${entries.length} of ${numberOf(found)}. Try: --limit ${found}`);
      for (const { text, hint } of await outboxAttention(engine, isoInstant(app.clock.now())))
        say(`Needs a person: ${text}. Try: ${hint}`);
      return EXIT.ok;
    }),
  });

const searchOf = ({ state, kind, code }: SearchOptions): EntryFilter => ({
  ...(state !== undefined && { states: state }),
  ...(kind !== undefined && { kind }),
  ...(code !== undefined && { code }),
});

const addShow = (outbox: Command): Command =>
  addCommand<NameOptions>(outbox, {
    usage: 'show <code>',
    summary: 'one entry and its history: sends, read-backs, actions',
    options: withName,
    action: withApp(async (app, [code = ''], { json, kind, use }) => {
      const engine = await app.warehouse();
      const entry = await namedEntry(engine, { code, kind, use });
      const attempts = await engine.read((sql) => attemptsOf(sql, entry));
      if (json) print(JSON.stringify({ ...shownEntry(entry), attempts }, null, 2));
      else
        print(`${entryText(entry, app.clock.now())}\n\n${attemptsText(attempts as unknown as AttemptRow[])}`);
      return EXIT.ok;
    }),
  });

/** retry or cancel, on one entry or on many. */
interface ActingCommand {
  name: 'retry' | 'cancel';
  action: Action;
  /** Follows a number of entries. */
  done: string;
  /** What one entry asks for at once. */
  afterwards?(entry: OutboxEntry): Promise<RunSummary | undefined>;
}

const addRetry = (outbox: Command): Command =>
  addCommand<ActionOptions & { notThere: boolean }>(outbox, {
    usage: 'retry [code]',
    summary:
      'has a rejected or cancelled entry sent again by the next run; an entry that may have arrived is read back, never sent blindly',
    options: (command) =>
      withMany(command).option(
        '--not-there',
        'you have looked: the entry is not at the service, send it',
        false,
      ),
    action: withApp((app, [code], options) =>
      carryOut(
        app,
        code,
        options,
        options.notThere
          ? { name: 'retry', action: assertAbsent, done: 'taken as not at the service' }
          : {
              name: 'retry',
              action: retry,
              done: 'retried',
              afterwards: async (entry) => (entry.state === 'unknown' ? readBack(app, entry) : undefined),
            },
      ),
    ),
  });

const addCancel = (outbox: Command): Command =>
  addCommand<ActionOptions & { force: boolean }>(outbox, {
    usage: 'cancel [code]',
    summary: 'cancels an entry: it is not sent any more, and the ERP is notified',
    options: (command) =>
      withMany(command).option('--force', 'also one that is or may be at the service', false),
    action: withApp((app, [code], options) =>
      carryOut(app, code, options, {
        name: 'cancel',
        action: cancel({ isForced: options.force }),
        done: 'cancelled',
      }),
    ),
  });

/** A run reads back what is unknown before it sends anything. */
async function readBack(app: App, { kind }: OutboxEntry): Promise<RunSummary> {
  const { job, settings } = namedJob(app, `push-${kind.replaceAll('_', '-')}`);
  const request = { job, options: settings.options, cause: 'manual' as const, onWait: sayWaiting(job.name) };
  return (await runLeased(request, await app.sync())).summary;
}

type Options = ActionOptions & { json: boolean };

function carryOut(
  app: App,
  code: string | undefined,
  options: Options,
  command: ActingCommand,
): Promise<number> {
  const { state, use, code: part } = options;
  const one = `npx roadbook outbox ${command.name} CODE`;
  const many = `npx roadbook outbox ${command.name} --state rejected`;
  if (code === undefined && state === undefined)
    throw usage(
      `No entry is named to ${command.name}`,
      `${one} for one entry, or ${many} for all that are rejected.`,
    );
  if (code === undefined) {
    if (use === undefined) return onMany(app, options, command);
    throw usage('--use names one use of one code, and no code is given', `${one} --use ${use}`);
  }
  if (state !== undefined || part !== undefined)
    throw usage(
      `A code names one entry; ${state === undefined ? '--code' : '--state'} is for many`,
      `${one} for one entry, or ${many} --code TEXT for all rejected ones whose code holds TEXT.`,
    );
  return onOne(app, code, options, command);
}

/** Acts on one entry and shows it as it is then. */
async function onOne(
  app: App,
  code: string,
  { json, kind, use }: Options,
  { action, afterwards }: ActingCommand,
): Promise<number> {
  const engine = await app.warehouse();
  const before = await namedEntry(engine, { code, kind, use });
  const words = await act(engine, before, action, isoInstant(app.clock.now()));
  const run = await afterwards?.(before);
  const entry = await namedEntry(engine, { code, kind: before.kind, use: before.code_use });
  print(json ? JSON.stringify(shownEntry(entry), null, 2) : `${entry.external_code}: ${entry.state}`);
  if (!json) say(words);
  if (run === undefined) return EXIT.ok;
  if (run.error !== null) say(`The run that read it back: ${run.error.message}`);
  if (run.error?.hint) say(`Try: ${run.error.hint}`);
  return exitCodeOfRun(run);
}

/** Counts what would be acted on; acts with --yes. */
async function onMany(
  app: App,
  { json, yes, ...options }: Options,
  { name, action, done: doneWord }: ActingCommand,
): Promise<number> {
  const engine = await app.warehouse();
  const search = searchOf(options);
  const entries = await engine.read((sql) => countEntries(sql, search));
  if (!yes) {
    print(
      json
        ? JSON.stringify({ entries, done: 0, skipped: 0 })
        : `${numberOf(entries)} ${entries === 1 ? 'matches' : 'match'}; nothing was changed.`,
    );
    if (!json && entries > 0) say(`Try: the same command with --yes, to ${name} all of them`);
    return EXIT.ok;
  }
  const { done, skipped } = await actOnMany(engine, search, action, isoInstant(app.clock.now()));
  const left = Math.max(0, entries - done - skipped);
  print(
    json ? JSON.stringify({ entries, done, skipped }) : `${numberOf(done)} ${doneWord}, ${skipped} skipped.`,
  );
  if (json) return EXIT.ok;
  if (skipped > 0)
    say(
      `The state of a skipped entry does not allow it. Try: npx roadbook outbox ${name} CODE, which says why for one of them`,
    );
  if (left > 0) say(`${numberOf(left)} more ${left === 1 ? 'is' : 'are'} left. Try: the same command again`);
  return EXIT.ok;
}

const usage = (message: string, hint: string): Fatal => new Fatal(message, { code: 'usage', hint });
