// The files of the page, read once: its HTML, one script, one style sheet, the icons, the Portuguese texts for their readers
// and the chart library for the view that needs it. Only the files in this map are served, so no request path can reach
// another file. The browser revalidates each time and gets a 304 if nothing changed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Context } from 'hono';
import { getMimeType } from 'hono/utils/mime';
import { bundle } from './page-bundle.ts';

interface PageFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
}

const folder = new URL('../page/', import.meta.url);

const STYLES = ['colours', 'base', 'parts', 'views', 'narrow'];

const textOf = (url: URL): string => readFileSync(url, 'utf8');
const ofPackage = (name: string): string => textOf(new URL(import.meta.resolve(name)));

function pageFile(name: string, text: string): [string, PageFile] {
  const body = new TextEncoder().encode(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"`;
  return [`/page/${name}`, { body, etag, type: getMimeType(name) ?? '' }];
}

function readAll(): Map<string, PageFile> {
  const asTheyAre = readdirSync(folder).filter((name) => ['.html', '.svg'].includes(extname(name)));
  const styles = STYLES.map((name) => textOf(new URL(`style/${name}.css`, folder)));
  return new Map([
    ...asTheyAre.map((name) => pageFile(name, textOf(new URL(name, folder)))),
    pageFile('page.js', bundle(new URL('app.js', folder))),
    pageFile('portuguese.js', bundle(new URL('texts/portuguese.js', folder))),
    pageFile('page.css', [...styles, ofPackage('uplot/dist/uPlot.min.css')].join('')),
    pageFile('uplot.js', `${ofPackage('uplot/dist/uPlot.iife.min.js')}\nexport default uPlot;\n`),
  ]);
}

/** The response with a file of the page; undefined if the path is not one of them. */
export function pageFiles(): (c: Context) => Response | undefined {
  const files = readAll();
  return (c) => {
    const file = files.get(c.req.path === '/' ? '/page/index.html' : c.req.path);
    if (file === undefined) return undefined;
    const headers = { 'content-type': file.type, etag: file.etag, 'cache-control': 'no-cache' };
    // A compressed answer has the weak form of the tag.
    if (c.req.header('if-none-match')?.replace(/^W\//, '') === file.etag) return c.body(null, 304, headers);
    return c.body(file.body, 200, headers);
  };
}
