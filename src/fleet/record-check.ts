// Checks one record against its wire schema. The result is the normalised record, or a reason with paths and
// expectations. The reason never contains a value of the record.
import type { z } from 'zod';
import type { JsonObject } from '../core/glossary.ts';
import { issueTexts, parseWithMessages } from '../core/text/zod-words.ts';
import { isCut, RECORD_LEVELS } from './cut-record.ts';

export type RecordCheck =
  | { ok: true; record: JsonObject }
  | {
      ok: false;
      reason: string;
      /** The record is truncated. */
      isPart?: boolean;
    };

/** Further issues are only counted. */
const MOST_ISSUES = 10;

export function checkRecord(schema: z.ZodType, raw: unknown): RecordCheck {
  if (isCut(raw)) {
    return { ok: false, reason: `record: nested deeper than ${RECORD_LEVELS} levels; truncated`, isPart: true };
  }
  // The schema's copy would drop this field silently, at any depth.
  if (hasProto(raw)) return { ok: false, reason: '__proto__: a field of this name cannot be stored' };
  const result = parseWithMessages(schema, raw);
  if (result.success) return { ok: true, record: result.data as JsonObject };
  const { issues } = result.error;
  const listed = issueTexts(issues.slice(0, MOST_ISSUES), schema, raw, 'record');
  if (issues.length > MOST_ISSUES) listed.push(`and ${issues.length - MOST_ISSUES} more`);
  return { ok: false, reason: listed.join('; ') };
}

const hasProto = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto));
