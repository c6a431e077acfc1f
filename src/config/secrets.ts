// Which settings are secret, by the name of their key, and the secret texts of a loaded file. Everything below a secret
// key is secret too.
import { REDACTED } from '../core/text/redaction.ts';
import type { Config } from './schema.ts';
import type { ValueTree } from './yaml/value-tree.ts';

const SECRET_KEY =
  /(password|passwd|secret|token|webhook|connection|headers|authorization|(api|private|access)_?key|url)$/i;

/** `base_url` cannot contain credentials (the schema rejects them), and users need to see it. */
const PUBLIC_KEY = /^base_?url$/i;

const isSecretKey = (key: string): boolean => SECRET_KEY.test(key) && !PUBLIC_KEY.test(key);

/** The configuration for display, with each secret replaced. An empty secret stays empty, to show that it is not set. */
export const publicConfig = (config: Config): Config => redact(config, false) as Config;

function redact(value: unknown, secret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, secret));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, redact(inner, secret || isSecretKey(key))]);
    return Object.fromEntries(entries);
  }
  return secret && value !== '' && value != null ? REDACTED : value;
}

/** Values of these keys are always secret; others below a secret key only if they come from a reference. */
const ALWAYS_SECRET_KEY = /(password|passwd|secret|token)$/i;

/** All secret texts: complete values, texts from references, and passwords inside addresses. */
export function secretsOf(tree: ValueTree, config: object): string[] {
  const secrets = new Set<string>();
  for (const [encoded, { referenced }] of tree.places) {
    const path = JSON.parse(encoded) as (string | number)[];
    if (isUnderSecretKey(path)) for (const text of referenced) secrets.add(text);
  }
  collect(config, [], (text, path) => {
    if (!isUnderSecretKey(path)) return;
    const { password } = URL.parse(text) ?? { password: '' };
    secrets.add(password).add(decode(password));
    if (path.some((key) => ALWAYS_SECRET_KEY.test(String(key)))) secrets.add(text);
  });
  secrets.delete('');
  return [...secrets];
}

const isUnderSecretKey = (path: readonly (string | number)[]): boolean => path.some((key) => isSecretKey(String(key)));

function collect(value: unknown, path: string[], found: (text: string, path: string[]) => void): void {
  if (typeof value === 'string') found(value, path);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key], found);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
