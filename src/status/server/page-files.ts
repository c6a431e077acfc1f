// The files of the page, read once: plain HTML, CSS and ES modules, and the chart library. Only the files in this map
// are served, so no request path can reach another file. The browser revalidates each time and gets a 304 if nothing
// changed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Context } from 'hono';

interface PageFile {
  body: Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const folder = new URL('../page/', import.meta.url);

const readPageFile = (url: URL): PageFile => {
  const body = new Uint8Array(readFileSync(url));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"`;
  return { body, etag, type: TYPES[extname(url.pathname)] ?? 'application/octet-stream' };
};

function readAll(): Map<string, PageFile> {
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES);
  const chart = (name: string): PageFile => readPageFile(new URL(import.meta.resolve(`uplot/dist/${name}`)));
  return new Map([
    ...own.map((name): [string, PageFile] => [`/page/${name}`, readPageFile(new URL(name, folder))]),
    ['/page/uplot.js', chart('uPlot.esm.js')],
    ['/page/uplot.css', chart('uPlot.min.css')],
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
