// Searches the service for the entries that need it: those whose outcome is unknown, those that are about to be
// sent, those whose identifier or optimisation is awaited. One search covers all entries of its period.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, Fatal } from '../../core/errors.ts';
import { isInDoubt, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import {
  foreignIds,
  markChecked,
  type Sought,
  soughtEntries,
  soughtPeriods,
} from '../../warehouse/outbox-search.ts';
import { arrivedTwins } from '../../warehouse/outbox-twins.ts';
import { absentForMs, type Moment } from './absence-clock.ts';
import { dataOf, type Seen } from './push-kind.ts';
import type { PushRun } from './push-run.ts';
import { isSettled, needsWitness, sightOf } from './push-sight.ts';
import { applySight, type Looked, parkBlind } from './push-sight-effects.ts';
import { askAbout, noteUnreadable } from './push-unreadable.ts';
import { isOf, type SearchWindow, searchWindows } from './search-windows.ts';
import { indexed, type Listing, type Witness, witnessOf } from './search-witness.ts';

export interface LookOptions {
  /** Entries that are about to be sent are looked for too. */
  beforeSending: boolean;
}

/** Failures are told by the run; what could not be read stays as it was. */
export async function lookAtService(push: PushRun, { beforeSending }: LookOptions): Promise<void> {
  const { context, failures } = push;
  const sought = soughtBy(push, beforeSending);
  const windows = await windowsOf(push, sought);
  for (const window of windows) {
    if (context.signal.aborted) return;
    try {
      const shown = await searched(push, window);
      await eachPage(push, sought, window, (page) => compare(push, page, shown));
    } catch (thrown) {
      if (context.signal.aborted) return;
      const failure = asRoadbookError(thrown);
      failures.push(failure);
      context.log.warn({ err: failure }, 'service could not be searched');
      await eachPage(push, sought, window, (page) => noteUnreadable(push, page, failure));
      if (failure instanceof Fatal) return;
    }
  }
}

/** What one search has shown. */
interface Shown {
  listing: Listing;
  /** When the search began. */
  moment: Moment;
  witness: Witness;
}

async function searched(push: PushRun, window: SearchWindow | undefined): Promise<Shown> {
  const { clock, fleet } = push.context.parts;
  const [at, elapsedMs] = [push.now(), clock.monotonic()];
  const listing = indexed(await push.kind.list(push.call, window?.search, push.digest));
  const skewMs = fleet.clockSkewMs();
  const thereAt = skewMs === undefined ? null : isoInstant(clock.now() - skewMs);
  return {
    listing,
    moment: { at, elapsedMs, thereAt },
    witness: witnessOf(push, listing, window?.search),
  };
}

/**
 * Whether everything is looked for before it is sent: what can be changed, to know whether it is created, and what may
 * be there under another code.
 */
export const isCheckedFirst = ({ kind, settings }: Pick<PushRun, 'kind' | 'settings'>): boolean =>
  settings.check_before_send === true || kind.change !== undefined || kind.hasTwins === true;

const soughtBy = ({ kind, settings, context, now }: PushRun, beforeSending: boolean): Sought => ({
  kind: kind.feed,
  at: now(),
  runId: context.runId,
  ready: beforeSending ? (isCheckedFirst({ kind, settings }) ? 'all' : 'in-doubt') : 'none',
});

async function windowsOf(push: PushRun, sought: Sought): Promise<(SearchWindow | undefined)[]> {
  const { kind, context } = push;
  const periods = await context.parts.engine.read((sql) => soughtPeriods(sql, sought));
  if (kind.periodOf === undefined) return periods.length > 0 ? [undefined] : [];
  return searchWindows(periods.filter(({ start, end }) => start !== null && end !== null));
}

async function eachPage(
  { context }: PushRun,
  sought: Sought,
  window: SearchWindow | undefined,
  work: (page: OutboxEntry[]) => Promise<void>,
): Promise<void> {
  const { engine } = context.parts;
  // What was sent has the first claim to what is there.
  for (const isSent of [true, false]) {
    for (let after = ''; !context.signal.aborted; ) {
      const page = await engine.read((sql) =>
        soughtEntries(sql, sought, { isSent, period: window?.covers, after }),
      );
      if (page.length === 0) break;
      await work(page.filter((entry) => window === undefined || isOf(window, entry)));
      after = page.at(-1)?.external_code ?? '';
    }
  }
}

async function compare(push: PushRun, page: readonly OutboxEntry[], shown: Shown): Promise<void> {
  const { kind, settings, context } = push;
  const { engine } = context.parts;
  const { listing, moment, witness } = shown;
  const found = page.map((entry) => candidates(push, entry, listing));
  const ids = found.flatMap((each) => each.map(({ id }) => id));
  const foreign =
    kind.change === undefined ? undefined : await engine.read((sql) => foreignIds(sql, kind.feed, ids));
  const twins: ReadonlyMap<string, string> =
    kind.hasTwins === true ? await engine.read((sql) => arrivedTwins(sql, page)) : new Map();
  const clear: OutboxEntry[] = [];
  const looked: Looked = { readAt: moment.at, now: push.now(), moment };
  for (const [index, entry] of page.entries()) {
    const free = (found[index] ?? []).filter(
      ({ id }) => (foreign?.get(id) ?? entry.external_code) === entry.external_code,
    );
    const own = ownAmong(push, entry, free, moment.at);
    const twin = twins.get(entry.external_code);
    const sight = sightOf(entry, own ?? [], dataOf(entry), kind, {
      ...looked,
      settleMs: settings.settle,
      absentForMs: absentForMs(engine, entry, moment),
      isWhole: kind.periodOf === undefined,
      hasTwin: twin !== undefined,
    });
    if ('seen' in sight) foreign?.set(sight.seen.id, entry.external_code);
    const isRefusal = sight.is === 'refused' && kind.seek === undefined;
    const why = await askAbout(push, entry, async () => {
      if (!isRefusal && !needsWitness(entry, sight)) return undefined;
      return own === undefined ? UNTELLABLE : witness(dataOf(entry) ?? {});
    });
    if (why === undefined) continue;
    if (sight.is === 'refused') sight.isProven = isRefusal && why.answer === undefined;
    if (why.answer !== undefined && !isRefusal) await parkBlind(push, entry, why.answer, twin);
    else if (await applySight(push, entry, sight, looked)) clear.push(entry);
  }
  await engine.write(({ sql }) => markChecked(sql, clear, context.runId, looked));
}

const UNTELLABLE =
  'The service has one of the same name, and nobody can tell whether it is this one: if so, remove it there';

/** By its identifier where that is known; by its key unless another's thing must not be taken for ours. */
function candidates({ kind, settings }: PushRun, entry: OutboxEntry, { byId, byKey }: Listing): Seen[] {
  if (entry.remote_id !== null) {
    const known = byId.get(entry.remote_id);
    if (known !== undefined) return [known];
    // That it is gone has to be believed before another one may be taken for it.
    if (kind.periodOf === undefined) return [];
  }
  const isNotOurs = settings.match === 'external_code' && entry.state !== 'confirmed' && !isInDoubt(entry);
  return isNotOurs ? [] : (byKey.get(entry.remote_key) ?? []);
}

/** Undefined where some may be ours or not: only codes count, none is there, and what was sent is not kept or differs. */
function ownAmong(
  { kind, settings }: PushRun,
  entry: OutboxEntry,
  found: Seen[],
  readAt: string,
): Seen[] | undefined {
  const isTold =
    settings.match !== 'external_code' || entry.state === 'confirmed' || entry.remote_id !== null;
  // One that was accepted is there; where nothing else is shown once it has to be, that is it.
  const isAccepted =
    entry.confirmed_at !== null &&
    found.length === 1 &&
    isSettled(entry.confirmed_at, { readAt, settleMs: settings.settle });
  if (isTold || isAccepted || found.length === 0) return found;
  const data = entry.content_hash === entry.sent_hash ? dataOf(entry) : undefined;
  const same = found.filter(({ record }) => data !== undefined && kind.isSame?.(record, data) === true);
  return same.length > 0 ? same : undefined;
}
