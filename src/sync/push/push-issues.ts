// What the service does not have as the ERP offers it: feeds and files that could not be read, items that were rejected, are
// partial or differ, plans that are gone, and stops whose outcome cannot be returned. The health keeps each while a person
// can still mend it, because the next run may find nothing new.

import { Skippable } from '../../core/errors.ts';
import { firstNames } from '../../core/text/first-names.ts';
import { isoInstant, latestInstant } from '../../core/time/clock.ts';
import { DAY_MS } from '../../core/time/durations.ts';
import { FEED_KINDS } from '../../erp/feed-kinds.ts';
import type { ErpBatch } from '../../erp/source.ts';
import { deleteFact, factIn, writeFact } from '../../warehouse/control/learned-facts.ts';
import type { Engine, Transaction } from '../../warehouse/engine.ts';
import { dropOldUnread, gonePlans, openIssues, unreadFact } from '../../warehouse/outbox/lists.ts';
import { uncodedStops } from '../../warehouse/outbox/returns.ts';
import { type PushRun, pushJobOf } from './kind.ts';

const SHOW_REJECTED = 'npx roadbook outbox list --state rejected shows them; a dropped file has its result in failed/.';

/** A text is the number, `noun` and `what`. */
const WORDS = {
  unreadable: {
    what: 'could not be read in the last day',
    noun: ['file or feed', 'files or feeds'],
    hint: 'The result in failed/ has the reason, or npx roadbook erp check, which lists every error.',
  },
  rejected: { what: 'rejected, and neither corrected nor cancelled', noun: ['item', 'items'], hint: SHOW_REJECTED },
  partial: {
    what: 'taken without some of their stops',
    noun: ['plan', 'plans'],
    hint: 'npx roadbook outbox list --state partial shows them, with the reasons.',
  },
  differs: {
    what: 'what the ERP offers, and no call can change that',
    noun: ['item at the service differs from', 'items at the service differ from'],
    hint: 'npx roadbook outbox list --state differs shows them, --state partial those that also lack stops. Change each at the service: it stays listed until its period is over. Or let the ERP offer again what was sent.',
  },
  gone: {
    what: 'no longer at the service',
    noun: ['confirmed plan is', 'confirmed plans are'],
    hint: 'If that is intended: npx roadbook outbox cancel CODE --force. If not, let the ERP offer each again under a new code.',
  },
  stops_without_code: {
    what: 'without an external_code: their outcomes cannot be returned to the ERP',
    noun: ['stop', 'stops'],
    hint: 'Give every stop an external_code in the ERP; the partial runs of return-executions name the plans.',
  },
};

const REASONS = Object.keys(WORDS) as (keyof typeof WORDS)[];

export type PushIssue = Awaited<ReturnType<typeof pushIssues>>[number];

export async function pushIssues(engine: Engine, nowMs: number) {
  const at = isoInstant(nowMs);
  const gone = await engine.read((sql) => gonePlans(sql, at));
  const counts = await engine.read(async (sql) => ({
    ...(await openIssues(sql, FEED_KINDS, at)),
    gone: gone.map(({ gone_since }) => ({ kind: 'route_plans', n: 1, newest: gone_since })),
    stops_without_code: [{ kind: 'route_plans', ...(await uncodedStops(sql, isoInstant(nowMs - DAY_MS))) }],
  }));
  return REASONS.flatMap((reason) => {
    const entries = counts[reason].reduce((sum, { n }) => sum + n, 0);
    if (entries === 0) return [];
    const pushes = [...new Set(counts[reason].map(({ kind }) => pushJobOf(kind)))];
    const jobs = reason === 'stops_without_code' ? ['return-executions'] : pushes;
    const newest = latestInstant(counts[reason].map((each) => each.newest));
    const { what, noun, hint }: { what: string; noun: readonly string[]; hint: string } = WORDS[reason];
    const text = `${entries} ${noun[entries === 1 ? 0 : 1]} ${what}${reason === 'gone' ? `: ${namesOf(gone)}` : ''}`;
    return [{ reason, entries, jobs, newest, text, hint }];
  });
}

const MOST_NAMED = 5;

const namesOf = (entries: readonly { external_code: string }[]): string =>
  firstNames(
    entries.map(({ external_code }) => external_code),
    MOST_NAMED,
  );

export interface UnreadFact {
  name: string;
  reason: string;
  /** Absent, as `at`, if an earlier version stored the fact. */
  kind?: string;
  /** When the file was taken; of what every run reads again, when it was first read with this reason. */
  at?: string;
}

/** Part of the transaction that stores the last items of a file, query or answer. `reason` is absent if it could be read. */
export async function noteUnread(
  tx: Transaction,
  push: PushRun,
  { name, file }: ErpBatch,
  reason: string | undefined,
): Promise<void> {
  const fact = unreadFact(push.kind.feed, name);
  if (reason === undefined) await deleteFact(tx.sql, fact);
  else {
    const now = push.now();
    // A file is taken once. Every run reads a query again, and a file that it cannot take. If the time moved each time, the
    // same read error would be a new item for the alerts.
    const last = file === undefined ? await factIn<UnreadFact>(tx.sql, fact) : undefined;
    const at = last?.reason === reason ? (last.at ?? now) : now;
    const unread: UnreadFact = { name, reason, kind: push.kind.feed, at };
    await writeFact(tx, fact, unread, Date.parse(now));
  }
}

export const forgetOldUnread = ({ sql }: Transaction, push: PushRun): Promise<void> =>
  dropOldUnread(sql, push.kind.feed, push.ago(DAY_MS));

/** Reports what this run rejected or could not read, what is partial, and what differs. */
export function reportPushIssues({ kind, feed, context, partial, differing, unread, report }: PushRun): void {
  const some = (n: number, noun = kind.noun): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
  const rejected = context.counts.rejected - unread.length;
  const sources = new Set(unread).size;
  const isQuery = feed.source.files === undefined;
  // A dropped file has its result. A query that cannot be read may give no item at all, so the run is no success.
  if (isQuery && sources > 0) {
    const hint = 'npx roadbook erp check lists every error of the feed.';
    report(new Skippable('The feed cannot be read completely', { code: 'feed_unreadable', hint }), 'feed not readable');
  }
  const files = isQuery ? 0 : sources;
  if (rejected + files > 0) {
    const message = [
      ...(rejected > 0 ? [`${some(rejected)} rejected`] : []),
      ...(files > 0 ? [`${some(files, 'file')} not read completely`] : []),
    ].join(', ');
    report(new Skippable(message, { code: 'items_rejected', hint: SHOW_REJECTED }), 'items were rejected');
  }
  if (partial.length > 0) {
    const { hint } = WORDS.partial;
    const message = `${some(partial.length)} taken without some parts: ${partial.slice(0, 5).join(', ')}`;
    report(new Skippable(message, { code: 'items_partial', hint }), 'items are partial');
  }
  if (differing.size > 0) {
    const { hint } = WORDS.differs;
    const message = `${some(differing.size)} at the service not as the ERP offers: ${firstNames([...differing], MOST_NAMED)}`;
    report(new Skippable(message, { code: 'differs', hint }), 'items differ from the ERP');
  }
}
