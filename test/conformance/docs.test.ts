// The pages of docs/ lead where they say: links and anchors exist, and so do the files of the repository that they name.
// The pages that are made of declarations are the ones that the declarations make.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REFERENCE_PAGES } from '../docs/reference-pages.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const pages = [...globSync('docs/**/*.md', { cwd: ROOT }), 'README.md', 'CONTRIBUTING.md'].sort();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** Measured some time ago: they name the files of then. */
const PAST = ['reliability.md', 'performance.md', 'mutation.md'].map((name) => `docs/explanation/${name}`);

/** Headings as code hosts make anchors of them. */
const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

function brokenLinks(page: string): string[] {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
}

describe('every page', () => {
  it('is there: the four kinds have some', () => {
    for (const kind of ['tutorial', 'how-to', 'reference', 'explanation']) {
      expect(pages.filter((page) => page.startsWith(`docs/${kind}/`))).not.toEqual([]);
    }
  });

  it.each(pages)('%s has links that lead somewhere', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it.each(pages.filter((page) => !PAST.includes(page)))('%s names files that exist', (page) => {
    const named = [...read(page).matchAll(/`((?:src|test|jobs|deploy|config)\/[\w./-]+)`/g)];
    const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });
});

describe('a page that is made of declarations', () => {
  it.each(REFERENCE_PAGES)('$file is fresh', async ({ file, text }) => {
    expect(readFileSync(file, 'utf8'), 'stale: run `npm run docs`').toBe(await text());
  });
});
