// What a person may do with entries of the outbox, one or many at a time. No action sends anything: a retried entry is
// ready for the next run, and an entry that may be at the service is read back first, unless the person has looked.

import { chunks } from '../../core/chunks.ts';
import { Fatal } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type AttemptOutcome, type Step, storeSteps } from '../../warehouse/outbox/attempts.ts';
import { hasUnusableContent, needsProof, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { type EntryFilter, entriesNamed, searchEntries } from '../../warehouse/outbox/lists.ts';
import {
  type EntryChange,
  mayMove,
  type TransitionName,
  transition,
} from '../../warehouse/outbox/transitions.ts';
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

interface Acted extends Step {
  /** What the next run does with it. */
  words: string;
}

/** Pure; throws where the state does not allow it. */
export type Action = (entry: OutboxEntry, at: string) => Acted;

const acted = (entry: OutboxEntry, outcome: AttemptOutcome, at: string, words: string): Acted => ({
  entry,
  attempt: { what: 'action', outcome, message: entry.message, started_at: at },
  words,
});

const OFFER_AGAIN =
  'Its content is not kept here: let the ERP offer it again (drop its file once more, or have its row offered); the same content will do.';
const READY = 'It is ready; the next run sends it, unless a read-back shows it.';
const READY_AT_ONCE =
  'It is ready; the next run reads it back without waiting, and sends it unless the service shows it.';
const MAY_BE_THERE =
  'It may be at the service: it is read back, and sent only if it is not there for long enough.';
const CHECKED = 'The next run reads it back; if the problem is still there, it says so again.';

export const retry: Action = (entry, at) => {
  const { state, attention, external_code } = entry;
  const retried = (name: 'retry' | 'note', change: EntryChange, words: string): Acted =>
    acted(transition(entry, name, at, change), 'retried', at, words);
  switch (state) {
    case 'rejected':
    case 'cancelled':
      return state === 'rejected' && entry.payload !== null
        ? retried('retry', { message: 'To be sent again by the action of a person' }, READY)
        : retried(
            'note',
            { content_hash: '', message: 'To be taken again as soon as the ERP offers it' },
            OFFER_AGAIN,
          );
    case 'ready':
      return retried('note', { next_attempt_at: null }, READY_AT_ONCE);
    case 'unknown':
      return retried('note', { next_attempt_at: null }, MAY_BE_THERE);
    case 'confirmed':
      if (hasUnusableContent(entry))
        throw usage(
          `${external_code} was changed by the ERP into something that cannot be sent`,
          'Correct it in the ERP.',
        );
      if (attention === null)
        throw usage(
          `${external_code} is confirmed: there is nothing to retry`,
          'To send it again, change its content in the ERP.',
        );
      return retried('note', { attention: null, next_attempt_at: null }, CHECKED);
    case 'sending':
      throw beingSent(entry);
  }
};

/** The person has looked at the service: the entry is not there. */
export const assertAbsent: Action = (entry, at) => {
  const message = 'A person says that it is not at the service';
  const asserted = (name: TransitionName, change: EntryChange, words: string): Acted =>
    acted(transition(entry, name, at, { message, ...change }), 'asserted-absent', at, words);
  const isShown = entry.seen_at !== null && entry.attention === null;
  if (mayMove('assertAbsent', entry) && entry.payload !== null)
    return asserted(
      'assertAbsent',
      payloadOf(entry)?.place ?? {},
      'It is ready; the next run sends it, unless a read-back shows it after all.',
    );
  if (entry.state === 'confirmed' && !isShown) return asserted('disprove', {}, OFFER_AGAIN);
  if (entry.state === 'unknown')
    return asserted('reject', { sent_hash: null, content_hash: '' }, OFFER_AGAIN);
  throw usage(
    `${entry.external_code} is ${entry.state}: there is nothing to assert`,
    '--not-there is for an entry that may be at the service; without it, retry does what the state allows.',
  );
};

export const cancel =
  ({ isForced }: { isForced: boolean }): Action =>
  (entry, at) => {
    const { state, external_code } = entry;
    if (state === 'sending') throw beingSent(entry);
    if (!mayMove('cancel', entry))
      throw usage(`${external_code} is ${state}: it cannot be cancelled`, 'It is already final.');
    if (state === 'confirmed' && !isForced)
      throw usage(`${external_code} is at the service`, 'Remove it there first, then use --force.');
    const isUpdate = state === 'ready' && entry.remote_id !== null;
    if (needsProof(entry) && !isUpdate && !isForced)
      throw usage(
        `${external_code} may be at the service: nobody knows yet`,
        'Wait until it is read back, or look at the service yourself and use --force.',
      );
    const cancelled = transition(entry, 'cancel', at, { message: 'Cancelled by a person' });
    return acted(cancelled, 'cancelled', at, 'It is cancelled; the next run notifies the ERP.');
  };

/** Gives the words for the person. */
export async function act(engine: Engine, entry: OutboxEntry, action: Action, at: string): Promise<string> {
  const [stored] = await engine.write((tx) => storeSteps(tx, [action(entry, at)], null, at));
  if (stored !== undefined) return stored.words;
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
  filter: EntryFilter,
  action: Action,
  at: string,
): Promise<ActedOnMany> {
  const found = await engine.read((sql) => searchEntries(sql, { ...filter, limit: MOST }));
  let done = 0;
  for (const page of chunks(found, PAGE)) {
    const steps = page.flatMap((entry) => {
      try {
        return [action(entry, at)];
      } catch (thrown) {
        if (thrown instanceof Fatal) return [];
        throw thrown;
      }
    });
    done += (await engine.write((tx) => storeSteps(tx, steps, null, at))).length;
  }
  return { done, skipped: found.length - done };
}

const usage = (message: string, hint: string): Fatal => new Fatal(message, { code: 'usage', hint });

const beingSent = ({ external_code }: OutboxEntry): Fatal =>
  usage(
    `${external_code} is being sent`,
    'Look again in a minute; if its process is gone, the next run reads it back.',
  );
