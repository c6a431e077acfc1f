// A proof fails by its exit code; what it uses must not take that back.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const support = resolve(import.meta.dirname, '../support/postgres.ts');

it.each([0, 1])('a proof that has used PostgreSQL ends with its own exit code, %d', (code) => {
  const script = `import { stopPostgres } from ${JSON.stringify(support)}; await stopPostgres(); process.exitCode = ${code};`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).status).toBe(code);
});
