// Holds one record against its wire schema: the normalised record, or a reason that names paths and
// expectations. A value of the record is never part of the reason.
import type { z } from 'zod';
import type { JsonObject } from '../core/glossary.ts';
import { issueTexts, parseInWords } from '../core/text/zod-words.ts';
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
  const result = parseInWords(schema, raw);
  if (result.success) return { ok: true, record: result.data as JsonObject };
  const { issues } = result.error;
  const listed = issueTexts(issues.slice(0, MOST_ISSUES), schema, raw, 'record');
  if (issues.length > MOST_ISSUES) listed.push(`and ${issues.length - MOST_ISSUES} more`);
  return { ok: false, reason: listed.join('; ') };
}
