// Takes what the ERP gives into the outbox: validated, a batch a transaction, and only then reported as taken. A
// crash in between has the batch given again, and every thing in it is then known.
import { asRoadbookError } from '../../core/errors.ts';
import { contentHash } from '../../erp/content-hash.ts';
import type { ErpBatch, ErpFault, ErpThing } from '../../erp/source.ts';
import { validateThing } from '../../erp/validation.ts';
import type { Transaction } from '../../warehouse/engine.ts';
import { type EntryChange, moveEntry, noteEntry, type OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { addEntry, entriesByCode } from '../../warehouse/outbox-lookup.ts';
import { clearCode, outboxCode } from './outbox-code.ts';
import { contentOf, effectOf, notTaken, refusalOf, refusalOfKnown } from './push-effects.ts';
import { intakeStep } from './push-intake.ts';
import type { PushRun } from './push-run.ts';

/** A thing that is final and still offered may not have been heard of: it is told once more after this long. */
const TELL_AGAIN_MS = 3_600_000;

const TWICE = 'this external code was read before, in another spelling; give each code once';
const UNREADABLE = 'It could not be read and was not sent';

export async function takeFeed(push: PushRun): Promise<void> {
  const { feed, context, failures } = push;
  try {
    for await (const batch of feed.source.read(context.signal)) {
      await context.parts.engine.write((tx) => takeBatch(tx, push, batch));
      await feed.source.taken(batch);
    }
  } catch (thrown) {
    if (context.signal.aborted) return;
    const failure = asRoadbookError(thrown);
    context.log.warn({ err: failure }, 'feed could not be read to its end');
    failures.push(failure);
  }
}

async function takeBatch(tx: Transaction, push: PushRun, batch: ErpBatch): Promise<void> {
  const { kind, digest } = push;
  const codeIn = (code: string): string => outboxCode(kind.feed, code, digest);
  const codes = [...batch.things, ...batch.faults].flatMap(({ externalCode }) => externalCode ?? []);
  const known = await entriesByCode(tx.sql, kind.feed, codes.map(codeIn));
  const taken = new Set<string>();
  /** As it is now: a code may come several times in a batch. */
  async function entryNow(code: string): Promise<OutboxEntry | undefined> {
    if (taken.has(code)) return (await entriesByCode(tx.sql, kind.feed, [code])).get(code);
    taken.add(code);
    return known.get(code);
  }
  for (const thing of batch.things) {
    const { externalCode, origin } = thing;
    const code = codeIn(externalCode);
    if (!taken.has(code)) await takeThing(tx, push, thing, await entryNow(code), batch.name);
    else await withdraw(tx, push, { externalCode, origin, reason: TWICE }, await entryNow(code), batch.name);
  }
  for (const fault of batch.faults) {
    const { externalCode } = fault;
    const entry = externalCode === undefined ? undefined : await entryNow(codeIn(externalCode));
    await withdraw(tx, push, fault, entry, batch.name);
  }
}

async function takeThing(
  tx: Transaction,
  push: PushRun,
  thing: ErpThing,
  known: OutboxEntry | undefined,
  batch: string,
): Promise<void> {
  const { kind, settings, context, digest } = push;
  const { counts, parts } = context;
  const reasons = validateThing(kind.feed, thing).map(parts.redactor.redact);
  const hash = contentHash(thing);
  const step = intakeStep(known, { hash, isValid: reasons.length === 0 }, kind.change !== undefined);
  const { redact } = parts.redactor;
  const place = { origin: redact(thing.origin), batch: redact(batch) };
  const content = { ...contentOf(push, thing, hash), ...place };
  const erp_code = clearCode(kind.feed, thing.externalCode);
  counts.records++;
  if (step === 'refuse') counts.rejected++;
  if (known === undefined) {
    counts.inserted++;
    const external_code = outboxCode(kind.feed, thing.externalCode, digest);
    const key = { kind: kind.feed, external_code, erp_code };
    const refusal = step === 'refuse' ? refusalOf(reasons) : {};
    const state = step === 'refuse' ? 'rejected' : 'ready';
    return addEntry(tx.sql, { ...key, ...content, ...refusal, state }, push.now());
  }
  if (step === 'nothing') {
    counts.unchanged++;
    return tellAgain(tx, push, known, erp_code);
  }
  counts.updated++;
  const flags = settings.after_confirmation === 'flag';
  const offered = { content, erp_code, reasons, flags, at: push.now(), settleMs: settings.settle };
  const { moves, change } = effectOf(step, known, offered);
  if (moves.length === 0) await noteEntry(tx, known, change);
  for (const move of moves) await moveEntry(tx, known, move, push.now(), change);
}

/** The code in clear comes with every offer: what is told next is told under it. */
async function tellAgain(
  tx: Transaction,
  push: PushRun,
  known: OutboxEntry,
  erp_code: string | null,
): Promise<void> {
  const isFinal = ['confirmed', 'rejected', 'cancelled'].includes(known.state);
  if (!isFinal || known.told_at === null) {
    if (known.erp_code !== erp_code) await noteEntry(tx, known, { erp_code });
    return;
  }
  const quietMs = Date.parse(push.now()) - Date.parse(known.told_at);
  if (quietMs >= TELL_AGAIN_MS) await noteEntry(tx, known, { told_at: null, erp_code });
}

/** What cannot be read as one thing must not be sent, nor what was given of it before, unless it already was. */
async function withdraw(
  tx: Transaction,
  push: PushRun,
  fault: ErpFault,
  known: OutboxEntry | undefined,
  batch: string,
): Promise<void> {
  const { kind, context } = push;
  const { redact } = context.parts.redactor;
  const [origin, reason] = [redact(fault.origin), redact(fault.reason)];
  context.counts.rejected++;
  context.log.warn({ origin, reason }, 'feed holds something that cannot be read');
  if (fault.externalCode === undefined) return;
  const erp_code = clearCode(kind.feed, fault.externalCode);
  switch (known?.state) {
    case undefined:
      break;
    case 'ready': {
      const change = { ...refusalOfKnown(known, [reason], UNREADABLE), content_hash: '', erp_code };
      return void (await moveEntry(tx, known, 'refuse', push.now(), change));
    }
    case 'sending':
    case 'unknown':
      return noteUnread(tx, known, { ...notTaken(known, '', [reason]), erp_code });
    default:
      return;
  }
  const refusal = { ...refusalOf([reason], UNREADABLE), erp_code };
  const key = { kind: kind.feed, external_code: outboxCode(kind.feed, fault.externalCode, push.digest) };
  const entry = { content_hash: '', remote_key: '', origin, batch: redact(batch) };
  await addEntry(tx.sql, { ...key, ...entry, ...refusal, state: 'rejected' }, push.now());
}

/** Once: the ERP may give it in every run. */
async function noteUnread(tx: Transaction, known: OutboxEntry, change: EntryChange): Promise<void> {
  if (known.noted_hash === change.noted_hash && known.reasons === change.reasons) return;
  await noteEntry(tx, known, change);
}
