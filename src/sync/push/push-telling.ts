// Tells the ERP what became of its things: every state once it is stored, and again whatever the ERP still waits
// for. Told first and noted afterwards, so a crash tells twice rather than never.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError } from '../../core/errors.ts';
import type { Outcome, OutcomeState } from '../../erp/source.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { entriesByCode } from '../../warehouse/outbox-lookup.ts';
import { markTold, untoldEntries } from '../../warehouse/outbox-telling.ts';
import { isDigest, outboxCode } from './outbox-code.ts';
import type { PushRun } from './push-run.ts';

export async function tellOutcomes(push: PushRun): Promise<void> {
  const { context, failures } = push;
  if (context.signal.aborted) return;
  try {
    await tellNews(push);
    await tellAwaited(push);
  } catch (thrown) {
    if (context.signal.aborted) return;
    const failure = asRoadbookError(thrown);
    context.log.warn({ err: failure }, 'ERP could not be told');
    failures.push(failure);
  }
}

/** A confirmed entry without its identifier waits a settling time for it, so that the ERP is told both at once. */
async function tellNews(push: PushRun): Promise<void> {
  const { kind, settings, context } = push;
  const { engine, clock } = context.parts;
  const idAwaitedSince = isoInstant(clock.now() - settings.settle);
  let after = '';
  let refusal: unknown;
  for (;;) {
    const from = after;
    const entries = await engine.read((sql) => untoldEntries(sql, kind.feed, idAwaitedSince, from));
    const last = entries.at(-1);
    if (last === undefined) break;
    after = last.external_code;
    const { told, thrown } = await tellPage(push, entries);
    refusal ??= thrown;
    // Not one could be told: the ERP is away, and the others would fare no better.
    if (told === 0) break;
  }
  if (refusal !== undefined) throw refusal;
}

/** All at once, or one by one where that is refused: one that the ERP will not hear must not silence the others. */
async function tellPage(
  push: PushRun,
  entries: readonly OutboxEntry[],
): Promise<{ told: number; thrown?: unknown }> {
  try {
    await tell(push, entries);
    return { told: entries.length };
  } catch (thrown) {
    let told = 0;
    for (const entry of entries) {
      if (push.context.signal.aborted) break;
      if (await isHeard(push, entry)) told++;
    }
    return { told, thrown };
  }
}

const isHeard = (push: PushRun, entry: OutboxEntry): Promise<boolean> =>
  tell(push, [entry]).then(
    () => true,
    () => false,
  );

async function tell({ feed, context, now }: PushRun, entries: readonly OutboxEntry[]): Promise<void> {
  const outcomes = entries.flatMap((entry) => {
    const code = codeInClear(entry);
    return code === undefined ? [] : [outcomeOf(entry, code)];
  });
  await feed.source.acknowledge(outcomes);
  await context.parts.engine.write(({ sql }) => markTold(sql, entries, now()));
}

/** Heals what was cut between telling and noting, and answers a code that is offered a second time. */
async function tellAwaited({ kind, feed, context, digest }: PushRun): Promise<void> {
  const { engine } = context.parts;
  const codeIn = (code: string): string => outboxCode(kind.feed, code, digest);
  for await (const codes of feed.source.awaited()) {
    const known = await engine.read((sql) => entriesByCode(sql, kind.feed, codes.map(codeIn)));
    const outcomes = codes.flatMap((code) => {
      const entry = known.get(codeIn(code));
      return entry === undefined || !isTold(entry) ? [] : [outcomeOf(entry, code)];
    });
    if (outcomes.length > 0) await feed.source.acknowledge(outcomes);
  }
}

const isTold = ({ state, told_at }: OutboxEntry): boolean =>
  told_at !== null && ['confirmed', 'rejected', 'cancelled'].includes(state);

/** Undefined where the outbox holds a digest alone: such a code is told when the source asks for it. */
const codeInClear = ({ kind, external_code, erp_code }: OutboxEntry): string | undefined =>
  erp_code ?? (isDigest(kind, external_code) ? undefined : external_code);

const outcomeOf = (entry: OutboxEntry, externalCode: string): Outcome => ({
  externalCode,
  state: entry.state as OutcomeState,
  remoteId: entry.remote_id,
  message: entry.message,
  ...(entry.reasons !== null && { reasons: JSON.parse(entry.reasons) as string[] }),
});
