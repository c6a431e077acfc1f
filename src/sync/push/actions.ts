// What a person may do with entries of the outbox, one or many at a time. No action sends anything: a retried entry is
// ready for the next run, and an entry that may be at the service is read back first, unless the person has looked.
import { Fatal } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type AttemptOutcome, recordAttempts } from '../../warehouse/outbox/attempts.ts';
import { nameOf, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { type EntryFilter, entriesNamed, searchEntries } from '../../warehouse/outbox/lists.ts';
import { mayMove, storeEntries, transition } from '../../warehouse/outbox/transitions.ts';
import { payloadOf } from './kind.ts';

export interface EntryName {
  code: string;
  kind?: string | undefined;
  /** Which use of the code, where there are several. */
  use?: number | undefined;
}

/** Asks for kind or use where several entries have the code. */
export async function namedEntry(engine: Engine, { code, kind, use }: EntryName): Promise<OutboxEntry> {
  const found = await engine.read((sql) => entriesNamed(sql, code, kind));
  const [entry, ...others] = found.filter(({ code_use }) => use === undefined || code_use === use);
  if (entry === undefined) {
    throw usage(
      `The outbox has no entry with the code ${JSON.stringify(code)}`,
      'npx roadbook outbox list shows its entries; the code has to be exact.',
    );
  }
  if (others.length === 0) return entry;
  const named = [entry, ...others].map((each) => `${each.kind} --use ${each.code_use}`).join(', ');
  throw usage(
    `Several entries have the code ${JSON.stringify(code)}: ${named}`,
    'Name one with --kind or --use.',
  );
}

/** What an action makes of an entry. */
interface Acted {
  entry: OutboxEntry;
  outcome: AttemptOutcome;
  /** What the next run does with it. */
  words: string;
}

/** Pure; throws where the state does not allow it. */
export type Action = (entry: OutboxEntry, at: string) => Acted;

const OFFER_AGAIN =
  'Its content is not kept here: let the ERP offer it again (drop its file once more, or have its row offered); the same content will do.';

export const retry: Action = (entry, at) => {
  const outcome = 'retried';
  switch (entry.state) {
    case 'rejected':
    case 'cancelled': {
      if (entry.state === 'rejected' && entry.payload !== null) {
        const ready = transition(entry, 'retry', at, {
          message: 'To be sent again by the action of a person',
        });
        return {
          entry: ready,
          outcome,
          words: 'It is ready; the next run sends it, unless a read-back shows it.',
        };
      }
      const message = 'To be taken again as soon as the ERP offers it';
      return {
        entry: transition(entry, 'note', at, { content_hash: '', message }),
        outcome,
        words: OFFER_AGAIN,
      };
    }
    case 'ready':
      return {
        entry: transition(entry, 'note', at, { next_attempt_at: null }),
        outcome,
        words:
          'It is ready; the next run reads it back without waiting, and sends it unless the service shows it.',
      };
    case 'unknown':
      return {
        entry: transition(entry, 'note', at, { next_attempt_at: null }),
        outcome,
        words: 'It may be at the service: it is read back, and sent only if it is not there for long enough.',
      };
    case 'confirmed':
      if (entry.attention === 'read_error' || entry.attention === 'invalid_change')
        throw usage(
          `${entry.external_code} was changed by the ERP into something that cannot be sent`,
          'Correct it in the ERP.',
        );
      if (entry.attention === null)
        throw usage(
          `${entry.external_code} is confirmed: there is nothing to retry`,
          'To send it again, change its content in the ERP.',
        );
      return {
        entry: transition(entry, 'note', at, { attention: null, next_attempt_at: null }),
        outcome,
        words: 'The next run reads it back; if the problem is still there, it says so again.',
      };
    case 'sending':
      throw beingSent(entry);
  }
};

/** The person has looked at the service: the entry is not there. */
export const assertAbsent: Action = (entry, at) => {
  const message = 'A person says that it is not at the service';
  const outcome = 'asserted-absent';
  const isShown = entry.state === 'confirmed' && entry.seen_at !== null && entry.attention === null;
  if (mayMove('assertAbsent', entry) && entry.payload !== null)
    return {
      entry: transition(entry, 'assertAbsent', at, { message, ...payloadOf(entry)?.place }),
      outcome,
      words: 'It is ready; the next run sends it, unless a read-back shows it after all.',
    };
  if (entry.state === 'confirmed' && !isShown)
    return { entry: transition(entry, 'disprove', at, { message }), outcome, words: OFFER_AGAIN };
  if (entry.state === 'unknown')
    return {
      entry: transition(entry, 'reject', at, { message, sent_hash: null, content_hash: '' }),
      outcome,
      words: OFFER_AGAIN,
    };
  throw usage(
    `${entry.external_code} is ${entry.state}: there is nothing to assert`,
    '--not-there is for an entry that may be at the service; without it, retry does what the state allows.',
  );
};

export const cancel =
  ({ isForced }: { isForced: boolean }): Action =>
  (entry, at) => {
    if (entry.state === 'sending') throw beingSent(entry);
    if (!mayMove('cancel', entry))
      throw usage(`${entry.external_code} is ${entry.state}: it cannot be cancelled`, 'It is already final.');
    if (entry.state === 'confirmed' && !isForced)
      throw usage(`${entry.external_code} is at the service`, 'Remove it there first, then use --force.');
    if (mayBeThere(entry) && !isForced)
      throw usage(
        `${entry.external_code} may be at the service: nobody knows yet`,
        'Wait until it is read back, or look at the service yourself and use --force.',
      );
    const message = 'Cancelled by a person';
    const words = 'It is cancelled; the next run notifies the ERP.';
    return { entry: transition(entry, 'cancel', at, { message }), outcome: 'cancelled', words };
  };

const mayBeThere = ({ state, sent_hash, remote_id }: OutboxEntry): boolean =>
  state === 'unknown' || (state === 'ready' && sent_hash !== null && remote_id === null);

/** Gives the words for the person. */
export async function act(engine: Engine, entry: OutboxEntry, action: Action, at: string): Promise<string> {
  const acted = action(entry, at);
  if ((await store(engine, [acted], at)) === 1) return acted.words;
  throw usage(
    `${entry.external_code} has changed in this moment`,
    'Look at it again with npx roadbook outbox show.',
  );
}

export interface ActedOnMany {
  done: number;
  /** Entries whose state does not allow the action, or that changed in this moment. */
  skipped: number;
}

const PAGE = 200;
/** A person who acts on more than this looks again in between. */
const MOST = 10_000;

export async function actOnMany(
  engine: Engine,
  search: EntryFilter,
  action: Action,
  at: string,
): Promise<ActedOnMany> {
  const found = await engine.read((sql) => searchEntries(sql, { ...search, limit: MOST }));
  let done = 0;
  for (let from = 0; from < found.length; from += PAGE) {
    const acted = found.slice(from, from + PAGE).flatMap((entry) => {
      try {
        return [action(entry, at)];
      } catch (thrown) {
        if (thrown instanceof Fatal) return [];
        throw thrown;
      }
    });
    done += await store(engine, acted, at);
  }
  return { done, skipped: found.length - done };
}

/** How many were stored. */
const store = (engine: Engine, acted: readonly Acted[], at: string): Promise<number> =>
  engine.write(async (tx) => {
    const stored = await storeEntries(
      tx,
      acted.map(({ entry }) => entry),
    );
    const attempts = acted
      .filter(({ entry }) => stored.has(nameOf(entry)))
      .map(({ entry, outcome }) => {
        const { message } = entry;
        return { entry, what: 'action' as const, outcome, message, runId: null, startedAt: at };
      });
    await recordAttempts(tx, attempts, at);
    return stored.size;
  });

const usage = (message: string, hint: string): Fatal => new Fatal(message, { code: 'usage', hint });

const beingSent = ({ external_code }: OutboxEntry): Fatal =>
  usage(
    `${external_code} is being sent`,
    'Look again in a minute; if its process is gone, the next run reads it back.',
  );
