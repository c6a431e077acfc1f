// Checks a request against its schema before it is sent. The error lists all issues by path, without values.
import type { z } from 'zod';
import { Fatal } from '../core/errors.ts';
import { issueTexts, parseInWords } from '../core/text/zod-words.ts';

export function checkRequest<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  request: unknown,
): z.output<Schema> {
  const result = parseInWords(schema, request);
  if (result.success) return result.data;
  const texts = issueTexts(result.error.issues, schema, request, 'request');
  throw new Fatal(`The call ${name} was not sent: ${texts.join('; ')}`, {
    code: 'request_invalid',
    hint: 'Correct the fields named above; docs/reference/service.md lists the calls.',
  });
}
