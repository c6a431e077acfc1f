// Entries of the outbox as text for people.
import { attentionReason } from '../../status/health/attention-reason.ts';
import { type OutboxEntry, reasonsOf, shownState } from '../../warehouse/outbox/entry.ts';
import { coloured, fieldTable, textTable } from './text-table.ts';

const messageOf = (entry: OutboxEntry): string =>
  [entry.message, reasonsOf(entry).join('; ')].filter((text) => text !== null && text !== '').join(': ');

export const entryCount = (entries: number): string => (entries === 1 ? '1 entry' : `${entries} entries`);

const attentionOf = (entry: OutboxEntry, nowMs: number, waiting: ReadonlySet<string>): string | null =>
  attentionReason(entry, nowMs, waiting)?.replaceAll('_', ' ') ?? null;

/** `waiting`: the kinds with a file that waits for its result. */
export function entriesText(entries: readonly OutboxEntry[], nowMs: number, waiting: ReadonlySet<string>): string {
  if (entries.length === 0) return 'No entry matches.';
  return textTable(
    ['state', 'needs a person', 'kind', 'code', 'id', 'changed', 'message'],
    entries.map((entry) => [
      coloured(shownState(entry)),
      attentionOf(entry, nowMs, waiting),
      entry.kind,
      entry.code_use === 1 ? entry.external_code : `${entry.external_code} (use ${entry.code_use})`,
      entry.remote_id,
      entry.updated_at,
      messageOf(entry),
    ]),
  );
}

export function entryText(entry: OutboxEntry, nowMs: number, waiting: ReadonlySet<string>): string {
  const facts: [string, string | number | null][] = [
    ['kind', entry.kind],
    ['use of the code', entry.code_use === 1 ? null : entry.code_use],
    ['state', coloured(shownState(entry))],
    ['needs a person', attentionOf(entry, nowMs, waiting)],
    ['id at the service', entry.remote_id],
    ['status at service', entry.remote_status],
    ['source', entry.origin],
    ['starts', entry.period_start],
    ['received', entry.created_at],
    ['sent', entry.sent_at],
    ['confirmed', entry.confirmed_at],
    ['unknown since', entry.unknown_since],
    ['next attempt', entry.next_attempt_at],
    ['ERP notified', entry.told_at],
    ['message', entry.message],
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(20)}${value}`]));
  return [entry.external_code, ...lines, ...reasonsOf(entry).map((reason) => `  - ${reason}`)].join('\n');
}

const ATTEMPT_COLUMNS = {
  '#': 'number',
  what: 'what',
  started: 'started_at',
  ended: 'finished_at',
  outcome: 'outcome',
  status: 'http_status',
  times: 'times',
  message: 'message',
};

export const attemptsText = (attempts: readonly Record<string, unknown>[]): string =>
  attempts.length === 0 ? 'The entry was never sent or read back.' : fieldTable(ATTEMPT_COLUMNS, attempts);
