// A section of the file: a map in which every key has a default, so that the section may be absent or empty.
import type { z } from 'zod';

export function section<T extends z.ZodObject>(object: T) {
  return object
    .nullable()
    .prefault({} as z.input<T>)
    .transform((value): z.output<T> => value ?? object.parse({}));
}
