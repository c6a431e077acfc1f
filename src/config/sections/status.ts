// `status` and `alerts`: the status page and the webhook for alerts. A page that other machines can reach needs a token.
import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { checkedText, section, setting, webAddressFault } from './section.ts';

export const statusSection = section(
  z
    .strictObject({
      host: setting(z.string().min(1), '127.0.0.1', 'Address to listen on'),
      port: setting(z.int().min(0).max(65_535), 4_780, 'Port; 0 selects a free one'),
      token: setting(
        z.string(),
        '',
        'Bearer token for reading and for actions, preferably of 16 characters or more. Without a token, every action is rejected',
      ),
    })
    .superRefine(({ host, token }, context) => {
      if (isLoopback(host) || token !== '') return;
      context.addIssue({
        code: 'custom',
        path: ['host'],
        message: 'an address that other machines can reach needs `status.token`',
        params: {
          hint: 'set the token, preferably as a reference to ROADBOOK_STATUS_TOKEN, or use `host: 127.0.0.1`',
        },
      });
    }),
).describe('The status page.');

/** Only this machine can reach a loopback address. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

export const SHORTEST_SAFE_TOKEN = 16;

export const isGuessable = (token: string): boolean => token.length < SHORTEST_SAFE_TOKEN;

const webhook = checkedText(
  (text) => (text === '' ? undefined : webAddressFault(text)),
  'write it as `https://host/path`, or leave it empty',
);

export const alertsSection = section(
  z.strictObject({
    webhook: setting(webhook, '', 'Address to which each alert is sent; if empty, none are sent'),
  }),
).describe('Where alerts are sent.');
