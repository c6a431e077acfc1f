// An http or https address. Credentials in the address are rejected: they would be visible wherever the address is shown.
import { z } from 'zod';

export const webAddress = z
  .string()
  .superRefine((text, context) => {
    const message = webAddressFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message, params: { hint: HINT } });
  })
  .meta({ title: 'web address', examples: ['https://erp.example.com/orders'] });

const HINT = 'write it as `https://host/path`';

export function webAddressFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not an http or https address';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return undefined;
}
