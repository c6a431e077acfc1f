// One word for one thing: words that were given up for a plainer one do not come back. CONTRIBUTING.md has the glossary.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Retired word and what is said instead. */
const RETIRED: Readonly<Record<string, string>> = {
  'tells?|told|telling|teller': 'report, notify, store, acknowledge',
  'unless told': 'default',
  whoever: 'name the subject',
  'misfits?': 'invalid record',
  'withdraw\\w*|withdrew': 'invalidate, cancel, revoke',
  'vouch\\w*': 'assert absent',
  'witness\\w*': 'control record',
  'twins?': 'duplicate key',
  'sought|sights?': 'due, match',
  'disown\\w*': 'cancel',
  harvest: 'batch',
  pieces: 'chunks',
  'checkUp|check-up': 'doctor, checks',
  'dayPicture|day picture': 'day chart',
  'SyncParts|Surroundings': 'dependencies',
  'partOf|monthsOf': 'parent, partitionBy',
};

/** Where a word means something else, or is a name that others rely on. */
const ALLOWED: readonly RegExp[] = [
  /'told'/, // prefix of the columns told_at and told_local
  /vouched: /, // a value that an earlier version stored
  /'not told'/, // a value in a recipe of the cookbook, which reports may filter by
];

/** Written by programs, from texts that are tested where they stand. */
const GENERATED = /explanation\/(?:reliability|performance|mutation)\.md$/;

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

const files = [...filesIn('src'), ...filesIn('jobs'), ...filesIn('docs'), 'README.md', 'CONTRIBUTING.md'].filter(
  (file) => /\.(?:ts|js|md)$/.test(file) && !GENERATED.test(file),
);

it.each(Object.entries(RETIRED))('nobody says %s: it is %s', (retired) => {
  const word = new RegExp(`\\b(?:${retired})\\b`, 'i');
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        word.test(ALLOWED.reduce((text, allowed) => text.replace(allowed, ''), line))
          ? [`${file}:${at + 1} ${line.trim()}`]
          : [],
      ),
  );
  expect(found).toEqual([]);
});
