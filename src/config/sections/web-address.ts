// An http or https address. Credentials in the address are rejected: they would be visible wherever the address is shown.
import { checkedText } from './section.ts';

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
