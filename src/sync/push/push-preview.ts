// What a push run would do, from the feed and the outbox alone: what would be sent, what breaks the rules, what
// differs from what was sent. Nothing is sent, taken or told.
import { isoInstant } from '../../core/clock.ts';
import { redactedJson } from '../../core/redaction.ts';
import { contentHash } from '../../erp/content-hash.ts';
import type { ErpThing } from '../../erp/source.ts';
import { validateThing } from '../../erp/validation.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { entriesByCode, searchEntries } from '../../warehouse/outbox-lookup.ts';
import { personalDigest } from '../../warehouse/personal-digest.ts';
import type { Preview, RunContext } from '../job.ts';
import { outboxCode } from './outbox-code.ts';
import { intakeStep, type Step } from './push-intake.ts';
import type { PushKind } from './push-kind.ts';

const WORDS: Readonly<Record<Step, string>> = {
  queue: 'send',
  refuse: 'reject',
  nothing: 'nothing',
  hold: 'send if it is not at the service',
  change: 'change',
  flag: 'flag as changed after push',
  unflag: 'clear the flag',
  note: 'reject the change',
};

const MOST_WAITING = 10_000;

export async function previewPush(kind: PushKind, { parts }: Pick<RunContext, 'parts'>): Promise<Preview[]> {
  const feed = await parts.erp(kind.feed);
  if (feed === undefined) return [];
  const lines: Preview[] = [];
  const given = new Set<string>();
  const digest = await personalDigest(parts.engine, isoInstant(parts.clock.now()));
  for await (const { things, faults } of feed.source.read()) {
    const codes = things.map(({ externalCode }) => outboxCode(kind.feed, externalCode, digest));
    const known = await parts.engine.read((sql) => entriesByCode(sql, kind.feed, codes));
    for (const thing of things) {
      const code = outboxCode(kind.feed, thing.externalCode, digest);
      given.add(code);
      lines.push(previewThing(kind, thing, code, known.get(code)));
    }
    for (const { origin, reason } of faults)
      lines.push({ what: 'reject', detail: { origin, reasons: [reason] } });
  }
  for (const entry of await waiting(kind, parts)) {
    if (!given.has(entry.external_code)) lines.push(previewEntry(entry));
  }
  const { redact } = parts.redactor;
  return lines.map((line) => JSON.parse(redactedJson(line, redact)) as Preview);
}

function previewThing(
  kind: PushKind,
  thing: ErpThing,
  code: string,
  known: OutboxEntry | undefined,
): Preview {
  const reasons = validateThing(kind.feed, thing);
  const offer = { hash: contentHash(thing), isValid: reasons.length === 0 };
  const step = intakeStep(known, offer, kind.change !== undefined);
  const isWaiting = step === 'nothing' && known?.state === 'ready';
  const detail = { external_code: code, origin: thing.origin, state: known?.state ?? 'new', reasons };
  return { what: isWaiting ? 'send' : WORDS[step], detail };
}

/** What an earlier run left to be sent or read back. */
const waiting = (kind: PushKind, { engine }: RunContext['parts']): Promise<OutboxEntry[]> =>
  engine.read((sql) =>
    searchEntries(sql, { kind: kind.feed, states: ['unknown', 'sending', 'ready'], limit: MOST_WAITING }),
  );

const previewEntry = ({ external_code, origin, state }: OutboxEntry): Preview => ({
  what: state === 'ready' ? 'send' : 'read back',
  detail: { external_code, origin, state, reasons: [] },
});
