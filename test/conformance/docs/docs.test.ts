// Links and anchors in docs/ resolve, and the repository files that the pages name exist.
// Generated pages match their declarations.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REFERENCE_PAGES } from '../../docs/reference-pages.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const pages = [...globSync('docs/**/*.md', { cwd: ROOT }), 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].sort();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** Written some time ago: these pages name the files of that time. */
const PAST = [
  'CHANGELOG.md',
  ...['reliability', 'performance', 'mutation'].map((name) => `docs/explanation/${name}.md`),
];

/** The anchors that code hosts generate from headings. */
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
  it('exists, and each of the four kinds has some', () => {
    for (const kind of ['tutorial', 'how-to', 'reference', 'explanation']) {
      expect(pages.filter((page) => page.startsWith(`docs/${kind}/`))).not.toEqual([]);
    }
  });

  it.each(pages)('%s has no broken link', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it.each(pages.filter((page) => !PAST.includes(page)))('%s names files that exist', (page) => {
    const named = [...read(page).matchAll(/`((?:src|test|jobs|deploy|config)\/[\w./-]+)`/g)];
    const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });
});

describe('a generated page', () => {
  it.each(REFERENCE_PAGES)('$file is up to date', async ({ file, text }) => {
    expect(readFileSync(file, 'utf8'), 'stale: run `npm run docs`').toBe(await text());
  });
});
