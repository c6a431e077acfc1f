// No text, however made, keeps a regular expression of the product busy: the whole process would stand still with it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PUMPS = join(ROOT, 'test/support/regex-pumps.ts');

/** A dear one that is let loose on too long a text must not outlive the test. */
const MOST_MS = 120_000;

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

/** Each is dear in a way of its own, and only for a text that begins or goes on as the expression says. */
const DEAR = [
  /\S.*[\r\n]/,
  // Starts again at each beginning.
  /\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g,
  // Two repetitions that share a letter.
  /^Bearer +(.+)$/i,
  // A repetition within one, behind a beginning.
  /^Bearer (\w+\s?)+$/,
  /^key=(?:[a-z]+,?)*;$/i,
  // Two ways for one text.
  /^id:(?:a|aa)+$/,
  // Looks to the end at each of its hits.
  /x(?=.*y)/g,
];

it('every one that does not is found', async () => {
  const folder = folderWith('slow.ts', `export const slow = [\n${DEAR.join(',\n')}\n];\n`);
  const found: { source: string }[] = (await pump(folder)).dear;
  expect(found.map(({ source }) => source)).toEqual(DEAR.map(({ source }) => source));
});

it('one that is put together unseen is found', async () => {
  const folder = folderWith('made.ts', 'export const made = (text: string) => new RegExp(text);\n');
  await expect(pump(folder)).rejects.toThrow('made.ts puts an expression together');
});
