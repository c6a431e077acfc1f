// The page keeps its own rules: text only as text nodes, no inline code, nothing from another host.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ATTENTION_REASONS } from '../../src/sync/push/attention.ts';

const FOLDER = resolve(import.meta.dirname, '../../src/status/page');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => extname(name) !== '')
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));

const of = (extension: string) => files.filter(({ name }) => extname(name) === extension);

/** Ways to turn text into markup or code. */
const FROM_TEXT =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|javascript:/;

describe('the page', () => {
  it('turns no text into markup or code', () => {
    expect(of('.js').length).toBeGreaterThan(10);
    expect(of('.js').filter(({ text }) => FROM_TEXT.test(text))).toEqual([]);
  });

  it('has no inline script, style or handler', () => {
    for (const { text } of of('.html')) {
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/);
      expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
    }
  });

  it('names no other host', () => {
    const links = files.flatMap(({ name, text }) =>
      [...text.matchAll(/\bhttps?:\/\/[^\s'"`)]+|url\([^)]+\)|@import/g)].map(([link]) => `${name}: ${link}`),
    );
    expect(links.filter((link) => !link.endsWith('http://www.w3.org/2000/svg'))).toEqual([]);
  });

  it('imports only files that are served', () => {
    const missing = of('.js').flatMap(({ name, text }) =>
      [...text.matchAll(/from '(\.[^']+)'/g)]
        .map(([, target = '']) => join(name, '..', target))
        .filter((target) => target !== 'uplot.js' && !files.some((file) => file.name === target)),
    );
    expect(missing).toEqual([]);
  });

  it('has a description for every reason for which an entry needs a person', async () => {
    const { ATTENTION } = await import(`${FOLDER}/words.js`);
    expect(Object.keys(ATTENTION).toSorted()).toEqual([...ATTENTION_REASONS].toSorted());
  });
});
