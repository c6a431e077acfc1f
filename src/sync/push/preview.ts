// Previews a push run from the feed and the outbox. Nothing is sent, taken or acknowledged.
import { redactedJson } from '../../core/text/redaction.ts';
import type { OutboxEntry } from '../../warehouse/outbox/entry.ts';
import { searchEntries } from '../../warehouse/outbox/lists.ts';
import { entriesByCode } from '../../warehouse/outbox/queries.ts';
import type { Preview, PreviewContext } from '../job.ts';
import { offeredBatches, rulesOf } from './ingest.ts';
import { openUnrecorded, type PushKind, type PushRun } from './kind.ts';
import { type Offer, takeOffer } from './offer.ts';

const MOST_WAITING = 10_000;

export async function previewPush(kind: PushKind, context: PreviewContext): Promise<Preview[]> {
  const push = await openUnrecorded(kind, context);
  if (push === undefined) return [];
  const { engine } = push;
  const lines: Preview[] = [];
  const offered = new Set<string>();
  for await (const { offers, uncoded } of offeredBatches(push)) {
    const codes = offers.map(({ external_code }) => external_code);
    const known = await engine.read((sql) => entriesByCode(sql, kind.feed, codes));
    for (const offer of offers) {
      offered.add(offer.external_code);
      lines.push(previewOffer(push, offer, known.get(offer.external_code) ?? []));
    }
    for (const { origin, reason } of uncoded) lines.push({ what: 'reject', detail: { origin, reasons: [reason] } });
  }
  // Entries that an earlier run left to be sent or read back.
  const left = { kind: kind.feed, states: ['unknown', 'sending', 'ready'] as const, limit: MOST_WAITING };
  for (const { external_code, origin, state } of await engine.read((sql) => searchEntries(sql, left))) {
    const what = state === 'ready' ? 'send' : 'read back';
    if (!offered.has(external_code)) lines.push({ what, detail: { external_code, origin, state, reasons: [] } });
  }
  const { redact } = context.dependencies.redactor;
  return lines.map((line) => JSON.parse(redactedJson(line, redact)) as Preview);
}

function previewOffer(push: PushRun, offer: Offer, uses: readonly OutboxEntry[]): Preview {
  // A run may be sending the entry now. If that run dies, the next run treats the entry as unknown.
  const recovered = uses.map((use) => (use.state === 'sending' ? { ...use, state: 'unknown' as const } : use));
  const then = takeOffer(recovered, offer, rulesOf(push));
  const before = uses.find((use) => use.code_use === then?.code_use) ?? (then === undefined ? uses.at(-1) : undefined);
  const { external_code, origin, reasons } = offer;
  const detail = { external_code, origin, state: before?.state ?? 'new', reasons: [...reasons] };
  // The run counts an item that it cannot read as rejected, even if its entry stays as it is.
  return { what: offer.content_hash === '' ? 'reject' : stepOf(before, then), detail };
}

function stepOf(before: OutboxEntry | undefined, then: OutboxEntry | undefined): string {
  const entry = then ?? before;
  const isSameContent = then === undefined || then.content_hash === before?.content_hash;
  switch (entry?.state) {
    case 'ready':
      return entry.remote_id === null ? 'send' : 'change';
    case 'rejected':
      return isSameContent ? 'nothing' : 'reject';
    case 'unknown':
      return isSameContent
        ? 'nothing'
        : entry.payload === null
          ? 'reject the change'
          : 'send if it is not at the service';
    case 'confirmed':
      if (isSameContent) return 'nothing';
      if (entry.attention === 'invalid_change') return 'reject the change';
      return entry.content_hash === entry.sent_hash ? 'clear the flag' : 'flag as changed after push';
    default:
      return 'nothing';
  }
}
