// Rules over several fields of an object, held together with the schema of each field: zod's own refinements would be left
// out where a field is wrong, and one answer has to name everything. A field that aborts (`abort: true`, the default of
// z.custom) leaves the rules out all the same.
import type { z } from 'zod';
import { isJsonObject } from './glossary.ts';

export interface BrokenRule {
  path: PropertyKey[];
  message: string;
}

/** Sees the object even where single fields are wrong, so it trusts none. */
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

/** Has something in it. */
export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
