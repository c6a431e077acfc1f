// Encodes the query of a request. Collections have the configured form, or the fixed form of their parameter. Undefined
// and null parameters are not sent.
import { type CollectionForm, flagAsSent } from './readings.ts';

/** The form of parameters for which service.collections does not apply. */
export type FixedForms = Readonly<Record<string, CollectionForm>>;

export function encodeQuery(
  parameters: Readonly<Record<string, unknown>>,
  setting: CollectionForm,
  fixed: FixedForms = {},
): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      textsOf(value, fixed[name] ?? setting).map((text) => `${name}=${encodeURIComponent(text)}`),
    )
    .join('&');
}

function textsOf(value: unknown, form: CollectionForm): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [plain(value)];
  if (form === 'json') return [`[${value.map(jsonItem).join(',')}]`];
  const items = value.map(plain);
  return form === 'comma' ? [items.join(',')] : items;
}

const plain = (value: unknown): string => (typeof value === 'boolean' ? flagAsSent(value) : String(value));

/** An id beyond 2^53 is held as text; JSON needs it as a number. */
const jsonItem = (item: unknown): string =>
  typeof item === 'string' && LONG_ID.test(item) ? item : JSON.stringify(item);

const LONG_ID = /^\d{16,19}$/;
