// roadbook outbox list | show | retry | cancel | acknowledge: the entries, their history, and actions on them.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { App } from '../app/app.ts';
import type { RunSummary } from '../core/glossary.ts';
import { suggest } from '../core/text/near-word.ts';
import { isoInstant } from '../core/time/clock.ts';
import { FEED_KINDS } from '../erp/feed-kinds.ts';
import { runLeased } from '../sync/leased-run.ts';
import {
  type Action,
  acknowledgeAgain,
  act,
  actOnMany,
  assertAbsent,
  cancel,
  namedEntry,
  retry,
} from '../sync/push/actions.ts';
import { outboxAttention } from '../sync/push/attention.ts';
import { pushJobOf } from '../sync/push/kind.ts';
import { attemptsOf } from '../warehouse/outbox/attempts.ts';
import { type OutboxEntry, SHOWN_STATES, type ShownState, shownEntry, shownState } from '../warehouse/outbox/entry.ts';
import { countEntries, kindsWithWaitingFiles, searchEntries } from '../warehouse/outbox/lists.ts';
import { addCommand, print, say, sayWaiting, usageError, withApp } from './command.ts';
import { namedJob } from './named-job.ts';
import { wholeNumber } from './number-options.ts';
import { exitCodeOfRun } from './output/exit-codes.ts';
import { attemptsText, entriesText, entryCount, entryText } from './output/outbox-text.ts';

interface NameOptions {
  kind?: string;
  /** Number of the use of the code, from 1. */
  use?: number;
}

interface SearchOptions {
  kind?: string;
  code?: string;
  state?: ShownState[];
}

const withKind = (command: Command): Command =>
  command.addOption(new Option('--kind <kind>', 'kind of item').choices(FEED_KINDS));

const withName = (command: Command): Command =>
  withKind(command).option('--use <n>', 'which use of the code, if the ERP has used it several times', wholeNumber);

const withSearch = (command: Command): Command =>
  command
    .option('--code <text>', 'only entries whose external code contains this text')
    .option('--state <state...>', `only entries in these states: ${SHOWN_STATES.join(', ')}`, stateOf);

const withMany = (command: Command): Command =>
  withSearch(withName(command)).option(
    '--yes',
    'with --state: act on all matching entries; without --yes they are only counted',
    false,
  );

function stateOf(word: string, before: ShownState[] = []): ShownState[] {
  const state = SHOWN_STATES.find((each) => each === word);
  if (state !== undefined) return [...before, state];
  throw new InvalidArgumentError(`This is not a state of an entry: ${suggest(word, SHOWN_STATES)}`);
}

/** One entry by its code, or many by --state. */
type ActionOptions = NameOptions & SearchOptions & { yes: boolean };

export function define(outbox: Command): void {
  addCommand<SearchOptions & { limit: number }>(outbox, {
    usage: 'list',
    summary: 'lists the entries; those that need a person come first',
    options: (command) =>
      withSearch(withKind(command)).option('--limit <n>', 'maximum number of entries', wholeNumber, 50),
    action: withApp(async (app, _args, { json, limit, state: states, kind, code }) => {
      const engine = await app.warehouse();
      const search = { states, kind, code };
      const entries = await engine.read((sql) => searchEntries(sql, { ...search, limit }));
      if (json) return void print(JSON.stringify(entries.map(shownEntry), null, 2));
      print(entriesText(entries, app.clock.now(), await engine.read(kindsWithWaitingFiles)));
      const found = await engine.read((sql) => countEntries(sql, search));
      if (found > entries.length) say(`Shown: ${entries.length} of ${entryCount(found)}. Try: --limit ${found}`);
      for (const { text, hint } of await outboxAttention(engine, isoInstant(app.clock.now())))
        say(`Needs a person: ${text}. Try: ${hint}`);
    }),
  });
  addCommand<NameOptions>(outbox, {
    usage: 'show <code>',
    summary: 'shows one entry and its history: sends, read-backs, actions',
    options: withName,
    action: withApp(async (app, [code = ''], { json, kind, use }) => {
      const engine = await app.warehouse();
      const entry = await namedEntry(engine, { code, kind, use });
      const attempts = await engine.read((sql) => attemptsOf(sql, entry));
      if (json) return void print(JSON.stringify({ ...shownEntry(entry), attempts }, null, 2));
      const text = entryText(entry, app.clock.now(), await engine.read(kindsWithWaitingFiles));
      print(`${text}\n\n${attemptsText(attempts)}`);
    }),
  });
  addCommand<ActionOptions & { notThere: boolean }>(outbox, {
    usage: 'retry [code]',
    summary:
      'sends a rejected entry again in the next run, a cancelled one once the ERP offers it again; an entry that may have arrived is read back first',
    options: (command) =>
      withMany(command).option('--not-there', 'send the entry: you have checked that it is not at the service', false),
    action: withApp((app, [code], options) =>
      carryOut(app, code, options, {
        name: 'retry',
        ...(options.notThere
          ? { action: assertAbsent, done: 'marked as not at the service' }
          : { action: retry, done: 'retried', readsBack: true }),
      }),
    ),
  });
  addCommand<ActionOptions & { force: boolean }>(outbox, {
    usage: 'cancel [code]',
    summary: 'cancels an entry: it will not be sent, and the ERP is notified',
    options: (command) =>
      withMany(command).option('--force', 'also cancel an entry that is or may be at the service', false),
    action: withApp((app, [code], options) => {
      const action = cancel({ isForced: options.force });
      return carryOut(app, code, options, { name: 'cancel', action, done: 'cancelled' });
    }),
  });
  addCommand<ActionOptions>(outbox, {
    usage: 'acknowledge [code]',
    summary: 'notifies the ERP of the outcome again in the next run',
    options: withMany,
    action: withApp((app, [code], options) =>
      carryOut(app, code, options, { name: 'acknowledge', action: acknowledgeAgain, done: 'to be acknowledged again' }),
    ),
  });
}

interface ActingCommand {
  name: 'retry' | 'cancel' | 'acknowledge';
  action: Action;
  /** Past tense for the result, after the number of entries. */
  done: string;
  /** An unknown entry is read back at once, if it is the only one. */
  readsBack?: boolean;
}

/** Runs the push job: a run reads back unknown entries before it sends anything. */
async function readBack(app: App, { kind }: OutboxEntry): Promise<RunSummary> {
  const { job, settings } = namedJob(app, pushJobOf(kind));
  const request = { job, options: settings.options, cause: 'manual' as const, onWait: sayWaiting(job.name) };
  return (await runLeased(request, await app.sync())).summary;
}

type Options = ActionOptions & { json: boolean };

function carryOut(
  app: App,
  code: string | undefined,
  options: Options,
  command: ActingCommand,
): Promise<number | undefined> {
  const { state, use, code: part } = options;
  const one = `npx roadbook outbox ${command.name} CODE`;
  const many = `npx roadbook outbox ${command.name} --state rejected`;
  if (code === undefined && state === undefined)
    throw usageError(
      `No entry to ${command.name} is named`,
      `${one} for one entry, or ${many} for all that are rejected.`,
    );
  if (code === undefined) {
    if (use === undefined) return actOnMatching(app, options, command);
    throw usageError('--use needs a code', `${one} --use ${use}`);
  }
  if (state !== undefined || part !== undefined)
    throw usageError(
      `A code names one entry; ${state === undefined ? '--code' : '--state'} is for many`,
      `${one} for one entry, or ${many} --code TEXT for all rejected entries whose code contains TEXT.`,
    );
  return actOnOne(app, code, options, command);
}

async function actOnOne(
  app: App,
  code: string,
  { json, kind, use }: Options,
  { action, readsBack }: ActingCommand,
): Promise<number | undefined> {
  const engine = await app.warehouse();
  const before = await namedEntry(engine, { code, kind, use });
  const result = await act(engine, before, action, isoInstant(app.clock.now()));
  const run = readsBack && before.state === 'unknown' ? await readBack(app, before) : undefined;
  const entry = await namedEntry(engine, { code, kind: before.kind, use: before.code_use });
  print(json ? JSON.stringify(shownEntry(entry), null, 2) : `${entry.external_code}: ${shownState(entry)}`);
  if (!json) say(result);
  if (run === undefined) return undefined;
  if (run.error !== null) say(`The run that read the entry back: ${run.error.message}`);
  if (run.error?.hint) say(`Try: ${run.error.hint}`);
  return exitCodeOfRun(run);
}

/** Counts the matching entries; acts on them only with --yes. */
async function actOnMatching(
  app: App,
  { json, yes, state: states, kind, code }: Options,
  { name, action, done: doneWord }: ActingCommand,
): Promise<number | undefined> {
  const engine = await app.warehouse();
  const search = { states, kind, code };
  const entries = await engine.read((sql) => countEntries(sql, search));
  if (!yes) {
    print(
      json
        ? JSON.stringify({ entries, done: 0, skipped: 0 })
        : `${entryCount(entries)} ${entries === 1 ? 'matches' : 'match'}; nothing was changed.`,
    );
    if (!json && entries > 0) say(`Try: the same command with --yes, to ${name} all of them`);
    return undefined;
  }
  const { done, skipped } = await actOnMany(engine, search, action, isoInstant(app.clock.now()));
  print(json ? JSON.stringify({ entries, done, skipped }) : `${entryCount(done)} ${doneWord}, ${skipped} skipped.`);
  if (!json && skipped > 0)
    say(
      `The state of a skipped entry does not allow this action. Try: npx roadbook outbox ${name} CODE, which shows the reason for one entry`,
    );
}
