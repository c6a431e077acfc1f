// A zod issue in the words of people who edit the file. Kinds and allowed words are named, values never.
import type { z } from 'zod';
import { suggest } from '../core/near-word.ts';
import type { SchemaPlace } from './schema-place.ts';

type Issue = z.core.$ZodIssue;

export interface IssueWords {
  message: string;
  hint: string;
}

/** `value` is what stands at the issue's place; it chooses the words and is not shown. */
export function issueWords(issue: Issue, value: unknown, place: SchemaPlace): IssueWords {
  const message = messageOf(issue, value, place);
  return { message, hint: hintOf(issue, value, place) };
}

function messageOf(issue: Issue, value: unknown, place: SchemaPlace): string {
  if (value === undefined && issue.code !== 'custom') return 'a required key is missing';
  switch (issue.code) {
    case 'invalid_value':
      return 'is not one of the allowed values';
    case 'invalid_type':
    case 'invalid_union':
      return `expected ${expectation(issue, place)}, got ${kindOf(value)}`;
    case 'invalid_format':
      return place.title === undefined
        ? 'is not written in the right form'
        : `is not ${withArticle(place.title)}`;
    case 'too_small':
      return sizeMessage(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return sizeMessage(issue.origin, 'at most', issue.maximum);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return issue.message;
  }
}

function hintOf(issue: Issue, value: unknown, place: SchemaPlace): string {
  const own = issue.code === 'custom' ? issue.params?.hint : undefined;
  if (typeof own === 'string') return own;
  const words = allowedWords(issue);
  if (words.length > 0) return suggest(typeof value === 'string' ? value : '', words);
  if (value === undefined) return `add it${place.description === undefined ? '' : `: ${place.description}`}`;
  if (value === null) return 'give a value, or remove the key to take the default';
  if (place.examples.length > 0) return `for example ${list(place.examples)}`;
  return kindHint(issue, value) ?? place.description ?? 'see the example in config/roadbook.yaml';
}

function kindHint(issue: Issue, value: unknown): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.expected === 'object' || issue.expected === 'record')
    return 'write `key: value` lines beneath it';
  if (issue.expected === 'array') return 'write a list: `[one, two]`';
  if (issue.expected === 'string' && typeof value !== 'object') return 'put it in quotes';
  if (issue.expected === 'number' && typeof value === 'string') return 'write a number, without quotes';
  if (issue.expected === 'boolean') return 'write `true` or `false`, without quotes';
  return undefined;
}

/** The words of an enumeration that could stand here. */
function allowedWords(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  // zod gives `options` for a discriminated union, though its type does not say so.
  const { options = [] } = issue as { options?: unknown[] };
  return options.filter((word) => word !== undefined).map(String);
}

function expectation(issue: Issue, place: SchemaPlace): string {
  const words = allowedWords(issue);
  if (words.length > 0) return `one of ${list(words)}`;
  if (issue.code === 'invalid_union') {
    const kinds = issue.errors.map(([first]) =>
      first === undefined ? 'something else' : kindExpected(first),
    );
    return [...new Set(kinds)].join(' or ');
  }
  return place.title === undefined ? kindExpected(issue) : withArticle(place.title);
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys',
  record: 'a map of keys',
  array: 'a list',
};

function kindExpected(issue: Issue): string {
  if (issue.code === 'invalid_value') return list(issue.values.map(String));
  return issue.code === 'invalid_type' ? (KINDS[issue.expected] ?? issue.expected) : 'a valid value';
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'text';
  return typeof value === 'boolean' ? 'true or false' : 'a map of keys';
}

function sizeMessage(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string')
    return limit === 1 ? 'must not be empty' : `must have ${bound} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${limit} entries`;
  return `must be ${bound} ${limit}`;
}

const list = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

const withArticle = (noun: string): string => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
