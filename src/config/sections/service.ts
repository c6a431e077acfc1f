// `service`: how to reach the fleet service, and the limits of its use.
import { z } from 'zod';
import { durationOption } from '../../core/time/duration-option.ts';
import { checkedText, section, setting, webAddressFault } from './section.ts';

function baseUrlFault(text: string): string | undefined {
  if (text === 'sandbox') return undefined;
  return webAddressFault(text) ?? (/[?#]/.test(text) ? 'must not contain a query or a hash' : undefined);
}

/** Upper bounds for the file. */
export const SERVICE_LIMITS = { concurrency: 64, requestsPerMinute: 100_000 } as const;

const settings = z.strictObject({
  base_url: checkedText(baseUrlFault, 'write `sandbox` or `https://host/path`')
    .default('sandbox')
    .describe('Address of the service, or `sandbox` for the built-in simulated one (default sandbox).')
    .meta({ examples: ['sandbox', 'https://fleet.example.com'] }),
  username: setting(z.string().min(1), 'demo', 'User name of the account'),
  parent_username: z
    .string()
    .default('00000000000000')
    .describe('User name of the parent account, in quotes (default 14 zeros).'),
  password: setting(z.string().min(1), 'demo', 'Password of the account; preferably a reference to the environment'),
  realm: setting(z.string(), 'demo', 'Realm of the account'),
  renewal: z
    .enum(['auto', 'refresh-bearer', 'access-bearer', 'body', 'login'])
    .default('auto')
    .describe('How a session is renewed (default auto: finds out what the service accepts).'),
  collections: setting(z.enum(['json', 'comma', 'repeat']), 'json', 'How Collection parameters are sent'),
  timeout: durationOption('60s', 'Timeout of one request (default 60s).', { min: '1s', max: '1h' }),
  concurrency: setting(
    z.int().min(1).max(SERVICE_LIMITS.concurrency),
    4,
    'Maximum number of simultaneous requests in one process, all jobs together',
  ),
  requests_per_minute: z
    .int()
    .min(1)
    .max(SERVICE_LIMITS.requestsPerMinute)
    .default(600)
    .describe(
      'Maximum number of requests per minute, all jobs together; on PostgreSQL, all processes of the account together (default 600). The built-in sandbox is not limited.',
    ),
  max_body_mb: setting(z.int().min(1).max(1_024), 64, 'Maximum size of an answer in MiB'),
});

export const serviceSection = section(settings)
  .transform(({ base_url, parent_username, timeout, requests_per_minute, max_body_mb, ...same }) => ({
    ...same,
    baseUrl: base_url,
    parentUsername: parent_username,
    timeoutMs: timeout,
    requestsPerMinute: requests_per_minute,
    maxBodyMb: max_body_mb,
  }))
  .describe('The fleet service: address, account and limits.');
