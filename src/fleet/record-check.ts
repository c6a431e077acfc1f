// Checks one record against its wire schema. The result is the normalised record, or a reason with paths and
// expectations. The reason never contains a value of the record.
import type { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
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
  const result = parseWithMessages(schema, raw);
  // The schema's copy of an object that it declares drops this field silently.
  const protos = countProtos(raw);
  if (result.success && (protos === 0 || countProtos(result.data) === protos))
    return { ok: true, record: result.data as JsonObject };
  if (result.success || protos > 0) return { ok: false, reason: '__proto__: a field of this name cannot be stored' };
  const { issues } = result.error;
  const listed = issueTexts(issues.slice(0, MOST_ISSUES), schema, raw, 'record');
  if (issues.length > MOST_ISSUES) listed.push(`and ${issues.length - MOST_ISSUES} more`);
  return { ok: false, reason: listed.join('; ') };
}

/** Fields named __proto__, at any depth. */
const countProtos = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.values(value).reduce((sum, inner) => sum + countProtos(inner), Object.hasOwn(value, '__proto__') ? 1 : 0);
