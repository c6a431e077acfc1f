// The read-back: lists the periods of the due entries at the service, and applies what each listing shows. Returns the
// entries that this run may send. One listing serves all entries of its period; a failed listing holds up only those.
import PQueue from 'p-queue';
import { chunks } from '../../core/chunks.ts';
import { asRoadbookError, Fatal, isPassing, type RoadbookError, Skippable } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { localDay } from '../../erp/items/moments.ts';
import { recordAttempts } from '../../warehouse/outbox/attempts.ts';
import { type EntryKey, nameOf, needsProof, type OutboxEntry, wasSent } from '../../warehouse/outbox/entry.ts';
import * as queries from '../../warehouse/outbox/queries.ts';
import { type Decision, decide, doubtOf, indexed, isApart, type Listing, matchesOf, mayBeTruncated } from './decide.ts';
import { nextPlace, type PushRun, payloadOf } from './kind.ts';
import { afterReadBack, countOutcomes, factsOf, type Outcome, storeOutcomes } from './outcome.ts';
import { padded, type Window, windowsOf } from './windows.ts';

type EntrySummary = queries.EntrySummary;
type Period = queries.Period;

/** An entry that may be sent, with its revision at the time of the read-back. */
export type Cleared = EntryKey & Pick<OutboxEntry, 'revision'>;

/** `ready`: entries to send; `sent`: entries to find; `all`: both. */
export type ReadBackScope = 'ready' | 'sent' | 'all';

export async function readBack(push: PushRun, scope: ReadBackScope): Promise<Cleared[]> {
  const { kind, context } = push;
  if (context.signal.aborted) return [];
  const due = await dueEntries(push, scope);
  // A PUT on a known identifier may be repeated, so it needs no read-back.
  const isUpdate = ({ state, remote_id }: EntrySummary): boolean =>
    state === 'ready' && remote_id !== null && kind.change !== undefined;
  const cleared: Cleared[] = due.filter(isUpdate);
  const searched = due.filter((entry) => !isUpdate(entry));
  const windows = windowsOf(searched, kind.periodOf !== undefined);
  if (kind.periodOf !== undefined) reportUndated(push, searched);
  const extra = { narrow: narrowListings(push), missingOf: missingParts(push) };
  const queue = new PQueue({ concurrency: context.dependencies.concurrency });
  /** No further listing can succeed in this run. */
  let canListNothing = false;
  await queue.addAll(
    windows.map((window) => async () => {
      if (canListNothing || context.signal.aborted) return;
      try {
        cleared.push(...(await readWindow(push, scope, window, extra)));
      } catch (thrown) {
        if (context.signal.aborted) return;
        const failure = asRoadbookError(thrown);
        // If only the period of the request is invalid, other periods can still be listed.
        canListNothing ||= failure instanceof Fatal && failure.code !== 'request_invalid';
        await noteUnreadable(push, window.entries, failure);
      }
    }),
  );
  // Windows finish in any order. Restore the order of the due entries, so that the earliest is sent first.
  const byName = new Map(cleared.map((each) => [nameOf(each), each]));
  return due.flatMap((each) => byName.get(nameOf(each)) ?? []);
}

/** Entries without a period, stored by an earlier version. No listing can show them, so they are never sent. */
function reportUndated({ report, kind }: PushRun, entries: readonly EntrySummary[]): void {
  const undated = entries.filter(({ period_start, period_end }) => period_start === null || period_end === null);
  const [first] = undated;
  if (first === undefined) return;
  const failure = new Skippable(
    `${undated.length} of the ${kind.noun}s to send have no period; the first is ${first.external_code}`,
    {
      code: 'no_period',
      hint: 'Correct the dates in the ERP, or cancel the entry: npx roadbook outbox cancel CODE.',
    },
  );
  report(failure, 'entries without a period are not sent');
}

function dueEntries(push: PushRun, scope: ReadBackScope): Promise<EntrySummary[]> {
  const { kind, engine, settings, now } = push;
  const rejectedSince = push.ago(settings.settle);
  return engine.read(async (sql) => [
    ...(scope === 'sent' ? [] : await queries.readyEntries(sql, kind.feed, now())),
    ...(scope === 'ready' ? [] : await queries.entriesToReadBack(sql, kind.feed, now(), rejectedSince)),
  ]);
}

/** Records with each unknown entry of the window that its listing failed. */
async function noteUnreadable(
  { context, engine, report, now }: PushRun,
  entries: readonly EntrySummary[],
  failure: RoadbookError,
): Promise<void> {
  report(failure, 'read-back failed');
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
  window: Window<EntrySummary>,
  extra: ExtraCalls,
): Promise<Cleared[]> {
  const shown = await listed(push, window.search, window.entries.some(needsProof));
  // Most entries are new, and the listing shows no record with their key.
  const isNew = (entry: EntrySummary): boolean =>
    entry.state === 'ready' && !wasSent(entry) && !shown.byKey.has(entry.remote_key) && !mayBeTruncated(shown);
  const cleared: Cleared[] = window.entries.filter(isNew);
  // Entries that were sent come first, so that a record is assigned to one of them rather than to a new entry.
  const others = window.entries
    .filter((entry) => !isNew(entry))
    .toSorted((a, b) => Number(a.state === 'ready') - Number(b.state === 'ready'));
  for (const page of chunks(others, PAGE))
    if (!push.context.signal.aborted) cleared.push(...(await judge(push, scope, page, shown, extra)));
  return cleared;
}

/** One listing, with what is needed to judge entries by it. */
interface Shown extends Listing {
  search: Period | undefined;
  /** When the listing started, by the service's clock: if the local clock is set, the jump must not count as waiting. */
  listedAt: string;
  /** Records that the listing has to show; read only for a proof of absence. */
  known: readonly queries.ControlRecord[];
  /** The listing is empty, and the same call shows records for another period: the period is empty. */
  isEmptyPeriod: boolean;
}

async function listed(push: PushRun, search: Period | undefined, mustProve: boolean): Promise<Shown> {
  const { kind, engine, call, digest } = push;
  const { clock, fleet } = push.context.dependencies;
  const acceptedBefore = push.ago(push.settings.settle);
  const began = clock.monotonic();
  const records = await kind.list(call, search, digest);
  const listedAt = push.ago((fleet.clockSkewMs() ?? 0) + clock.monotonic() - began);
  const known = mustProve
    ? await engine.read((sql) => queries.controlRecords(sql, kind.feed, search, acceptedBefore))
    : [];
  const mayBeEmpty = mustProve && search !== undefined && records.length + known.length === 0;
  const isEmptyPeriod = mayBeEmpty && (await showsRecordsElsewhere(push, search));
  return { ...indexed(records), search, listedAt, known, isEmptyPeriod };
}

/** How far the control listing extends around an empty period, if no entry was ever shown. */
const WIDER_MS = 14 * 86_400_000;

async function showsRecordsElsewhere(push: PushRun, empty: Period): Promise<boolean> {
  const { kind, engine, call, digest } = push;
  const shown = await engine.read((sql) => queries.shownPeriod(sql, kind.feed));
  const records = await answered(push, () => kind.list(call, shown ?? padded(empty, WIDER_MS), digest));
  return records !== undefined && records.length > 0;
}

/**
 * Undefined if the call fails, or `lasting` if it would fail again: an extra call for some entries must not hold up the
 * others.
 */
async function answered<T>(
  { context, failures, report }: PushRun,
  ask: () => Promise<T>,
  lasting?: T,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    const failure = asRoadbookError(thrown);
    if (context.signal.aborted || (failure instanceof Fatal && failure.code !== 'forbidden')) throw thrown;
    if (!failures.includes(failure)) report(failure, 'read-back of some entries failed');
    return isPassing(failure) ? undefined : lasting;
  }
}

/** The calls of a read-back beside its listings. */
interface ExtraCalls {
  narrow: ReturnType<typeof narrowListings>;
  missingOf: ReturnType<typeof missingParts>;
}

/** Most narrow listings of one read-back, and most comparisons of items that were never sent. */
const MOST_EXTRA = 100;
/** Some services omit records on the edge of the period. */
const EDGE_MS = 60_000;

/** Lists the entry's own period, if the shared listing proves nothing; undefined if that is not possible either. */
function narrowListings(push: PushRun) {
  const known = new Map<string, Promise<Shown | undefined>>();
  return async (entry: OutboxEntry): Promise<Shown | undefined> => {
    const { period_start: start, period_end: end } = entry;
    if (start === null || end === null) return undefined;
    const mustProve = needsProof(entry);
    const name = `${start} ${end} ${mustProve}`;
    if (!known.has(name) && known.size < MOST_EXTRA) {
      const own = padded({ start, end }, EDGE_MS);
      known.set(
        name,
        answered(push, () => listed(push, own, mustProve)),
      );
    }
    return known.get(name);
  };
}

async function judge(
  push: PushRun,
  scope: ReadBackScope,
  due: readonly EntrySummary[],
  shown: Shown,
  { narrow, missingOf }: ExtraCalls,
): Promise<Cleared[]> {
  const { engine, kind } = push;
  const entries = await engine.read((sql) => queries.entriesByKey(sql, kind.feed, due));
  const ids = entries.flatMap(({ remote_key }) => (shown.byKey.get(remote_key) ?? []).map(({ id }) => id));
  const owners = await engine.read((sql) => queries.ownersOf(sql, kind.feed, ids));
  const facts = factsOf(push);
  const outcomes: Outcome[] = [];
  const cleared: Cleared[] = [];
  for (const entry of entries) {
    const payload = payloadOf(entry);
    const decision = await decisionFor(push, entry, payload?.data, shown, owners, narrow);
    if (decision.is === 'clear') cleared.push(entry);
    // A record may belong to an unknown entry with the same key, and unknown entries are read back later in the run.
    if (scope === 'ready') continue;
    if (decision.is === 'found') owners.set(decision.record.id, entry);
    const compared = await missingOf(entry, payload?.data, decision);
    const outcome = afterReadBack(entry, compared, facts, payload && nextPlace(entry, payload));
    if (outcome !== undefined) outcomes.push(outcome);
  }
  if (outcomes.length === 0) return cleared;
  const stored = await engine.write((tx) => storeOutcomes(tx, push, outcomes));
  countOutcomes(push, stored);
  return [...cleared, ...stored.filter((outcome) => isCleared(outcome, shown)).map(({ entry }) => entry)];
}

/**
 * A send without a clear answer may have left an item partial, an item that was there before may have other parts, and the
 * listing does not show them. Parts that are missing soon after the send may still be on their way: the entry stays unknown
 * until a later run. An item that Roadbook never sent is at the service in any case: it is confirmed, compared only if that takes
 * few calls, and says if it was not.
 */
function missingParts(push: PushRun) {
  const { kind, call, settings, now } = push;
  const { missing: missingIn } = kind;
  let compared = 0;
  return async (entry: OutboxEntry, data: JsonObject | undefined, decision: Decision): Promise<Decision> => {
    const { state, sent_at, sent_hash, content_hash } = entry;
    const isUnclear = state !== 'confirmed' && (sent_hash === null || sent_hash === content_hash);
    if (decision.is !== 'found' || !isUnclear || data === undefined || missingIn === undefined) return decision;
    const isForeign = sent_hash === null;
    if (isForeign && !decision.isSame) return decision;
    if (isForeign && ++compared > MOST_EXTRA) return { ...decision, isUncompared: true };
    const ask = async () => (await missingIn(call, decision.record.id, data)) ?? NOT_COMPARED;
    const missing = await answered(push, ask, NOT_COMPARED);
    if (missing === undefined && isForeign) return { ...decision, isUncompared: true };
    const mayArrive = state === 'unknown' && !isApart(sent_at, now(), settings.settle);
    return missing?.length !== 0 && mayArrive ? { is: 'nothing' } : { ...decision, missing: missing ?? NOT_COMPARED };
  };
}

const NOT_COMPARED = ['The service does not show its points; compare them there'];

/** The entry is absent, or is to be changed. If its key changed, or its period exceeds the listing, read it back again. */
function isCleared({ before, entry, attempt }: Outcome, { search }: Shown): boolean {
  if (entry.state !== 'ready' || attempt?.outcome === 'inconclusive') return false;
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
  narrow: ExtraCalls['narrow'],
): Promise<Decision> {
  const { kind, settings, now } = push;
  // A record belongs to one entry, unless the codes of a kind may share it.
  const isTaken = (id: number): boolean =>
    kind.hasUniqueKey !== true && nameOf(owners.get(id) ?? entry) !== nameOf(entry);
  const decisionBy = (listing: Shown): Decision => {
    const { listedAt, known, isEmptyPeriod } = listing;
    const matches = matchesOf(entry, listing, kind, isTaken, isOfDay(push, entry));
    const mustProve = needsProof(entry) && matches?.length === 0 && !isEmptyPeriod;
    const doubt = mustProve ? doubtOf(listing, known, kind.listOf?.(data ?? {})) : undefined;
    return decide({ entry, data, kind, matches, doubt, listedAt, settleMs: settings.settle, at: now() });
  };
  const decision = decisionBy(shown);
  const isProof = decision.is !== 'inconclusive' && !(decision.is === 'clear' && mayBeTruncated(shown));
  if (isProof || shown.search === undefined) return decision;
  const own = await narrow(entry);
  if (own !== undefined) return decisionBy(own);
  // A new entry waits for the next run: the listing may be truncated, so it does not prove that the entry may be sent.
  return decision.is === 'clear' ? { is: 'nothing' } : decision;
}

/** If codes are reused, the local day must match too. */
function isOfDay({ settings, context }: PushRun, { period_start }: OutboxEntry): (period: Period) => boolean {
  if (!settings.reuse_codes || period_start === null) return () => true;
  const day = localDay(period_start, context.dependencies.timezone);
  return ({ start }) => localDay(start, context.dependencies.timezone) === day;
}
