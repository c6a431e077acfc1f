// The running configuration for display, with each secret replaced. An empty secret stays empty, to show that it is not set.
import { REDACTED } from '../core/text/redaction.ts';
import type { Config } from './schema.ts';
import { isSecretKey } from './secrets.ts';

export const publicConfig = (config: Config): Config => redact(config, false) as Config;

function redact(value: unknown, secret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, secret));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, redact(inner, secret || isSecretKey(key))]);
    return Object.fromEntries(entries);
  }
  return secret && value !== '' && value != null ? REDACTED : value;
}
