// The explanations of surviving mutants refer to code that still exists; the mutation test itself takes long.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { AREAS } from '../../mutation/areas.ts';
import { EXPLAINED } from '../../mutation/explained.ts';

const at = (path: string): string => resolve(import.meta.dirname, '../../..', path);

it.each(EXPLAINED)('$file still has $code', ({ file, line, code }) => {
  expect(Object.values(AREAS).flatMap(({ files }) => files)).toContain(file);
  const source = readFileSync(at(`src/${file}`), 'utf8');
  expect(source.split('\n').map((each) => each.trim())).toContain(line);
  expect(source.replaceAll(/\s+/g, ' ')).toContain(code);
});

it.each(Object.entries(AREAS))('the files and tests of %s exist', (_name, { files, tests }) => {
  for (const file of files) expect(existsSync(at(`src/${file}`)), file).toBe(true);
  for (const file of tests) expect(existsSync(at(`test/${file}`)), file).toBe(true);
});
