// The code of an item as the outbox stores it. The code of an agent may be a tax number, which is replaced by a digest.
// The codes of all other kinds are stored as they are, even if one has the form of a tax number.
import { createHash } from 'node:crypto';
import { isCpf } from '../../core/text/redaction.ts';
import type { FeedKind } from '../../erp/feed-kinds.ts';
import type { ItemOutcome, OutcomeState } from '../../erp/source.ts';
import { isPartial, type OutboxEntry, reasonsOf } from '../../warehouse/outbox/entry.ts';
import type { EntrySummary } from '../../warehouse/outbox/queries.ts';
import type { Digest } from '../../warehouse/privacy/personal-digest.ts';

const PREFIX = 'cpf-';
const LENGTH = 24;

/** The keyed digest is computed from the plain digest, because older warehouses store plain digests. */
export function codesOf(kind: FeedKind, code: string, digest: Digest): Pick<OutboxEntry, 'external_code' | 'erp_code'> {
  if (kind !== 'agents' || !isCpf(code)) return { external_code: code, erp_code: null };
  const plain = createHash('sha256').update(code.replace(/\D/g, '')).digest('hex').slice(0, LENGTH);
  return { external_code: PREFIX + digest(plain).slice(0, LENGTH), erp_code: code };
}

/** Undefined if the outbox holds only a digest. The result of a file takes the code from the file instead. */
export const codeInClear = ({ kind, external_code, erp_code }: EntrySummary): string | undefined =>
  erp_code ?? (kind === 'agents' && external_code.startsWith(PREFIX) ? undefined : external_code);

/** The outcome for the ERP, under the ERP's own code. */
export const itemOutcome = (entry: EntrySummary, externalCode: string): ItemOutcome => ({
  externalCode,
  periodStart: entry.period_start,
  state: entry.state as OutcomeState,
  remoteId: entry.remote_id,
  message: entry.message,
  ...(entry.reasons !== null && { reasons: reasonsOf(entry) }),
  ...(isPartial(entry) && { isPartial: true }),
  ...(entry.origin !== null && { origin: entry.origin }),
});
