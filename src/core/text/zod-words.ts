// zod issues in plain words, the same for ERP items, calls and records of the service, and the configuration. An issue
// names its path, types and allowed words, never a value: the value may be a secret or personal data.
import { z } from 'zod';
import { type Path, schemaPlace } from '../schema-place.ts';
import { didYouMean } from './near-word.ts';

type Issue = z.core.$ZodIssue;

/** zod's `safeParse` with these messages; a schema's own message takes precedence. */
export const parseWithMessages = <T extends z.ZodType>(schema: T, value: unknown): z.ZodSafeParseResult<z.output<T>> =>
  schema.safeParse(value, { error: messageOf });

/** The first issues are enough to correct a value; one of some megabytes may have a million. */
export const MOST_ISSUES = 100;

/** The issues as `path: message`; `root` names the value itself. */
export function issueTexts(issues: readonly Issue[], schema: z.ZodType, value: unknown, root: string): string[] {
  const texts = issuesInWords(issues, schema, value).map(
    ({ path, message }) => `${pathText(path) || root}: ${message}`,
  );
  return texts.length > MOST_ISSUES ? [...texts.slice(0, MOST_ISSUES), 'more issues are not listed'] : texts;
}

/** The first single issues, one more than are listed, with what was probably meant. */
export const issuesInWords = (issues: readonly Issue[], schema: z.ZodType, value: unknown) =>
  singleIssues(issues)
    .slice(0, MOST_ISSUES + 1)
    .map((issue) => {
      const path = issue.path as Path;
      const known = issue.code === 'unrecognized_keys' ? schemaPlace(schema, path.slice(0, -1), value).keys : [];
      return { path, message: `${issue.message}${didYouMean(String(path.at(-1)), known ?? [])}` };
    });

/** Flattens issues: one for each unknown key, and of a union only the issues of the intended alternative. */
export const singleIssues = (issues: readonly Issue[]): Issue[] => issues.flatMap(single);

function single(issue: Issue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ ...issue, keys: [key], path: [...issue.path, key] }));
  }
  if (issue.code !== 'invalid_union') return [issue];
  // The intended alternative is the one whose issues are all inside the value.
  const meant = issue.errors.map(singleIssues).find((branch) => branch.every(({ path }) => path.length > 0));
  return meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue];
}

/** Other keys are not shown: they may be misplaced values. */
const NAME = /^[\p{L}\p{N}_@./() -]{1,64}$/u;

/** For example `route_points[3].external_code`. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text === '' ? '' : '.'}${NAME.test(String(step)) ? String(step) : '?'}`;
  }
  return text;
}

/** `expected a number, got text`. */
export const wrongKind = (expected: string, value: unknown): string => `expected ${expected}, got ${kindOf(value)}`;

function messageOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'unrecognized_keys') return 'is not a known field';
  if (issue.code === 'custom') return 'is not valid';
  if (issue.input === undefined) return 'is required';
  const title = titleOf(issue);
  switch (issue.code) {
    case 'invalid_value':
      return `is not one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
    case 'invalid_union':
      // The value at fault is the word inside, which zod does not show.
      if (issue.code === 'invalid_union' && allowedWords(issue).length > 0)
        return `is not one of ${allowedWords(issue).join(', ')}`;
      return wrongKind(title ?? expectation(issue), issue.input);
    case 'invalid_format':
      return title === undefined ? 'has the wrong format' : `is not ${title}`;
    case 'too_small':
      return sizeMessage(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return sizeMessage(issue.origin, 'at most', issue.maximum);
    case 'invalid_key':
      return 'the key has the wrong format';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return 'is not valid';
  }
}

/** The title of the schema with its article: `a duration`. */
function titleOf({ inst, schema }: z.core.$ZodRawIssue): string | undefined {
  const title = z.globalRegistry.get((schema ?? inst) as z.core.$ZodType)?.title;
  return title === undefined ? undefined : `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title}`;
}

/** The allowed words, if the place takes an enumeration. */
export function allowedWords(issue: Issue | z.core.$ZodRawIssue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  // zod sets `options` for a discriminated union, though its type does not declare it.
  const { options = [] } = issue as { options?: unknown[] };
  return options.filter((word) => word !== undefined).map(String);
}

function expectation(issue: Issue | z.core.$ZodRawIssue): string {
  const words = allowedWords(issue);
  if (words.length > 0) return `one of ${words.join(', ')}`;
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected;
  if (issue.code !== 'invalid_union') return 'something else';
  return [
    ...new Set(issue.errors.map(([first]) => (first === undefined ? 'something else' : expectation(first)))),
  ].join(' or ');
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'text';
  return typeof value === 'boolean' ? 'true or false' : 'an object';
}

function sizeMessage(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return limit === 1 ? 'must not be empty' : `must have ${bound} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${limit} entries`;
  return `must be ${bound} ${limit}`;
}
