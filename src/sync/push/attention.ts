// What needs a person: one sentence for each reason, the same for runs, commands, page and alerts. A run is partial, with
// the reason as its code, for as long as something does.
import { Skippable } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type AttentionReason, entriesNeedingAttention } from '../../warehouse/outbox/lists.ts';
import type { PushKind, PushRun } from './kind.ts';

interface Words {
  /** Follows the number of entries. */
  what: string;
  hint: string;
}

const LOOK = 'npx roadbook outbox list names them';
const NOT_THERE = `Look for them at the service; ${LOOK}. If one is not there: npx roadbook outbox retry CODE --not-there`;

const ATTENTION_WORDS: Readonly<Record<AttentionReason, Words>> = {
  unknown: { what: 'sent without a clear answer for more than ten minutes', hint: NOT_THERE },
  inconclusive: { what: 'may be at the service, and no listing can tell', hint: NOT_THERE },
  retries_exhausted: { what: 'sent five times without success', hint: NOT_THERE },
  never_shown: { what: 'accepted by the service and shown by no listing', hint: NOT_THERE },
  found_twice: {
    what: 'at the service more than once',
    hint: `Remove all but one at the service; Roadbook cannot. ${LOOK}.`,
  },
  code_reused: {
    what: 'rejected because the ERP used the code of another day again',
    hint: `Give each plan a code of its own, or set reuse_codes: true for the job. ${LOOK}.`,
  },
  read_error: {
    what: 'at the service, or maybe, and offered again in a form that cannot be read',
    hint: `Correct it in the ERP. ${LOOK}.`,
  },
  invalid_change: {
    what: 'at the service, or maybe, and changed by the ERP into something that breaks the rules',
    hint: `Correct it in the ERP. ${LOOK}.`,
  },
  not_acknowledged: {
    what: 'finished, and the ERP does not take the news for more than ten minutes',
    hint: `Look at the acknowledgement of the feed. ${LOOK}.`,
  },
};

export const ATTENTION_REASONS = Object.keys(ATTENTION_WORDS) as AttentionReason[];

export interface OutboxAttention {
  reason: AttentionReason;
  entries: number;
  text: string;
  hint: string;
}

/** What of the outbox needs a person now, of one kind or of all. */
export async function outboxAttention(
  engine: Engine,
  at: string,
  kind?: PushKind,
): Promise<OutboxAttention[]> {
  const found = await engine.read((sql) => entriesNeedingAttention(sql, at, kind?.feed));
  const noun = kind?.noun ?? 'item';
  return found.map(({ reason, n }) => ({
    reason,
    entries: n,
    text: `${n} ${n === 1 ? noun : `${noun}s`}: ${ATTENTION_WORDS[reason].what}`,
    hint: ATTENTION_WORDS[reason].hint,
  }));
}

export async function reportAttention({ kind, engine, now, report }: PushRun): Promise<void> {
  for (const { reason, entries, text, hint } of await outboxAttention(engine, now(), kind))
    report(new Skippable(text, { code: reason, hint }), 'needs a person', { entries });
}
