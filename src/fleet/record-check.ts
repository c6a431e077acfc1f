// Holds one record against its wire schema: the normalised record, or a reason that names paths and
// expectations. A value of the record is never part of the reason.
import type { z } from 'zod';
import type { JsonObject } from '../core/glossary.ts';
import { isCut, RECORD_LEVELS } from './cut-record.ts';

export type RecordCheck =
  | { ok: true; record: JsonObject }
  | {
      ok: false;
      reason: string;
      /** What is there is not the whole record. */
      isPart?: boolean;
    };

/** More issues than this are counted, not listed. */
const MOST_ISSUES = 10;

export function checkRecord(schema: z.ZodType, raw: unknown): RecordCheck {
  // The copy made by the schema would leave such a field out without a word.
  if (typeof raw === 'object' && raw !== null && Object.hasOwn(raw, '__proto__')) {
    return { ok: false, reason: '__proto__: not a field name that can be kept' };
  }
  if (isCut(raw)) {
    return {
      ok: false,
      reason: `record: nested deeper than ${RECORD_LEVELS} levels, cut there`,
      isPart: true,
    };
  }
  const result = schema.safeParse(raw);
  if (result.success) return { ok: true, record: result.data as JsonObject };
  const { issues } = result.error;
  const listed = issues.slice(0, MOST_ISSUES).map((issue) => describe(issue, raw));
  if (issues.length > MOST_ISSUES) listed.push(`and ${issues.length - MOST_ISSUES} more`);
  return { ok: false, reason: listed.join('; ') };
}

function describe(issue: z.core.$ZodIssue, raw: unknown): string {
  const path = issue.path.length === 0 ? 'record' : issue.path.map(String).join('.');
  const expected = issue.code === 'invalid_type' ? issue.expected : issue.message;
  return `${path}: expected ${expected}, got ${kindOf(valueAt(raw, issue.path))}`;
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return value;
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal';
  if (typeof value === 'string') return value === '' ? 'empty text' : 'text';
  return typeof value === 'boolean' ? 'flag' : 'object';
}
