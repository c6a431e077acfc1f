// The actions of a person on outbox entries, one or many at a time. No action sends anything: a retried entry is ready for
// the next run. An entry that may be at the service is read back first, unless the person asserts that it is absent.
import { chunks } from '../../core/chunks.ts';
import { Fatal } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { type AttemptOutcome, type Step, storeSteps } from '../../warehouse/outbox/attempts.ts';
import { hasUnusableContent, nameOf, needsProof, type OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { type EntryFilter, entriesNamed, matchingKeys, searchEntries } from '../../warehouse/outbox/lists.ts';
import { FINAL } from '../../warehouse/outbox/queries.ts';
import { type EntryChange, mayMove, type TransitionName, transition } from '../../warehouse/outbox/transitions.ts';
import { codeInClear } from './codes.ts';
import { payloadOf } from './kind.ts';

/** Throws if no entry has the code, or if several have it and kind, or use of the code, is missing. */
export async function namedEntry(
  engine: Engine,
  { code, kind, use }: { code: string; kind?: string | undefined; use?: number | undefined },
): Promise<OutboxEntry> {
  const found = await engine.read((sql) => entriesNamed(sql, code, kind));
  const [entry, ...others] = found.filter(({ code_use }) => use === undefined || code_use === use);
  if (entry === undefined) {
    throw usage(
      `The outbox has no entry with the code ${JSON.stringify(code)}`,
      'npx roadbook outbox list shows all entries; the code must match exactly.',
    );
  }
  if (others.length === 0) return entry;
  const named = [entry, ...others].map((each) => `${each.kind} --use ${each.code_use}`).join(', ');
  throw usage(`Several entries have the code ${JSON.stringify(code)}: ${named}`, 'Choose one with --kind or --use.');
}

interface Acted extends Step {
  /** Says what the next run does with the entry. */
  words: string;
}

/** Pure; throws if the state of the entry does not allow the action. */
export type Action = (entry: OutboxEntry, at: string) => Acted;

const acted = (entry: OutboxEntry, outcome: AttemptOutcome, at: string, words: string): Acted => ({
  entry,
  attempt: { what: 'action', outcome, message: entry.message, started_at: at },
  words,
});

const OFFER_AGAIN =
  'Its content is no longer stored: let the ERP offer it again (drop its file again, or offer its row again). The content may be the same.';

export const retry: Action = (entry, at) => {
  const { state, attention, external_code } = entry;
  const retried = (name: 'retry' | 'note', change: EntryChange, words: string): Acted =>
    acted(transition(entry, name, at, change), 'retried', at, words);
  switch (state) {
    case 'rejected':
    case 'cancelled': {
      if (state === 'cancelled' || entry.payload === null) {
        const message = 'Retried by a person; waits until the ERP offers it again';
        return retried('note', { content_hash: '', message }, OFFER_AGAIN);
      }
      const words = 'It is ready; the next run sends it, unless a read-back shows it.';
      return retried('retry', { message: 'Retried by a person; the next run sends it' }, words);
    }
    case 'ready': {
      const words =
        'It is ready; the next run reads it back without waiting, and sends it unless the service shows it.';
      return retried('note', { next_attempt_at: null }, words);
    }
    case 'unknown': {
      const words =
        'It may be at the service: the next runs read it back, and send it only if it stays absent for long enough.';
      return retried('note', { next_attempt_at: null }, words);
    }
    case 'confirmed': {
      const hint = 'To send it again, change its content in the ERP.';
      if (attention === null) throw usage(`${external_code} is confirmed: there is nothing to retry`, hint);
      if (hasUnusableContent(entry))
        throw usage(
          `${external_code}: the ERP changed it, and the new content cannot be sent`,
          'Correct it in the ERP.',
        );
      const words = 'The next run reads it back; it stays reported as long as the problem remains.';
      return retried('note', { next_attempt_at: null }, words);
    }
    case 'sending':
      throw beingSent(entry);
  }
};

/** A person has checked that the service does not have the entry. */
export const assertAbsent: Action = (entry, at) => {
  const message = 'A person asserts that it is not at the service';
  const asserted = (name: TransitionName, change: EntryChange, words: string): Acted =>
    acted(transition(entry, name, at, { message, ...change }), 'asserted-absent', at, words);
  const isShown = entry.seen_at !== null && entry.attention === null;
  if (mayMove('assertAbsent', entry) && entry.payload !== null)
    return asserted(
      'assertAbsent',
      payloadOf(entry)?.place ?? {},
      'It is ready; the next run sends it, unless a read-back still shows it.',
    );
  if (entry.state === 'confirmed' && !isShown) return asserted('disprove', {}, OFFER_AGAIN);
  if (entry.state === 'unknown') return asserted('reject', { sent_hash: null, content_hash: '' }, OFFER_AGAIN);
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
      throw usage(
        `${external_code} is at the service`,
        'No call of the service removes it: remove it there by hand, then use --force.',
      );
    const isUpdate = state === 'ready' && entry.remote_id !== null;
    if (needsProof(entry) && !isUpdate && !isForced)
      throw usage(
        `${external_code} may be at the service; no read-back has shown it yet`,
        'Wait for the read-back, or check the service yourself and use --force.',
      );
    // The entry loses its identifier, which a person needs to remove the item at the service.
    const message =
      entry.remote_id === null
        ? 'Cancelled by a person'
        : `Cancelled by a person; it may still be at the service as id ${entry.remote_id}`;
    const cancelled = transition(entry, 'cancel', at, { message });
    const said =
      codeInClear(entry) === undefined
        ? 'It is cancelled. Its code in the ERP is no longer stored, so the ERP is not notified: correct it there too.'
        : 'It is cancelled; the next run notifies the ERP.';
    return acted(cancelled, 'cancelled', at, said);
  };

/** The next run notifies the ERP of the outcome again. */
export const acknowledgeAgain: Action = (entry, at) => {
  const { state, external_code } = entry;
  if (!FINAL.includes(state) && state !== 'unknown')
    throw usage(`${external_code} is ${state}: it has no outcome yet`, 'The ERP is notified once there is one.');
  if (codeInClear(entry) === undefined)
    throw usage(
      `${external_code}: its code in the ERP is no longer stored`,
      'Let the ERP offer it again; then it is notified again.',
    );
  const words = 'The next run notifies the ERP of its outcome again.';
  return acted(transition(entry, 'note', at, { told_at: null }), 'acknowledged-again', at, words);
};

/** Resolves to the text for the person. */
export async function act(engine: Engine, entry: OutboxEntry, action: Action, at: string): Promise<string> {
  const [stored] = await engine.write((tx) => storeSteps(tx, [action(entry, at)], null, at));
  if (stored !== undefined) return stored.words;
  throw usage(
    `${entry.external_code} was changed at the same time by a run or by another person`,
    'Check it with npx roadbook outbox show, then repeat the action.',
  );
}

const PAGE = 200;

const MOST_PREVIEWED = 500;

/** What the action would do to each entry; nothing is changed. `problem` says why the state does not allow it. */
export async function previewMany(engine: Engine, filter: EntryFilter, action: Action, at: string) {
  const found = await engine.read((sql) => searchEntries(sql, { ...filter, limit: MOST_PREVIEWED }));
  return found.map((entry) => {
    const { kind, external_code: code, code_use: use, state, updated_at } = entry;
    const about = { kind, code, use, state, updated_at };
    try {
      const { entry: after, words } = action(entry, at);
      return { ...about, becomes: after.state, words, problem: null, hint: null };
    } catch (thrown) {
      if (!(thrown instanceof Fatal)) throw thrown;
      return { ...about, becomes: state, words: null, problem: thrown.message, hint: thrown.hint ?? null };
    }
  });
}

/**
 * `skipped` are entries whose state does not allow the action, or that were changed at the same time. Of named entries, also
 * those that the filter no longer finds, and those that changed after `updated_at`: a person was shown another state, or
 * decided on another content.
 */
export async function actOnMany(engine: Engine, filter: EntryFilter, action: Action, at: string) {
  const found = await engine.read((sql) => matchingKeys(sql, filter));
  const shownAt = new Map(filter.keys?.map((key) => [nameOf(key), key.updated_at]));
  let done = 0;
  for (const keys of chunks(found, PAGE)) {
    const page = await engine.read((sql) => searchEntries(sql, { ...filter, keys, limit: PAGE }));
    const steps = page.flatMap((entry) => {
      if ((shownAt.get(nameOf(entry)) ?? entry.updated_at) !== entry.updated_at) return [];
      try {
        return [action(entry, at)];
      } catch (thrown) {
        if (thrown instanceof Fatal) return [];
        throw thrown;
      }
    });
    done += (await engine.write((tx) => storeSteps(tx, steps, null, at))).length;
  }
  return { done, skipped: (filter.keys ?? found).length - done };
}

const usage = (message: string, hint: string): Fatal => new Fatal(message, { code: 'usage', hint });

const beingSent = ({ external_code }: OutboxEntry): Fatal =>
  usage(
    `${external_code} is being sent`,
    'Try again in a minute; if the sending process has died, the next run reads it back.',
  );
