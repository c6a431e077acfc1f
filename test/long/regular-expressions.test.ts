// No text, however crafted, keeps a regular expression of the product busy: it would block the whole process.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PUMPS = join(ROOT, 'test/support/fuzz/regex-pumps.ts');

/** An expensive one that runs on too long a text must not outlive the test. */
const MOST_MS = 170_000;

const pump = async (...folders: string[]) =>
  JSON.parse((await promisify(execFile)(process.execPath, [PUMPS, ...folders], { timeout: MOST_MS })).stdout);

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-pumps-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), text);
  return folder;
}

it('every regular expression takes linear time', async () => {
  const { expressions, dear } = await pump(join(ROOT, 'src'), join(ROOT, 'jobs'));
  expect(dear).toEqual([]);
  expect(expressions).toBeGreaterThan(100);
});

/** Each is expensive in its own way, and only for a text that starts or continues as the expression says. */
const DEAR = [
  /\S.*[\r\n]/,
  // Restarts at each beginning.
  /\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g,
  // Two repetitions that share a letter.
  /^Bearer +(.+)$/i,
  // A nested repetition after a prefix.
  /^Bearer (\w+\s?)+$/,
  /^key=(?:[a-z]+,?)*;$/i,
  // Two ways to match one text.
  /^id:(?:a|aa)+$/,
  // Scans to the end at each of its matches.
  /x(?=.*y)/g,
];

it('every regular expression that takes longer is found', async () => {
  const folder = folderWith('slow.ts', `export const slow = [\n${DEAR.join(',\n')}\n];\n`);
  const found: { source: string }[] = (await pump(folder)).dear;
  expect(found.map(({ source }) => source)).toEqual(DEAR.map(({ source }) => source));
});

it('a regular expression that is built at run time is found', async () => {
  const folder = folderWith('made.ts', 'export const made = (text: string) => new RegExp(text);\n');
  await expect(pump(folder)).rejects.toThrow('made.ts puts an expression together');
});
