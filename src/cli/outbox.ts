// roadbook outbox list | show | retry | cancel: what was pushed, what is unknown, what was refused and why.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { App } from '../app.ts';
import { isoInstant } from '../core/clock.ts';
import type { RunSummary } from '../core/glossary.ts';
import { runLeased } from '../sync/leased-run.ts';
import { cancelEntry, namedEntry, retryEntry, vouchAbsent } from '../sync/push/outbox-orders.ts';
import { keyOf, type OutboxEntry } from '../warehouse/outbox-entry.ts';
import { searchEntries } from '../warehouse/outbox-lookup.ts';
import { shownEntry } from '../warehouse/outbox-shown.ts';
import { OUTBOX_STATES, type OutboxState } from '../warehouse/outbox-states.ts';
import { addCommand, print, say, sayWaiting, withApp } from './command.ts';
import { EXIT, exitCodeOfRun } from './exit-codes.ts';
import { namedJob } from './named-job.ts';
import { attemptsText, entriesText, entryText } from './outbox-text.ts';

interface KindOption {
  kind?: string;
}

interface ListOptions extends KindOption {
  code?: string;
  state?: OutboxState[];
  limit: number;
}

const KINDS = ['route_plans', 'points_of_interest', 'agents', 'itineraries'];

const withKind = (command: Command): Command =>
  command.addOption(new Option('--kind <kind>', 'kind of thing').choices(KINDS));

export function fillOutbox(outbox: Command): void {
  addList(outbox);
  addShow(outbox);
  addRetry(outbox);
  addCancel(outbox);
}

const addList = (outbox: Command): Command =>
  addCommand<ListOptions>(outbox, {
    usage: 'list',
    summary: 'entries, unknown ones first',
    options: (command) =>
      withKind(command)
        .option('--code <text>', 'only those whose external code holds this')
        .addOption(new Option('--state <state...>', 'only these states').choices(OUTBOX_STATES))
        .option('--limit <n>', 'how many at most', countOf, 50),
    action: withApp(async (app, _args, { json, state: states, kind, code, limit }) => {
      const engine = await app.warehouse();
      const entries = await engine.read((sql) => searchEntries(sql, { states, kind, code, limit }));
      print(json ? JSON.stringify(entries.map(shownEntry), null, 2) : entriesText(entries));
      return 0;
    }),
  });

const addShow = (outbox: Command): Command =>
  addCommand<KindOption>(outbox, {
    usage: 'show <code>',
    summary: 'the story of one entry: attempts, answers, reasons',
    options: withKind,
    action: withApp(async (app, [code = ''], { json, kind }) => {
      const engine = await app.warehouse();
      const entry = await namedEntry(engine, code, kind);
      const attempts = await engine.read((sql) => sql('push_attempt').where(keyOf(entry)).orderBy('number'));
      if (json) print(JSON.stringify({ ...shownEntry(entry), attempts }, null, 2));
      else print(`${entryText(entry)}\n\n${attemptsText(attempts)}`);
      return 0;
    }),
  });

const addRetry = (outbox: Command): Command =>
  addCommand<KindOption & { notThere: boolean }>(outbox, {
    usage: 'retry <code>',
    summary:
      'has a refused or cancelled entry sent again by the next run; one that may have arrived is read back, never sent blindly',
    options: (command) =>
      withKind(command).option(
        '--not-there',
        'you have looked: an unknown one is not at the service, send it',
        false,
      ),
    action: withApp((app, [code = ''], { json, kind, notThere }) =>
      order(app, code, kind, json, async (entry, at) => {
        if (notThere) return { words: await vouchAbsent(await app.warehouse(), entry, at) };
        const { words, isUnknown } = await retryEntry(await app.warehouse(), entry, at);
        return isUnknown ? { words, run: await readBack(app, entry) } : { words };
      }),
    ),
  });

const addCancel = (outbox: Command): Command =>
  addCommand<KindOption & { force: boolean }>(outbox, {
    usage: 'cancel <code>',
    summary: 'gives an entry up: it is not sent any more, and the ERP is told',
    options: (command) =>
      withKind(command).option('--force', 'also one that may be at the service already', false),
    action: withApp((app, [code = ''], { json, kind, force }) =>
      order(app, code, kind, json, async (entry, at) => {
        await cancelEntry(await app.warehouse(), entry, at, force);
        return { words: 'It is cancelled; the next run tells the ERP.' };
      }),
    ),
  });

/** A run reads back what is unknown before it sends anything. */
async function readBack(app: App, { kind }: OutboxEntry): Promise<RunSummary> {
  const { job, settings } = namedJob(app, `push-${kind.replaceAll('_', '-')}`);
  const request = { job, options: settings.options, cause: 'manual' as const, onWait: sayWaiting(job.name) };
  return (await runLeased(request, await app.sync())).summary;
}

interface CarriedOut {
  words: string;
  /** The run that the order took. */
  run?: RunSummary;
}

/** Carries an order out and shows the entry as it is then. */
async function order(
  app: App,
  code: string,
  kind: string | undefined,
  json: boolean,
  carryOut: (entry: OutboxEntry, at: string) => Promise<CarriedOut>,
): Promise<number> {
  const engine = await app.warehouse();
  const { words, run } = await carryOut(await namedEntry(engine, code, kind), isoInstant(app.clock.now()));
  const entry = await namedEntry(engine, code, kind);
  print(json ? JSON.stringify(shownEntry(entry), null, 2) : `${entry.external_code}: ${entry.state}`);
  if (!json) say(words);
  if (run === undefined) return EXIT.ok;
  if (run.error !== null) say(`The run that read it back: ${run.error.message}`);
  if (run.error?.hint) say(`Try: ${run.error.hint}`);
  return exitCodeOfRun(run);
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidArgumentError('It takes a whole number from 1.');
  return count;
}
