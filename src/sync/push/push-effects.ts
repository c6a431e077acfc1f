// What each step of the intake writes into the outbox. Pure: a move and the columns that change with it.
import type { JsonObject } from '../../core/glossary.ts';
import type { ErpThing } from '../../erp/source.ts';
import { type EntryChange, isInDoubt, type OutboxEntry, UNSENT } from '../../warehouse/outbox-entry.ts';
import type { MoveName } from '../../warehouse/outbox-states.ts';
import type { Step } from './push-intake.ts';
import type { PushRun } from './push-run.ts';
import { joinPeriods } from './search-windows.ts';

export interface Effect {
  /** In this order; none where only what is known changes. */
  moves: readonly MoveName[];
  change: EntryChange;
}

export interface Offered {
  /** The columns of its content. */
  content: ReturnType<typeof contentOf>;
  erp_code: string | null;
  /** Why it must not be sent. */
  reasons: readonly string[];
  /** Changes after confirmation are flagged, not passed over. */
  flags: boolean;
  /** ISO instant of now. */
  at: string;
  /** What was refused so long ago a search would show by now. */
  settleMs: number;
}

const INVALID = 'It breaks the rules and was not sent';
export const INVALID_CHANGE =
  'The service may have an earlier content; what the ERP gave since breaks the rules';
/** Begins the reasons of a change that was not taken, beside those of what the service has. */
const NOT_TAKEN = 'not taken: ';
const NOT_SENT_AGAIN = 'It was not sent again; an earlier send of it may have reached the service';
/** The service took it without saying as what, and the ERP has changed it since. */
export const UNNAMED = {
  is_doubtful: true,
  message: 'The service has it, and it has to be found there before it can be changed',
} as const;
export const CHANGED_AFTER_PUSH = 'The ERP changed it after the service had it; the service cannot change it';

export function contentOf(
  { kind, feed, digest }: Pick<PushRun, 'kind' | 'feed' | 'digest'>,
  { data, options }: ErpThing,
  hash: string,
) {
  const merged: JsonObject = { ...feed.options, ...options };
  const period = kind.periodOf?.(data);
  const isDated = period !== undefined && period.start !== '' && period.end !== '';
  return {
    content_hash: hash,
    remote_key: kind.keyOf(data, digest),
    payload: JSON.stringify({ data, options: merged }),
    period_start: isDated ? period.start : null,
    period_end: isDated ? period.end : null,
    is_async: merged.is_async === true,
    changed_after_push: false,
  };
}

/** Columns of a new entry that is refused before it was sent. */
export const refusalOf = (reasons: readonly string[], message = INVALID) => ({
  payload: null,
  reasons: JSON.stringify(reasons),
  message,
});

/** One that may be at the service is refused too, but still looked for. */
export const refusalOfKnown = (known: OutboxEntry, reasons: readonly string[], message?: string) =>
  isInDoubt(known)
    ? { ...refusalOf(reasons, NOT_SENT_AGAIN), is_watched: true }
    : { ...refusalOf(reasons, message), is_watched: false };

/** Given up or refused before the searches could tell whether it had arrived: they have to tell now. */
function isUnresolved(known: OutboxEntry, { at, settleMs }: Offered): boolean {
  const { state, is_watched, unclear_sends, updated_at } = known;
  if (state === 'ready' || (state === 'rejected' && !is_watched)) return false;
  return unclear_sends > 0 || (Boolean(is_watched) && Date.parse(at) - Date.parse(updated_at) < settleMs);
}

export function effectOf(step: Exclude<Step, 'nothing'>, known: OutboxEntry, offered: Offered): Effect {
  const { content, erp_code, reasons } = offered;
  const fresh = { reasons: null, message: null, told_at: null, noted_hash: null, erp_code };
  const { content_hash } = content;
  const noted = { noted_hash: null, reasons: reasonsText(earlierReasons(known)) };
  switch (step) {
    case 'queue':
      return isUnresolved(known, offered)
        ? {
            moves: ['renew', 'doubt'],
            change: { ...content, ...fresh, ...sought(known, content), unknown_since: offered.at },
          }
        : { moves: ['renew'], change: { ...content, ...fresh, ...findable(known, content) } };
    case 'change':
      // Without an identifier it has to be found, by what was sent, before it can be changed.
      return known.remote_id === null
        ? {
            moves: ['change', 'doubt'],
            change: {
              ...content,
              ...fresh,
              ...sought(known, content),
              ...UNNAMED,
              confirmed_at: known.confirmed_at,
              unknown_since: offered.at,
            },
          }
        : { moves: ['change'], change: { ...content, ...fresh, ...widened(known, content) } };
    case 'refuse':
      // A changed thing starts anew, and is refused for its new reasons.
      return {
        moves: ['renew', 'refuse'],
        change: { ...content, ...fresh, ...findable(known, content), ...refusalOfKnown(known, reasons) },
      };
    case 'hold':
      return {
        moves: [],
        change: { ...content, erp_code, ...takenSince(known), ...sought(known, content) },
      };
    case 'flag':
      return offered.flags
        ? {
            moves: [],
            change: {
              content_hash,
              changed_after_push: true,
              erp_code,
              ...noted,
              message: CHANGED_AFTER_PUSH,
              told_at: null,
            },
          }
        : { moves: [], change: { content_hash, ...noted } };
    case 'unflag':
      return {
        moves: [],
        change: {
          content_hash,
          changed_after_push: false,
          erp_code,
          noted_hash: null,
          reasons: reasonsText(earlierReasons(known)),
          message: null,
          told_at: null,
        },
      };
    case 'note':
      return {
        moves: [],
        change: { ...notTaken(known, content_hash, reasons), erp_code },
      };
  }
}

export const asNotTaken = (reasons: readonly string[]): string[] =>
  reasons.map((reason) => `${NOT_TAKEN}${reason}`);

/** What the ERP gave since is told beside what the service has or may have. */
export const notTaken = (known: OutboxEntry, noted_hash: string, reasons: readonly string[]) => ({
  noted_hash,
  reasons: reasonsText([...earlierReasons(known), ...asNotTaken(reasons)]),
  message: INVALID_CHANGE,
  told_at: null,
});

/** The ERP gave a content that can be taken: the one that could not is forgotten. */
const takenSince = (known: OutboxEntry): EntryChange =>
  known.noted_hash === null
    ? {}
    : {
        noted_hash: null,
        reasons: reasonsText(earlierReasons(known)),
        message: known.confirmed_at === null ? 'It is not known whether it arrived' : UNNAMED.message,
        told_at: null,
      };

/** The reasons of what the ERP gave since, while that was not taken. */
export const stillNotTaken = ({ noted_hash, reasons }: OutboxEntry): string[] =>
  noted_hash === null ? [] : reasonsIn(reasons).filter((reason) => reason.startsWith(NOT_TAKEN));

/** Columns of one that is not at the service, where what the ERP gave since was not taken. */
export const withdrawalOf = (known: OutboxEntry): EntryChange => ({
  content_hash: known.noted_hash ?? '',
  noted_hash: null,
  reasons: reasonsText(stillNotTaken(known).map((reason) => reason.slice(NOT_TAKEN.length))),
  message: 'The service does not have it, and what the ERP gave since breaks the rules: it is not sent',
});

/** It is searched for by what was sent, not by what the ERP wants now; the next claim takes the new key. */
const sought = (known: OutboxEntry, content: EntryChange): EntryChange => ({
  remote_key: known.remote_key,
  ...widened(known, content),
});

/** What was sent under another key, and is not there, says nothing about this one. */
function findable(known: OutboxEntry, content: EntryChange): EntryChange {
  if (isInDoubt(known)) return sought(known, content);
  return known.remote_id === null && known.remote_key !== content.remote_key ? UNSENT : {};
}

/** Those of what the service has. */
export const earlierReasons = ({ reasons }: OutboxEntry): string[] =>
  reasonsIn(reasons).filter((one) => !one.startsWith(NOT_TAKEN));

const reasonsIn = (reasons: string | null): string[] =>
  reasons === null ? [] : (JSON.parse(reasons) as string[]);

const reasonsText = (reasons: readonly string[]): string | null =>
  reasons.length === 0 ? null : JSON.stringify(reasons);

/** The search must still find what was sent before. */
function widened(known: OutboxEntry, { period_start, period_end }: EntryChange): EntryChange {
  const [start, end] = [known.period_start, known.period_end];
  if (start === null || end === null) return {};
  if (!period_start || !period_end) return { period_start: start, period_end: end };
  const joined = joinPeriods({ start, end }, { start: period_start, end: period_end });
  return { period_start: joined.start, period_end: joined.end };
}
