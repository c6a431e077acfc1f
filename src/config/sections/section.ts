// The building blocks of sections.
import { z } from 'zod';

/** A map in which every key has a default, so that the section may be absent or empty. */
export function section<T extends z.ZodObject>(object: T) {
  return object
    .nullable()
    .prefault({} as z.input<T>)
    .transform((value): z.output<T> => value ?? object.parse({}));
}

/** A text with its own rule; `fault` returns the message for an invalid text. */
export const checkedText = (fault: (text: string) => string | undefined, hint: string | ((text: string) => string)) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message === undefined) return;
    const params = { hint: typeof hint === 'string' ? hint : hint(text) };
    context.addIssue({ code: 'custom', message, params });
  });
