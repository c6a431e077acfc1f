// Judges the answer to a create or change. No body at all is documented as well as any other; a document without
// an identifier is not, and may come from something that answers in the service's place.
import type { Written } from '../../../fleet/endpoint.ts';
import type { Verdict } from '../kind.ts';

export function judgeWritten({ id, raw }: Written): Verdict {
  if (id === undefined && raw !== null) {
    return { is: 'unclear', message: 'The answer does not tell whether it was written' };
  }
  return { is: 'accepted', id, reasons: [] };
}
