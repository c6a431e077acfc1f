// Holds a request against its schema before anything leaves: all faults at once, by path, without values.
import type { z } from 'zod';
import { Fatal } from '../core/errors.ts';

export function checkRequest<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  request: unknown,
): z.output<Schema> {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`);
  throw new Fatal(`The call ${name} was not sent: ${faults.join('; ')}`, {
    code: 'request_invalid',
    hint: 'Correct the fields that are named; docs/service.md lists the calls.',
  });
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? 'request' : path.map(String).join('.');
