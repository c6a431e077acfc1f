// The code of an item as the outbox holds it. An agent may be called by its tax number, which is replaced by a
// digest; the codes of all other kinds are the ERP's own and stay, even where they look like one.
import { createHash } from 'node:crypto';
import { isCpf } from '../../core/redaction.ts';
import type { FeedKind } from '../../erp/source.ts';
import type { Digest } from '../../warehouse/personal-digest.ts';

const PREFIX = 'cpf-';
const LENGTH = 24;

/** The keyed digest is made of the plain one, of which older warehouses were full. */
export function outboxCode(kind: FeedKind, externalCode: string, digest: Digest): string {
  if (kind !== 'agents' || !isCpf(externalCode)) return externalCode;
  const plain = createHash('sha256').update(externalCode.replace(/\D/g, '')).digest('hex').slice(0, LENGTH);
  return PREFIX + digest(plain).slice(0, LENGTH);
}

/** The code in clear, where the outbox holds a digest of it. */
export const clearCode = (kind: FeedKind, externalCode: string): string | null =>
  kind === 'agents' && isCpf(externalCode) ? externalCode : null;

export const isDigest = (kind: string, code: string): boolean => kind === 'agents' && code.startsWith(PREFIX);
