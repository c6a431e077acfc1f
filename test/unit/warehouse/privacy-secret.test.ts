// The secret of the digests in its file: created once, and a plain error where it cannot be stored or read.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { privacySecret } from '../../../src/warehouse/privacy/secret.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'roadbook-secret-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

it('is created once, and nothing is left beside it', async () => {
  const dir = folder();
  const file = join(dir, 'data', 'privacy.key');
  const [one, other] = await Promise.all([privacySecret(file), privacySecret(file)]);
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(other).toBe(one);
  expect(readdirSync(join(dir, 'data'))).toEqual(['privacy.key']);
});

it('gives a plain error where its folder cannot be created or its file cannot be read', async () => {
  const dir = folder();
  writeFileSync(join(dir, 'file'), '');
  await expect(privacySecret(join(dir, 'file', 'deep', 'privacy.key'))).rejects.toMatchObject({
    code: expect.stringMatching(/^secret_un(?:readable|writable)$/),
    hint: expect.stringContaining('privacy.secret'),
  });
  await expect(privacySecret(dir)).rejects.toMatchObject({ code: 'secret_unreadable' });
  await expect(privacySecret(join(dir, 'file'))).rejects.toThrow('is empty');
});
