// Changes the records of an answer in any envelope. Used by faults that repeat or reorder records, and for the invalid
// records that a test adds.
import type { Answer } from './answer.ts';

export function mapRecords(answer: Answer, change: (records: unknown[]) => unknown[]): Answer {
  const json = 'json' in answer.body ? answer.body.json : parsed(answer.body.chunks);
  if (Array.isArray(json)) return { ...answer, body: { json: change(json) } };
  const data = (json as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) return answer;
  return { ...answer, body: { json: { ...(json as object), data: change(data) } } };
}

function parsed(chunks: Iterable<Uint8Array>): unknown {
  const text = Buffer.concat([...chunks]).toString();
  return text.startsWith('[') || text.startsWith('{') ? JSON.parse(text) : text;
}
