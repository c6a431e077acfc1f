import { expect, test } from 'vitest';
import { configJsonSchema } from '../../../src/config/json-schema.ts';
import { declarations } from './config-declarations.ts';

interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  pattern?: string;
  required?: string[];
  additionalProperties?: unknown;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  definitions?: Record<string, Schema>;
}

const schema = configJsonSchema(declarations) as Schema;

const mapOf = (place: Schema | undefined): Schema => place?.anyOf?.find(({ type }) => type === 'object') ?? {};
const at = (...path: string[]): Schema | undefined =>
  path.reduce<Schema | undefined>((place, key) => mapOf(place).properties?.[key], schema);

function eachProperty(place: Schema, path: string, visit: (path: string, property: Schema) => void): void {
  for (const [key, property] of Object.entries(place.properties ?? {})) {
    visit(`${path}.${key}`, property);
    eachProperty(property, `${path}.${key}`, visit);
  }
  for (const inner of [...(place.anyOf ?? []), ...(place.oneOf ?? [])]) eachProperty(inner, path, visit);
  for (const inner of Object.values(place.definitions ?? {})) eachProperty(inner, path, visit);
}

test('every key has a description', () => {
  const bare: string[] = [];
  eachProperty(schema, '', (path, { description }) => {
    if (description === undefined) bare.push(path);
  });
  expect(bare).toEqual([]);
});

test('keys are those of the file, with defaults as the file writes them', () => {
  expect(at('service', 'timeout')).toMatchObject({ default: '60s' });
  expect(at('jobs', 'pull-events', 'lookback')).toMatchObject({ default: '6h' });
  expect(at('jobs', 'pull-events', 'schedule')).toMatchObject({ default: '*/10 * * * *' });
});

test('unknown keys are invalid in the editor too, and no key is required at the top', () => {
  expect(mapOf(schema).additionalProperties).toBe(false);
  expect(mapOf(schema).required).toBeUndefined();
  expect(mapOf(at('service')).additionalProperties).toBe(false);
});

test.each([
  ['status', 'port'],
  ['jobs', 'pull-events', 'strict'],
  ['service', 'renewal'],
  ['service', 'timeout'],
])('a reference is accepted at %s.%s', (...path) => {
  expect(at(...path)?.anyOf?.some(({ pattern }) => pattern === '\\$\\{.*\\}')).toBe(true);
});

test('the text does not depend on the order in which jobs and engines are found', () => {
  const reversed = <T>(declarations: Record<string, T>) =>
    Object.fromEntries(Object.entries(declarations).toReversed());
  const other = configJsonSchema({
    ...declarations,
    jobs: reversed(declarations.jobs),
    engines: reversed(declarations.engines),
    personal: reversed(declarations.personal),
  });
  expect(JSON.stringify(other)).toBe(JSON.stringify(schema));
});
