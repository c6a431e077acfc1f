// The code of a thing as control tables hold it. An agent may be called by its tax number, which is replaced by a
// digest; the codes of all other kinds are the ERP's own and stay, even where they look like one.
import { createHash } from 'node:crypto';
import { isCpf } from '../../core/redaction.ts';
import type { FeedKind } from '../../erp/source.ts';

const DIGEST = 'cpf-';

export const outboxCode = (kind: FeedKind, externalCode: string): string =>
  kind === 'agents' && isCpf(externalCode)
    ? `${DIGEST}${createHash('sha256').update(externalCode.replace(/\D/g, '')).digest('hex').slice(0, 24)}`
    : externalCode;

/** The code in clear, where the outbox holds a digest of it. */
export const clearCode = (kind: FeedKind, externalCode: string): string | null =>
  outboxCode(kind, externalCode) === externalCode ? null : externalCode;

export const isDigest = (kind: string, code: string): boolean => kind === 'agents' && code.startsWith(DIGEST);
