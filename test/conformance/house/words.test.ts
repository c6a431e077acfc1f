// One word for one thing: words that were given up for a plainer one do not come back, neither in a text nor inside a name
// such as `misfitCount` or `push-lanes.test.ts`. CONTRIBUTING.md has the glossary.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Retired words and what is said instead. `_` stands between the words of a name: `dayPicture`, `day-picture`, `day_picture`. */
const RETIRED: Readonly<Record<string, string>> = {
  'tells?|told|telling|teller': 'report, notify, store, acknowledge',
  'unless told': 'default',
  whoever: 'name the subject',
  'erp_things?|(?:an?|the|this|that|these|those|such|many) things?': 'item, or name the subject',
  'misfits?': 'invalid record',
  'withdraw\\w*|withdrew': 'invalidate, cancel, revoke',
  'vouch\\w*': 'assert absent',
  'witness\\w*': 'control record',
  blind: 'inconclusive',
  'twins?': 'duplicate key',
  'sought|sights?': 'due, match',
  'disown\\w*': 'cancel',
  'park(?:s|ed|ing)?': 'hold for review',
  'harvest\\w*': 'batch',
  pieces: 'chunks',
  'extents?': 'full-refresh range',
  'uncover\\w*': 'invalidate',
  'overtakes?|overtook|overtaking|is_overtaken': 'stale read',
  '(?:tick|rate|alert|patient)_books?': 'store, with timeout',
  'permit_hands?': 'local permits',
  'lanes?': 'worker, slot',
  'waiting_lines?': 'priority queue',
  'lies?_down': 'idle GC',
  'desks?': 'pending index',
  generations: 'connections by config version',
  'own_turns?': 'yieldToEventLoop',
  'check_ups?': 'doctor, checks',
  'day[_ ]pictures?': 'day chart',
  'seals?_\\w+|\\w+_seals?|sealed': 'commit hook',
  'slices?[_ ](?:is )?settle[sd]?|settle[sd]?[_ ](?:the |a )?slices?': 'commit hook',
  'keepers?': 'manager',
  'sync_parts|surroundings': 'dependencies',
  'part_of(?!_)|months_of': 'parent, partitionBy',
  'code_faults?': 'codeIssue, read error',
  'accepted_in_part|(?:taken|accept(?:s|ed)?) in part|partly taken': 'partial',
  '\\w*refus(?:e|es|ed|ing|als?)\\w*': 'reject, rejected, rejection',
};

/** Where a word means something else, or is a name that others rely on. */
const ALLOWED: readonly RegExp[] = [
  /told_(?:at|local)\b/g, // columns that users query
  /atAndLocal\('told'|'confirmed', 'told'\]/g, // the prefix of these
  /\b(?:vouched|blind): '|, '(?:vouched|blind)'\]|`(?:vouched|blind|search_blind)`/g, // values that an earlier version stored
  /'not told'/g, // a value in a recipe of the cookbook, which reports may filter by
  /login_refused|refuse[sd] the login|refused logins?|login that is refused|three refusals/gi, // exit code 4
  /ECONNREFUSED|connection refused|'refused'|`refused`/gi, // of the network, and as a fault of the sandbox
  /\?\.refused|\brefused\??: /g, // the stored count of rejected logins, and an outcome that an earlier version stored
  /`\w+_refused`|'keep_refused'|\bkeep_refused: |`RoadbookConfigRefused`/g, // earlier names, for those who used them
  /Accepted in part; /g, // a stored message
  /`accepted_in_part`/g, // an earlier name
  /Refused by the customer/g, // a reason that an agent gives
];

/** Written by programs, from texts that are tested where they stand. */
const GENERATED = /explanation\/(?:reliability|performance|mutation)\.md$/;
/** The schemas of earlier versions are as they were. */
const EARLIER = /^test\/fixtures\//;
const TEXT = /\.(?:ts|js|mjs|css|html|json|md|ya?ml|sql|service)$|\/Dockerfile$/;

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

const SELF = relative(ROOT, import.meta.filename);
const files = [
  ...['src', 'jobs', 'docs', 'test', 'deploy'].flatMap(filesIn),
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
].filter((file) => TEXT.test(file) && !GENERATED.test(file) && !EARLIER.test(file) && file !== SELF);

/** The words of names apart: `misfitCount` and `misfit-count` become `misfit_count`, and a sentence stays as it is. */
const wordsApart = (text: string): string =>
  text.replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$&_').replace(/(?<=[A-Za-z0-9])-(?=[A-Za-z0-9])/g, '_');

/** Each line, before the first one the name of its file. */
const lines = files.flatMap((file) =>
  [file, ...readFileSync(join(ROOT, file), 'utf8').split('\n')].map((line, at) => ({
    place: `${file}:${at} ${line.trim()}`,
    text: wordsApart(ALLOWED.reduce((text, allowed) => text.replaceAll(allowed, ''), line)),
  })),
);

const patternOf = (retired: string): RegExp => new RegExp(`(?<![a-z])(?:${retired})(?![a-z])`, 'i');

it.each(Object.entries(RETIRED))('nobody says %s: it is %s', (retired) => {
  const word = patternOf(retired);
  expect(lines.filter(({ text }) => word.test(text)).map(({ place }) => place)).toEqual([]);
});

describe('a retired word', () => {
  const anyOfThem = patternOf(Object.keys(RETIRED).join('|'));

  it.each([
    ...['misfitCount', 'countOfMisfits', 'MISFIT_COUNT', 'known_misfit', 'misfit-count.ts', 'HTTPMisfit', 'A misfit.'],
    ...['push-lanes.test.ts', 'toldErp', 'is_told', 'dayPicture', 'day-picture', 'a day picture', 'sealSlice'],
  ])('is found in %s', (text) => {
    expect(wordsApart(text)).toMatch(anyOfThem);
  });

  it.each(['planes', 'sparkline', 'intelligent', 'foretold', 'insight', 'Door seal', 'a part of the code'])(
    'is not found in %s',
    (text) => {
      expect(wordsApart(text)).not.toMatch(anyOfThem);
    },
  );
});
