// The code of an item as the outbox holds it. An agent may be called by its tax number, which is replaced by a
// digest; the codes of all other kinds are the ERP's own and stay, even where they look like one.
import { createHash } from 'node:crypto';
import { isCpf } from '../../core/text/redaction.ts';
import type { FeedKind } from '../../erp/feed-kinds.ts';
import type { Outcome, OutcomeState } from '../../erp/source.ts';
import { type OutboxEntry, reasonsOf } from '../../warehouse/outbox/entry.ts';
import type { EntryStatus } from '../../warehouse/outbox/queries.ts';
import type { Digest } from '../../warehouse/privacy/personal-digest.ts';

const PREFIX = 'cpf-';
const LENGTH = 24;

/** The keyed digest is made of the plain one, of which older warehouses were full. */
export function codesOf(
  kind: FeedKind,
  code: string,
  digest: Digest,
): Pick<OutboxEntry, 'external_code' | 'erp_code'> {
  if (kind !== 'agents' || !isCpf(code)) return { external_code: code, erp_code: null };
  const plain = createHash('sha256').update(code.replace(/\D/g, '')).digest('hex').slice(0, LENGTH);
  return { external_code: PREFIX + digest(plain).slice(0, LENGTH), erp_code: code };
}

export const isDigest = (kind: string, code: string): boolean => kind === 'agents' && code.startsWith(PREFIX);

/** Undefined where the outbox holds a digest alone: the result of a file names the item by the code that was read. */
export const codeInClear = ({ kind, external_code, erp_code }: EntryStatus): string | undefined =>
  erp_code ?? (isDigest(kind, external_code) ? undefined : external_code);

/** What the ERP is notified of, under its own code. */
export const outcomeOf = (entry: EntryStatus, externalCode: string): Outcome => ({
  externalCode,
  periodStart: entry.period_start,
  state: entry.state as OutcomeState,
  remoteId: entry.remote_id,
  message: entry.message,
  ...(entry.reasons !== null && { reasons: reasonsOf(entry) }),
});
