// What a person may order for an entry of the outbox. None of it sends anything: a retried entry is ready for the
// next run, and one whose outcome is unknown is only read back, unless the person vouches that it is not there.
import { Fatal } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { moveEntry, noteEntry, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { entriesNamed } from '../../warehouse/outbox-lookup.ts';
import { mayMove } from '../../warehouse/outbox-states.ts';
import { noteOrder } from '../../warehouse/push-attempts.ts';
import { itineraryKind } from './kinds/itineraries.ts';
import { routePlanKind } from './kinds/route-plans.ts';
import { ownPeriod } from './push-kind.ts';
import { isLong } from './search-windows.ts';

/** Asks for the kind where several entries have the code. */
export async function namedEntry(engine: Engine, code: string, kind?: string): Promise<OutboxEntry> {
  const [entry, ...others] = await engine.read((sql) => entriesNamed(sql, code, kind));
  if (entry === undefined) {
    throw new Fatal(`The outbox has no entry with the code ${JSON.stringify(code)}`, {
      code: 'usage',
      hint: 'npx roadbook outbox list shows what it has; the code has to be exact.',
    });
  }
  if (others.length > 0) {
    const kinds = [entry, ...others].map((each) => each.kind).join(', ');
    throw new Fatal(`Several entries have the code ${JSON.stringify(code)}: ${kinds}`, {
      code: 'usage',
      hint: 'Name one with --kind.',
    });
  }
  return entry;
}

export interface Retried {
  /** What the next run will do with it. */
  words: string;
  /** The outcome of a send is not known: a run has to read it back. */
  isUnknown: boolean;
}

const READ_BACK: Retried = {
  words: 'It may be at the service: it is read back, and sent only where it is not there for long enough.',
  isUnknown: true,
};
const next = (words: string): Retried => ({ words, isUnknown: false });

export async function retryEntry(engine: Engine, entry: OutboxEntry, at: string): Promise<Retried> {
  switch (entry.state) {
    case 'rejected':
      return entry.payload === null ? reviveEntry(engine, entry, at) : resendEntry(engine, entry, at);
    case 'ready':
      await engine.write(async (tx) => {
        if (!(await noteEntry(tx, entry, { next_attempt_at: null }))) throw movedOn(entry);
      });
      return next(
        'It is ready; the next run looks for it without waiting, and sends it unless it has to wait.',
      );
    case 'unknown':
      return READ_BACK;
    case 'sending':
      return next('It is being sent; where the process that sends it is gone, the next run reads it back.');
    case 'cancelled':
      return reviveEntry(engine, entry, at);
    case 'confirmed':
      throw new Fatal(`${entry.external_code} is confirmed: there is nothing to retry`, {
        code: 'usage',
        hint: 'To send it again, give it another content in the ERP.',
      });
  }
}

/** One that may have been done though it was refused is read back first. */
function resendEntry(engine: Engine, entry: OutboxEntry, at: string): Promise<Retried> {
  const message = 'Sent again on order';
  const only = { revision: entry.revision };
  return engine.write(async (tx) => {
    if (!(await moveEntry(tx, entry, 'retry', at, { message }, only))) throw movedOn(entry);
    if (!entry.is_watched) return next('It is ready; the next run sends it, unless a search shows it.');
    const change = { unknown_since: at, message: 'To be sent again on order, unless a search shows it' };
    await moveEntry(tx, entry, 'doubt', at, change);
    return READ_BACK;
  });
}

/** Its content is gone: the next time the ERP gives it, it is taken as if it were new. */
async function reviveEntry(engine: Engine, entry: OutboxEntry, at: string): Promise<Retried> {
  const message = 'Taken again on order, as soon as the ERP gives it';
  await engine.write(async (tx) => {
    if (!(await noteEntry(tx, entry, { content_hash: '', message }))) throw movedOn(entry);
    await noteOrder(tx, entry, { outcome: 'revived', message }, at);
  });
  return next(
    'Its content is not kept here: let the ERP give it again (drop its file once more, or have its row offered); the same content will do.',
  );
}

/** The kinds that are searched for by period. */
const DATED = [routePlanKind, itineraryKind];

/** A person has looked at the service: one that nobody can find is sent as if for the first time. */
export async function vouchAbsent(engine: Engine, entry: OutboxEntry, at: string): Promise<string> {
  if (!mayMove('vouch', entry.state)) {
    throw new Fatal(`${entry.external_code} is ${entry.state}: there is nothing to vouch for`, {
      code: 'usage',
      hint: '--not-there is for what may be at the service; without it, retry does what the state allows.',
    });
  }
  const message = 'A person vouches that it is not at the service';
  const kind = DATED.find(({ feed }) => feed === entry.kind);
  // A service may not answer for the long period of what was moved far; a short one holds the older content too.
  const isFar = isLong({ start: entry.period_start ?? '', end: entry.period_end ?? '' });
  const change = { message, ...(kind !== undefined && isFar && ownPeriod(kind, entry)) };
  await engine.write(async (tx) => {
    const only = { revision: entry.revision };
    if (!(await moveEntry(tx, entry, 'vouch', at, change, only))) throw movedOn(entry);
    await noteOrder(tx, entry, { outcome: 'vouched', message }, at);
  });
  return 'It is ready; the next run sends it, unless a search shows it after all or another code of it comes first.';
}

export async function cancelEntry(
  engine: Engine,
  entry: OutboxEntry,
  at: string,
  isForced: boolean,
): Promise<void> {
  const message = 'Cancelled on order';
  const mayBeThere =
    entry.state === 'unknown' ||
    (entry.state === 'ready' && Boolean(entry.is_doubtful)) ||
    (entry.state === 'rejected' && Boolean(entry.is_watched));
  if (mayBeThere && !isForced) {
    throw new Fatal(`${entry.external_code} may be at the service: nobody knows yet`, {
      code: 'usage',
      hint: 'Wait until it is read back, or look at the service yourself and use --force.',
    });
  }
  const move = entry.state === 'unknown' ? 'disown' : 'cancel';
  const only = { revision: entry.revision };
  const isMoved = await engine.write((tx) => moveEntry(tx, entry, move, at, { message }, only));
  if (isMoved) return;
  if (mayMove(move, entry.state)) throw movedOn(entry);
  throw new Fatal(`${entry.external_code} is ${entry.state}: it cannot be cancelled`, {
    code: 'usage',
    hint: entry.state === 'sending' ? 'It is being sent; look again in a minute.' : 'It is already final.',
  });
}

const movedOn = ({ external_code }: OutboxEntry): Fatal =>
  new Fatal(`${external_code} has changed in this moment`, {
    code: 'usage',
    hint: 'Look at it again with npx roadbook outbox show.',
  });
