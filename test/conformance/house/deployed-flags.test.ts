// Every way to start the product uses the flags and the environment of its first line, which the tests use too.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { PRODUCT_ENV, PRODUCT_FLAGS } from '../../support/process/product-flags.ts';

const textOf = (file: string): string => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8');
const WAYS = { 'deploy/roadbook.service': ' ', 'deploy/Dockerfile': '", "', 'package.json': ' ' };

it.each(Object.entries(WAYS))('%s starts the program with the flags of src/roadbook.js', (file, between) => {
  expect(PRODUCT_FLAGS).toContain('--expose-gc');
  expect(textOf(file)).toContain(`node${between}${PRODUCT_FLAGS.join(between)}${between}`);
});

it.each(['deploy/roadbook.service', 'deploy/Dockerfile'])('%s starts the program in its environment', (file) => {
  expect(PRODUCT_ENV).toHaveProperty('MALLOC_ARENA_MAX');
  for (const [name, value] of Object.entries(PRODUCT_ENV)) expect(textOf(file)).toContain(`${name}=${value}`);
});
