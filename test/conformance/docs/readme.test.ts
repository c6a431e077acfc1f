// The README is what a user tries first: its commands and its files must exist.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configDeclarations, loadJobs } from '../../../src/app/app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { makeWorkplace } from '../../support/process/workplace.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const readme = readFileSync(resolve(ROOT, 'README.md'), 'utf8');

describe('the README', () => {
  it('names the two commands of the set-up', () => {
    expect(readme).toContain('npm ci && npm start');
    expect(readme).toContain('npm ci && npm test');
  });

  it('links only to files that exist', () => {
    const targets = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => target ?? '');
    expect(targets.filter((target) => !existsSync(resolve(ROOT, target)))).toEqual([]);
  });

  it('shows commands that run as printed', async () => {
    const place = makeWorkplace('');
    const shown = [...readme.matchAll(/^npx roadbook (.+)$/gm)].map(([, words]) => words ?? '');
    expect(shown.length).toBeGreaterThanOrEqual(3);
    for (const words of shown) {
      const { code, stderr } = await place.run(words.split(' '));
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
    }
    place.remove();
  });

  it('fits on one screen and a half', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(90);
  });
});

describe('the configuration that ships', () => {
  it('is valid for the container, with its environment', async () => {
    const { config } = await loadConfig(
      resolve(ROOT, 'deploy/config/roadbook.yaml'),
      configDeclarations(await loadJobs()),
      { ROADBOOK_WAREHOUSE_URL: 'postgres://warehouse/roadbook', ROADBOOK_STATUS_TOKEN: 'word' },
    );
    expect(config).toMatchObject({ warehouse: { engine: 'postgres' }, status: { host: '0.0.0.0' } });
  });

  it('is valid without any environment variable, with the jobs that exist', async () => {
    const { config } = await loadConfig(
      resolve(ROOT, 'config/roadbook.yaml'),
      configDeclarations(await loadJobs()),
      {},
    );
    expect(config.service).toMatchObject({ baseUrl: 'sandbox', username: 'demo', concurrency: 4 });
  });
});
