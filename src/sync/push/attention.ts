// Entries that need a person: one text for each reason, the same for runs, commands, page and alerts. As long as an entry
// needs a person, each run ends partial, with the reason as its code.
import { Skippable } from '../../core/errors.ts';
import { latestInstant } from '../../core/time/clock.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type AttentionReason, type EntryFilter, entriesNeedingAttention } from '../../warehouse/outbox/lists.ts';
import type { PushRun } from './kind.ts';

const LIST = 'npx roadbook outbox list shows them';
const NOT_THERE = `Check whether the service has them; ${LIST}. If one is not there: npx roadbook outbox retry CODE --not-there`;

/** `what` follows the number of entries. */
const ATTENTION_WORDS: Readonly<Record<AttentionReason, { what: string; hint: string }>> = {
  unknown: { what: 'sent without a clear answer for more than ten minutes', hint: NOT_THERE },
  inconclusive: { what: 'may be at the service, and no listing is conclusive', hint: NOT_THERE },
  retries_exhausted: { what: 'sent five times without success', hint: NOT_THERE },
  never_shown: { what: 'accepted by the service, but shown by no listing', hint: NOT_THERE },
  found_twice: {
    what: 'at the service more than once',
    hint: `Remove all but one at the service; Roadbook cannot. ${LIST}.`,
  },
  code_reused: {
    what: 'rejected because the ERP reused the code of another day',
    hint: `Give each plan its own code, or set reuse_codes: true for the job. ${LIST}.`,
  },
  read_error: {
    what: 'at the service, or possibly, and offered again in a form that cannot be read',
    hint: `Correct it in the ERP. ${LIST}.`,
  },
  invalid_change: {
    what: 'at the service, or possibly, and changed by the ERP into an invalid item',
    hint: `Correct it in the ERP. ${LIST}.`,
  },
  not_acknowledged: {
    what: 'finished, but the ERP could not be notified for more than ten minutes',
    hint: `Check the acknowledgement of the feed. ${LIST}.`,
  },
};

export const ATTENTION_REASONS = Object.keys(ATTENTION_WORDS) as AttentionReason[];

export type OutboxAttention = Awaited<ReturnType<typeof outboxAttention>>[number];

/** Why entries need a person now: all of them, or those of the filter. */
export async function outboxAttention(engine: Engine, at: string, filter?: EntryFilter, noun = 'item') {
  const found = await engine.read((sql) => entriesNeedingAttention(sql, at, filter));
  return [...Map.groupBy(found, ({ reason }) => reason)].map(([reason, own]) => {
    const entries = own.reduce((sum, { n }) => sum + n, 0);
    const { what, hint } = ATTENTION_WORDS[reason];
    const text = `${entries} ${entries === 1 ? noun : `${noun}s`}: ${what}`;
    const newest = latestInstant(own.map((each) => each.newest));
    return { reason, entries, kinds: own.map(({ kind }) => kind), newest, text, hint };
  });
}

export async function reportAttention({ kind, engine, now, report }: PushRun): Promise<void> {
  for (const { reason, entries, text, hint } of await outboxAttention(engine, now(), { kind: kind.feed }, kind.noun))
    report(new Skippable(text, { code: reason, hint }), 'entries need a person', { entries });
}
