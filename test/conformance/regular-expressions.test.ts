// No text, however made, keeps a regular expression of the product busy: the whole process would stand still with it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PUMPS = join(ROOT, 'test/support/regex-pumps.ts');

const pump = async (...folders: string[]) =>
  JSON.parse((await promisify(execFile)(process.execPath, [PUMPS, ...folders])).stdout);

it('every regular expression takes linear time', async () => {
  const { expressions, dear } = await pump(join(ROOT, 'src'), join(ROOT, 'jobs'));
  expect(dear).toEqual([]);
  expect(expressions).toBeGreaterThan(100);
});

it('one that does not is found, and so is one that is put together unseen', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-pumps-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'slow.ts'), 'export const slow: RegExp = /\\S.*[\\r\\n]/;\n');
  expect((await pump(folder)).dear).toHaveLength(1);
  writeFileSync(join(folder, 'made.ts'), 'export const made = (text: string) => new RegExp(text);\n');
  await expect(pump(folder)).rejects.toThrow('made.ts puts an expression together');
});
