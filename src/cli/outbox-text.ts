// Entries of the outbox as text for people.
import type { OutboxEntry } from '../warehouse/outbox-entry.ts';
import { reasonsOf } from '../warehouse/outbox-shown.ts';
import { coloured, textTable } from './text-table.ts';

/** One line of what a person has to know. */
const wordsOf = (entry: OutboxEntry): string =>
  [entry.message, ...reasonsOf(entry)].filter((text) => text !== null).join('; ');

export function entriesText(entries: readonly OutboxEntry[]): string {
  if (entries.length === 0) return 'The outbox has no such entries.';
  return textTable(
    ['state', 'kind', 'code', 'id', 'changed', 'what'],
    entries.map((entry) => [
      coloured(entry.state),
      entry.kind,
      entry.external_code,
      entry.remote_id,
      entry.updated_at,
      wordsOf(entry),
    ]),
  );
}

export function entryText(entry: OutboxEntry): string {
  const facts: [string, string | number | null][] = [
    ['kind', entry.kind],
    ['state', coloured(entry.state)],
    ['id at the service', entry.remote_id],
    ['status there', entry.remote_status],
    ['from', entry.origin],
    ['starts', entry.period_start],
    ['given', entry.created_at],
    ['sent', entry.sent_at],
    ['confirmed', entry.confirmed_at],
    ['unknown since', entry.unknown_since],
    ['next attempt', entry.next_attempt_at],
    ['ERP told', entry.told_at],
    ['changed after push', entry.changed_after_push ? 'yes' : null],
    ['not returned', entry.uncoded_stops ? `${entry.uncoded_stops} stops without an external_code` : null],
    ['message', entry.message],
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(20)}${value}`]));
  return [entry.external_code, ...lines, ...reasonsOf(entry).map((reason) => `  - ${reason}`)].join('\n');
}

export interface AttemptRow {
  number: number;
  what: string;
  started_at: string;
  finished_at: string | null;
  outcome: string | null;
  http_status: number | null;
  message: string | null;
  times: number;
}

export const attemptsText = (attempts: readonly AttemptRow[]): string =>
  attempts.length === 0
    ? 'It was never sent nor looked for.'
    : textTable(
        ['#', 'what', 'began', 'ended', 'outcome', 'status', 'times', 'message'],
        attempts.map((attempt) => [
          attempt.number,
          attempt.what,
          attempt.started_at,
          attempt.finished_at,
          attempt.outcome,
          attempt.http_status,
          attempt.times,
          attempt.message,
        ]),
      );
