// roadbook init as a script calls it: the file it writes is valid, was tried, and reads the sample.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeWorkplace, type Workplace } from '../support/workplace.ts';

let place: Workplace;

beforeEach(() => {
  place = makeWorkplace('');
});
afterEach(() => place.remove());

const init = (...args: string[]) => place.runHere(['init', '--config', 'new/roadbook.yaml', '--yes', ...args]);

it('writes a configuration that was tried, with a mapping from the sample, and reads the sample with it', async () => {
  const sample = 'NUM_VIAGEM;SAIDA;RETORNO;CLIENTE;ENDERECO\nV1;18/11/2026 08:00;18/11/2026 18:00;Loja 1;"Rua Um, 1"\n';
  writeFileSync(join(place.dir, 'sample.csv'), sample);
  const { code, stdout } = await init('--sample', 'sample.csv', '--timezone', 'America/Recife', '--json');
  expect(code).toBe(0);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
  expect(checks.length).toBeGreaterThan(5);
  expect(checks.filter(({ state }) => state === 'fail')).toEqual([]);
  const check = await place.runHere(['erp', 'check', 'sample.csv', '--config', 'new/roadbook.yaml', '--json']);
  expect(JSON.parse(check.stdout)).toMatchObject({ items: 1, rejected: 0, issues: [] });
});

it('keeps an existing file, and writes no password', async () => {
  const address = 'postgres://u:secret@127.0.0.1:9/x';
  expect(await init('--warehouse', address)).toMatchObject({ code: 2, stderr: expect.stringContaining('password') });
  expect((await init('--source', 'none')).code).toBe(0);
  const written = readFileSync(join(place.dir, 'new/roadbook.yaml'), 'utf8');
  expect(await init('--service', 'https://127.0.0.1:9')).toMatchObject({ code: 2 });
  expect(readFileSync(join(place.dir, 'new/roadbook.yaml'), 'utf8')).toBe(written);
});

it('says what could not be reached, and writes the file all the same', async () => {
  const { code, stdout } = await init('--service', 'http://127.0.0.1:9', '--json');
  expect(code).toBe(75);
  expect(stdout).toContain('"state": "fail"');
  expect(readFileSync(join(place.dir, 'new/roadbook.yaml'), 'utf8')).toContain('base_url: http://127.0.0.1:9');
});
