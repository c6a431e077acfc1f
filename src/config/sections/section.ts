// A section of the file: a map whose every key has a default, so that it may be absent or left empty.
import type { z } from 'zod';

export function section<T extends z.ZodObject>(object: T) {
  return object
    .nullable()
    .prefault({} as z.input<T>)
    .transform((value): z.output<T> => value ?? object.parse({}));
}
