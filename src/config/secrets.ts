// Which settings are secret, by the name of their key, and the secret texts of a loaded file. Everything below a secret
// key is secret too.
import { mapLeaves } from '../core/json.ts';
import { REDACTED } from '../core/text/redaction.ts';
import type { Config } from './schema.ts';
import type { ValueTree } from './yaml/value-tree.ts';

const SECRET_KEY =
  /(password|passwd|secret|token|webhook|connection|headers|authorization|(api|private|access)_?key|url)$/i;

/** `base_url` cannot contain credentials (the schema rejects them), and users need to see it. */
const PUBLIC_KEY = /^base_?url$/i;

const isSecretKey = (key: string): boolean => SECRET_KEY.test(key) && !PUBLIC_KEY.test(key);

/** The configuration for display, with each secret replaced. An empty secret stays empty, to show that it is not set. */
export const publicConfig = (config: Config): Config =>
  mapLeaves(config, (leaf, path) =>
    isUnderSecretKey(path) && leaf !== '' && leaf != null ? REDACTED : leaf,
  ) as Config;

/** Values of these keys are always secret; others below a secret key only if they come from a reference. */
const ALWAYS_SECRET_KEY = /(password|passwd|secret|token)$/i;

/** All secret texts: complete values, texts from references, and passwords inside addresses. */
export function secretsOf(tree: ValueTree, config: object): string[] {
  const secrets = new Set<string>();
  for (const [encoded, { referenced }] of tree.places) {
    const path = JSON.parse(encoded) as (string | number)[];
    if (isUnderSecretKey(path)) for (const text of referenced) secrets.add(text);
  }
  mapLeaves(config, (text, path) => {
    if (typeof text !== 'string' || !isUnderSecretKey(path)) return;
    const { password } = URL.parse(text) ?? { password: '' };
    secrets.add(password).add(decode(password));
    if (path.some((key) => ALWAYS_SECRET_KEY.test(String(key)))) secrets.add(text);
  });
  secrets.delete('');
  return [...secrets];
}

const isUnderSecretKey = (path: readonly (string | number)[]): boolean => path.some((key) => isSecretKey(String(key)));

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
