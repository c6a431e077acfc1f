// The settings that an edit changes, by their names in the file, and those that a running daemon cannot apply.
import type { LoadedConfig } from './load.ts';
import type { Config } from './schema.ts';

/** Dotted names such as `service.password` or `jobs.pull-events`, in the order of the sections. */
export function configChanges(old: Config, next: Config): string[] {
  return (Object.keys(next) as (keyof Config)[]).flatMap((section) => {
    const [before, after] = [old[section], next[section]];
    if (isSame(before, after)) return [];
    if (typeof before !== 'object' || typeof after !== 'object') return [section];
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys]
      .filter((key) => !isSame(settingOf(before, key), settingOf(after, key)))
      .map((key) => `${section}.${fileName(key)}`);
  });
}

/** Sections, feeds and jobs: their loss ends a flow of data, or brings back defaults that nobody chose. */
const isVital = (part: string): boolean => /^(?:(?:erp|jobs)\.)?[^.]+$/.test(part);
const MOST_NAMED = 3;

type FileParts = Pick<LoadedConfig, 'text' | 'parts' | 'lastPart'>;

/**
 * A file that was cut while it was copied or saved has lost its end, and may be valid: a job that is switched off there would
 * be on. The loss of a section, a feed, a job or the last line needs a restart. Undefined if the file still has them all.
 */
export function lossOfParts(old: FileParts, next: FileParts): Restart | undefined {
  const gone = [...old.parts].filter((part) => (isVital(part) || part === old.lastPart) && !next.parts.has(part));
  const lost = gone.filter((part) => !gone.some((around) => part.startsWith(`${around}.`)));
  const [first] = lost;
  if (first === undefined) return isCut(old.text, next.text) ? CUT : undefined;
  const named = lost.slice(0, MOST_NAMED).map((part) => `\`${part}\``);
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : '';
  return { path: first.split('.'), message: `the file no longer has ${named.join(', ')}${more}; restart to confirm` };
}

const CUT = { path: [], message: 'the file ends earlier than before, as if it had been cut; restart to confirm' };

const isCut = (old: string, next: string): boolean =>
  (old.endsWith('\n') && !next.endsWith('\n')) ||
  (old.startsWith(next) && /^[ \t]*[^\s#]/m.test(old.slice(next.length)));

export interface Restart {
  path: string[];
  message: string;
}

/** The first change that needs a restart; undefined if there is none. */
export function restartNeeded(old: Config, next: Config): Restart | undefined {
  const changed = configChanges(old, next).find((name) => name.startsWith('warehouse.') && name !== 'warehouse.images');
  if (changed !== undefined) {
    return { path: changed.split('.'), message: 'a change of the warehouse needs a restart' };
  }
  // Active runs would keep storing values that the rewrite has just removed.
  if (!isSame(old.privacy, next.privacy)) {
    const message = 'a change of the privacy policy needs a restart, which rewrites the stored rows';
    return { path: ['privacy'], message };
  }
  if (!isSame(old.scale, next.scale)) {
    return { path: ['scale'], message: 'a change of the dispatcher or of the number of workers needs a restart' };
  }
  // A run that began on the old account could still store its records, or push the plans of the day there.
  if (isSame(accountSettings(old.service), accountSettings(next.service))) return undefined;
  return { path: ['service'], message: 'a change of the service or of its user needs a restart' };
}

/** What identifies an account at a service. */
export const accountSettings = ({ baseUrl, username, parentUsername, realm }: Config['service']): readonly string[] => [
  baseUrl,
  username,
  parentUsername,
  realm,
];

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const settingOf = (section: object, key: string): unknown => (section as Record<string, unknown>)[key];

/** In the code, the name of a duration ends in its unit (`timeoutMs`); in the file it does not (`timeout`). */
export const fileName = (key: string): string =>
  key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
