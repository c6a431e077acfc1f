// The building blocks of sections.
import { z } from 'zod';

/** A map in which every key has a default, so that the section may be absent or empty. */
export function section<T extends z.ZodType>(map: T) {
  return map
    .nullable()
    .prefault({} as z.input<T>)
    .transform((value) => (value ?? map.parse({})) as z.output<T>);
}

/** A setting with a default, which its description names at its end. */
export const setting = <T extends z.ZodType>(
  type: T,
  fallback: z.input<T> & z.core.util.NoUndefined<z.output<T>>,
  meaning: string,
) => type.default(fallback).describe(`${meaning} (default ${fallback === '' ? 'empty' : fallback}).`);

/** A text with its own rule; `fault` returns the message for an invalid text. */
export const checkedText = (fault: (text: string) => string | undefined, hint: string | ((text: string) => string)) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message === undefined) return;
    const params = { hint: typeof hint === 'string' ? hint : hint(text) };
    context.addIssue({ code: 'custom', message, params });
  });

/** An http or https address. Credentials in the address are rejected: they would be visible wherever the address is shown. */
export const webAddress = checkedText(webAddressFault, 'write it as `https://host/path`').meta({
  title: 'web address',
  examples: ['https://erp.example.com/orders'],
});

export function webAddressFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not an http or https address';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return undefined;
}
