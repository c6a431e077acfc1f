// The page keeps its own rules: text only as text nodes, no inline code, nothing from another host.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../../src/status/server/page-bundle.ts';

const FOLDER = resolve(import.meta.dirname, '../../../src/status/page');
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

  it('becomes one script that has every module once and no import left', () => {
    const [script = '', portuguese = ''] = ['app.js', 'texts/portuguese.js'].map((name) =>
      bundle(new URL(`file://${FOLDER}/${name}`)),
    );
    for (const each of [script, portuguese]) {
      expect(each).toMatch(/^export default module\d+;$/m);
      expect(() => new Script(each.replace(/^export default .*$/m, ''))).not.toThrow();
    }
    const modules = [script, portuguese].flatMap((each) => each.match(/^const module\d+ = /gm) ?? []);
    // With preact, its hooks and htm.
    expect(modules).toHaveLength(of('.js').length + 3);
  });
});
