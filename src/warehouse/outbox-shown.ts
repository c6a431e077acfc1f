// An entry of the outbox as people and scripts may see it: without what is to be sent, which may hold tax numbers,
// and without the marks that only runs need.
import type { OutboxEntry } from './outbox-entry.ts';

export type ShownEntry = Omit<
  OutboxEntry,
  'payload' | 'erp_code' | 'reasons' | 'noted_hash' | 'owner_run_id' | 'checked_run_id' | 'revision'
> & { reasons: string[] };

export function shownEntry(entry: OutboxEntry): ShownEntry {
  const {
    payload: _,
    erp_code: __,
    owner_run_id: ___,
    checked_run_id: ____,
    revision: _____,
    noted_hash: ______,
    ...shown
  } = entry;
  return {
    ...shown,
    is_async: Boolean(entry.is_async),
    is_doubtful: Boolean(entry.is_doubtful),
    is_watched: Boolean(entry.is_watched),
    changed_after_push: Boolean(entry.changed_after_push),
    reasons: reasonsOf(entry),
  };
}

export const reasonsOf = ({ reasons }: OutboxEntry): string[] =>
  reasons === null ? [] : (JSON.parse(reasons) as string[]);
