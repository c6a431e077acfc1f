// Reads back from the service: lists the periods of the entries that are due, and applies what each listing says. Gives
// the entries that this run may send. One listing serves all entries of its period; one that fails holds up only those.
import PQueue from 'p-queue';
import { chunks } from '../../core/chunks.ts';
import { asRoadbookError, Fatal, type RoadbookError, Skippable } from '../../core/errors.ts';
import type { JsonObject } from '../../core/glossary.ts';
import { localDay } from '../../erp/items/moments.ts';
import { recordAttempts } from '../../warehouse/outbox/attempts.ts';
import {
  type EntryKey,
  nameOf,
  needsProof,
  type OutboxEntry,
  wasSent,
} from '../../warehouse/outbox/entry.ts';
import * as queries from '../../warehouse/outbox/queries.ts';
import { type Decision, decide, doubtOf, indexed, isCut, type Listing, matchesOf } from './decide.ts';
import { nextPlace, type PushRun, payloadOf } from './kind.ts';
import { afterReadBack, factsOf, type Outcome, storeOutcomes } from './outcome.ts';
import { padded, type Window, windowsOf } from './windows.ts';

type DueEntry = queries.DueEntry;
type Period = queries.Period;

/** An entry that may be sent, as it was when the service did not show it. */
export type Cleared = EntryKey & Pick<OutboxEntry, 'revision'>;

/** `ready`: entries to send; `open`: entries to find; `all`: both. */
export type ReadBackScope = 'ready' | 'open' | 'all';

export async function readBack(push: PushRun, scope: ReadBackScope): Promise<Cleared[]> {
  const { kind, context } = push;
  if (context.signal.aborted) return [];
  const due = await dueEntries(push, scope);
  // A PUT on a known identifier may be repeated: it needs no read-back.
  const isUpdate = ({ state, remote_id }: DueEntry): boolean =>
    state === 'ready' && remote_id !== null && kind.change !== undefined;
  const cleared: Cleared[] = due.filter(isUpdate);
  const searched = due.filter((entry) => !isUpdate(entry));
  const windows = windowsOf(searched, kind.periodOf !== undefined);
  if (kind.periodOf !== undefined) reportUndated(push, searched);
  const narrow = narrowListings(push);
  const queue = new PQueue({ concurrency: context.dependencies.concurrency });
  let serviceIsAway = false;
  await queue.addAll(
    windows.map((window) => async () => {
      if (serviceIsAway || context.signal.aborted) return;
      try {
        cleared.push(...(await readWindow(push, scope, window, narrow)));
      } catch (thrown) {
        if (context.signal.aborted) return;
        const failure = asRoadbookError(thrown);
        // A period that the service cannot be asked for holds up only its own entries.
        serviceIsAway ||= failure instanceof Fatal && failure.code !== 'request_invalid';
        await noteUnreadable(push, window.entries, failure);
      }
    }),
  );
  // Windows end in any order; what starts first is sent first.
  const byName = new Map(cleared.map((each) => [nameOf(each), each]));
  return due.flatMap((each) => byName.get(nameOf(each)) ?? []);
}

/** No listing can show them, so they are never sent: an earlier version stored them. */
function reportUndated({ report, kind }: PushRun, entries: readonly DueEntry[]): void {
  const undated = entries.filter(
    ({ period_start, period_end }) => period_start === null || period_end === null,
  );
  const [first] = undated;
  if (first === undefined) return;
  const failure = new Skippable(
    `${undated.length} of the ${kind.noun}s to send have no period: ${first.external_code}`,
    {
      code: 'no_period',
      hint: 'Correct the dates in the ERP, or cancel the entry: npx roadbook outbox cancel CODE.',
    },
  );
  report(failure, 'entries without a period are not sent');
}

function dueEntries(push: PushRun, scope: ReadBackScope): Promise<DueEntry[]> {
  const { kind, engine, settings, now } = push;
  const rejectedSince = push.ago(settings.settle);
  return engine.read(async (sql) => [
    ...(scope === 'open' ? [] : await queries.readyEntries(sql, kind.feed, now())),
    ...(scope === 'ready' ? [] : await queries.openEntries(sql, kind.feed, now(), rejectedSince)),
  ]);
}

/** The window could not be listed: that is recorded with the entries that wait for it. */
async function noteUnreadable(
  { context, engine, report, now }: PushRun,
  entries: readonly DueEntry[],
  failure: RoadbookError,
): Promise<void> {
  report(failure, 'service could not be read back');
  const attempt = {
    what: 'read-back',
    outcome: 'unreadable',
    error_code: failure.code,
    message: context.dependencies.redactor.redact(failure.message),
    run_id: context.runId,
    started_at: now(),
  } as const;
  const unknown = entries.filter(({ state }) => state === 'unknown');
  const attempts = unknown.map((entry) => ({ ...attempt, entry }));
  await engine.write((tx) => recordAttempts(tx, attempts, attempt.started_at));
}

const PAGE = 500;

async function readWindow(
  push: PushRun,
  scope: ReadBackScope,
  window: Window<DueEntry>,
  narrow: Narrow,
): Promise<Cleared[]> {
  const shown = await listed(push, window.search);
  // Most entries are new, and the service has nothing of their key.
  const isNew = (entry: DueEntry): boolean =>
    entry.state === 'ready' && !wasSent(entry) && !shown.byKey.has(entry.remote_key) && !isCut(shown);
  const cleared: Cleared[] = window.entries.filter(isNew);
  // What was sent has the first claim to what is there.
  const others = window.entries
    .filter((entry) => !isNew(entry))
    .toSorted((a, b) => Number(a.state === 'ready') - Number(b.state === 'ready'));
  for (const page of chunks(others, PAGE))
    if (!push.context.signal.aborted) cleared.push(...(await judge(push, scope, page, shown, narrow)));
  return cleared;
}

/** What one listing shows. */
interface Shown extends Listing {
  search: Period | undefined;
  /** When it began, by the service's clock: a wall clock that is set would take a jump for a wait. */
  listedAt: string;
  /** Why it proves no absence; undefined where it does. */
  doubt(list: string | undefined): Promise<string | undefined>;
  /** Identifiers that were found to be an entry. */
  assigned: Set<number>;
}

async function listed(push: PushRun, search: Period | undefined): Promise<Shown> {
  const { kind, engine, call, digest } = push;
  const { clock, fleet } = push.context.dependencies;
  const acceptedBefore = push.ago(push.settings.settle);
  const began = clock.monotonic();
  const records = await kind.list(call, search, digest);
  const listing = indexed(records);
  let known: Promise<queries.ControlRecord[]> | undefined;
  let isElsewhere: Promise<boolean> | undefined;
  return {
    ...listing,
    search,
    listedAt: push.ago((fleet.clockSkewMs() ?? 0) + clock.monotonic() - began),
    async doubt(list) {
      known ??= engine.read((sql) => queries.controlRecords(sql, kind.feed, search, acceptedBefore));
      const doubt = doubtOf(listing, await known, list);
      if (doubt === undefined || search === undefined || records.length + (await known).length > 0)
        return doubt;
      // A period without any record is believed where the same question shows records of another.
      isElsewhere ??= showsRecordsElsewhere(push, search);
      return (await isElsewhere) ? undefined : doubt;
    },
    assigned: new Set(),
  };
}

/** How far around a period without a record the control listing asks, where no entry was ever shown. */
const WIDER_MS = 14 * 86_400_000;

async function showsRecordsElsewhere(push: PushRun, empty: Period): Promise<boolean> {
  const { kind, engine, call, digest } = push;
  const shown = await engine.read((sql) => queries.shownPeriod(sql, kind.feed));
  const records = await answered(push, () => kind.list(call, shown ?? padded(empty, WIDER_MS), digest));
  return records !== undefined && records.length > 0;
}

/** Undefined where the service does not answer: the question of some entries must not hold up the others. */
async function answered<T>(
  { context, failures, report }: PushRun,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    const failure = asRoadbookError(thrown);
    if (context.signal.aborted || (failure instanceof Fatal && failure.code !== 'forbidden')) throw thrown;
    if (!failures.includes(failure)) report(failure, 'service could not be read back for one period');
    return undefined;
  }
}

/** Lists an entry's own period, where the shared listing proves nothing; undefined where that fails too. */
type Narrow = (entry: OutboxEntry) => Promise<Shown | undefined>;

/** In one run. */
const MOST_NARROW = 100;
/** For services that leave out what lies on the edge. */
const EDGE_MS = 60_000;

function narrowListings(push: PushRun): Narrow {
  const known = new Map<string, Promise<Shown | undefined>>();
  return async ({ period_start: start, period_end: end }) => {
    if (start === null || end === null) return undefined;
    const name = `${start} ${end}`;
    if (!known.has(name) && known.size < MOST_NARROW)
      known.set(
        name,
        answered(push, () => listed(push, padded({ start, end }, EDGE_MS))),
      );
    return known.get(name);
  };
}

async function judge(
  push: PushRun,
  scope: ReadBackScope,
  due: readonly DueEntry[],
  shown: Shown,
  narrow: Narrow,
): Promise<Cleared[]> {
  const { engine, kind } = push;
  const { feed, isOneAKey } = kind;
  const entries = await engine.read((sql) => queries.entriesByKey(sql, feed, due));
  const keys = entries.map(({ remote_key }) => remote_key);
  const ids = keys.flatMap((key) => (shown.byKey.get(key) ?? []).map(({ id }) => id));
  const owners = await engine.read((sql) => queries.ownersOf(sql, feed, ids));
  // A record may be that of an unknown entry with the same key, which is read back after the ready ones.
  const isContested = scope === 'ready' && !isOneAKey;
  const holders = isContested ? await engine.read((sql) => queries.holdersOf(sql, feed, keys)) : [];
  const contested = new Set(holders.flatMap((each) => (each.remote_id === null ? each.remote_key : [])));
  const facts = factsOf(push);
  const outcomes: Outcome[] = [];
  const cleared: Cleared[] = [];
  for (const entry of entries) {
    const payload = payloadOf(entry);
    const decision = await decisionFor(push, entry, payload?.data, shown, owners, narrow);
    if (decision.is === 'found' && contested.has(entry.remote_key)) continue;
    if (decision.is === 'found') shown.assigned.add(decision.record.id);
    if (decision.is === 'clear') cleared.push(entry);
    const outcome = afterReadBack(entry, decision, facts, payload && nextPlace(entry, payload));
    if (outcome !== undefined) outcomes.push(outcome);
  }
  if (outcomes.length === 0) return cleared;
  const stored = await engine.write((tx) => storeOutcomes(tx, push, outcomes));
  return [...cleared, ...stored.filter((outcome) => isCleared(outcome, shown)).map(({ entry }) => entry)];
}

/** It was found absent, or is to be changed. Under another key, or beyond the listing, it has to be looked for again. */
function isCleared({ before, entry }: Outcome, { search }: Shown): boolean {
  if (entry.state !== 'ready' || entry.attention === 'inconclusive') return false;
  const { period_start: start, period_end: end } = entry;
  const isListed =
    search === undefined || (start !== null && end !== null && start >= search.start && end <= search.end);
  return entry.remote_id !== null || (entry.remote_key === before.remote_key && isListed);
}

async function decisionFor(
  push: PushRun,
  entry: OutboxEntry,
  data: JsonObject | undefined,
  shown: Shown,
  owners: ReadonlyMap<number, EntryKey>,
  narrow: Narrow,
): Promise<Decision> {
  const { kind, settings, now } = push;
  const decisionBy = async (listing: Shown): Promise<Decision> => {
    // A record is one item, unless codes share it.
    const isTaken = (id: number): boolean => {
      const owner = owners.get(id);
      const isOthers = owner === undefined ? listing.assigned.has(id) : nameOf(owner) !== nameOf(entry);
      return isOthers && kind.isOneAKey !== true;
    };
    const matches = matchesOf(entry, listing, kind, isTaken, isOfDay(push, entry));
    const mustProve = needsProof(entry) && matches?.length === 0;
    const doubt = mustProve ? await listing.doubt(kind.listOf?.(data ?? {})) : undefined;
    const { listedAt } = listing;
    return decide({ entry, data, kind, matches, doubt, listedAt, settleMs: settings.settle, at: now() });
  };
  const decision = await decisionBy(shown);
  const isProof = decision.is !== 'inconclusive' && !(decision.is === 'clear' && isCut(shown));
  if (isProof || shown.search === undefined) return decision;
  const own = await narrow(entry);
  if (own !== undefined) return decisionBy(own);
  // A new entry waits for the next run, rather than be sent by a listing that may be cut off.
  return decision.is === 'clear' ? { is: 'nothing' } : decision;
}

/** With reused codes the day has to be the same too. */
function isOfDay({ settings, context }: PushRun, { period_start }: OutboxEntry): (period: Period) => boolean {
  if (!settings.reuse_codes || period_start === null) return () => true;
  const day = localDay(period_start, context.dependencies.timezone);
  return ({ start }) => localDay(start, context.dependencies.timezone) === day;
}
