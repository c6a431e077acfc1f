// What a person may order for an entry of the outbox. None of it sends anything: a retried entry is ready for the
// next run, and one whose outcome is unknown is only read back, unless the person vouches that it is not there.
import { Fatal } from '../../core/errors.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { isInDoubt, moveEntry, noteEntry, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { entriesNamed } from '../../warehouse/outbox-lookup.ts';
import { noteOrder } from '../../warehouse/push-attempts.ts';

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

/** What the next run will do with it. */
export async function retryEntry(engine: Engine, entry: OutboxEntry, at: string): Promise<string> {
  switch (entry.state) {
    case 'rejected':
      if (entry.payload === null) return reviveEntry(engine, entry, at);
      await engine.write((tx) => moveEntry(tx, entry, 'retry', at, { message: 'Sent again on order' }));
      return 'It is ready; the next run sends it.';
    case 'ready':
      await engine.write((tx) => noteEntry(tx, entry, { next_attempt_at: null }));
      return 'It is ready; the next run sends it without waiting.';
    case 'unknown':
    case 'sending':
      return 'It may be at the service: it is read back, and sent only where it is not there for long enough.';
    case 'cancelled':
      return reviveEntry(engine, entry, at);
    case 'confirmed':
      throw new Fatal(`${entry.external_code} is confirmed: there is nothing to retry`, {
        code: 'usage',
        hint: 'To send it again, give it another content in the ERP.',
      });
  }
}

/** Its content is gone: the next time the ERP gives it, it is taken as if it were new. */
async function reviveEntry(engine: Engine, entry: OutboxEntry, at: string): Promise<string> {
  const message = 'Taken again on order, as soon as the ERP gives it';
  await engine.write(async (tx) => {
    if (!(await noteEntry(tx, entry, { content_hash: '', message }))) throw movedOn(entry);
    await noteOrder(tx, entry, { outcome: 'revived', message }, at);
  });
  return 'Its content is not kept here: let the ERP give it again (drop its file once more, or have its row offered); the same content will do.';
}

/** A person has looked at the service: one that nobody can find is sent as if for the first time. */
export async function vouchAbsent(engine: Engine, entry: OutboxEntry, at: string): Promise<string> {
  const isSought = entry.state === 'ready' && (isInDoubt(entry) || entry.remote_id !== null);
  if (entry.state !== 'unknown' && !isSought) {
    throw new Fatal(`${entry.external_code} is ${entry.state}: there is nothing to vouch for`, {
      code: 'usage',
      hint: '--not-there is for what may be at the service; without it, retry does what the state allows.',
    });
  }
  const message = 'A person vouches that it is not at the service';
  await engine.write(async (tx) => {
    const only = { revision: entry.revision };
    if (!(await moveEntry(tx, entry, 'vouch', at, { message }, only))) throw movedOn(entry);
    await noteOrder(tx, entry, { outcome: 'vouched', message }, at);
  });
  return 'It is ready; the next run sends it, unless a search shows it after all.';
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
  const isMoved = await engine.write((tx) => moveEntry(tx, entry, move, at, { message }));
  if (isMoved) return;
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
