// Rules over several fields of an object, checked even if single fields are invalid, so that one answer lists all issues.
// (zod skips its own refinements then.) A field with `abort: true`, the default of z.custom, still skips the rules.
import type { z } from 'zod';
import { isJsonObject } from './json.ts';

export interface BrokenRule {
  path: PropertyKey[];
  message: string;
}

/** Also gets objects with invalid fields, so it must check the type of each field it uses. */
export type FieldRule = (given: Record<string, unknown>) => readonly BrokenRule[];

export function withRules<Schema extends z.ZodType<object>>(schema: Schema, ...rules: FieldRule[]): Schema {
  return schema.superRefine(
    (given, context) => {
      for (const broken of rules.flatMap((rule) => rule(given as Record<string, unknown>)))
        context.addIssue({ code: 'custom', ...broken });
    },
    { when: ({ value }) => isJsonObject(value) },
  );
}

/** Not null, not undefined, not an empty list. */
export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
