// Tells the ERP what became of its things: every state once it is stored, and again whatever the ERP still waits
// for. Told first and noted afterwards, so a crash tells twice rather than never.
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError, type RoadbookError } from '../../core/errors.ts';
import type { Outcome, OutcomeState } from '../../erp/source.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { entriesByCode } from '../../warehouse/outbox-lookup.ts';
import { dropToldCodes, markTold, untoldEntries } from '../../warehouse/outbox-telling.ts';
import { isDigest, outboxCode } from './outbox-code.ts';
import type { PushRun } from './push-run.ts';
import { createTeller } from './teller.ts';

export async function tellOutcomes(push: PushRun): Promise<void> {
  const { context, settings, kind } = push;
  if (context.signal.aborted) return;
  const { engine, clock } = context.parts;
  try {
    if (await tellNews(push)) await tellAwaited(push);
    const refusedBefore = isoInstant(clock.now() - settings.keep_refused);
    await engine.write(({ sql }) => dropToldCodes(sql, kind.feed, { at: push.now(), refusedBefore }));
  } catch (thrown) {
    tellFailure(push, asRoadbookError(thrown));
  }
}

function tellFailure({ context, failures }: PushRun, failure: RoadbookError): void {
  if (context.signal.aborted) return;
  context.log.warn({ err: failure }, 'ERP could not be told');
  failures.push(failure);
}

/**
 * False where nobody listens. A confirmed entry without its identifier waits a settling time for it, so that the
 * ERP is told both at once.
 */
async function tellNews(push: PushRun): Promise<boolean> {
  const { kind, settings, context } = push;
  const { engine, clock } = context.parts;
  const idAwaitedSince = isoInstant(clock.now() - settings.settle);
  const teller = createTeller<OutboxEntry>(context.signal, (entries) => tell(push, entries));
  let isListening = true;
  for (let after = ''; isListening; ) {
    const from = after;
    const entries = await engine.read((sql) => untoldEntries(sql, kind.feed, idAwaitedSince, from));
    const last = entries.at(-1);
    if (last === undefined) break;
    after = last.external_code;
    isListening = await teller.tell(entries);
  }
  const refusal = teller.refusal();
  if (refusal !== undefined) tellFailure(push, refusal);
  return isListening;
}

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
  for await (const items of feed.source.awaited()) {
    const codes = items.map(({ externalCode }) => codeIn(externalCode));
    const known = await engine.read((sql) => entriesByCode(sql, kind.feed, codes));
    const outcomes = items.flatMap(({ externalCode, startDay }) => {
      const entry = known.get(codeIn(externalCode));
      return entry === undefined || !isTold(entry) ? [] : [{ ...outcomeOf(entry, externalCode), startDay }];
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
  periodStart: entry.period_start,
  state: entry.state as OutcomeState,
  remoteId: entry.remote_id,
  message: entry.message,
  revision: entry.revision,
  ...(entry.reasons !== null && { reasons: JSON.parse(entry.reasons) as string[] }),
});
