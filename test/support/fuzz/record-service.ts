// A service that answers with exactly the records it was given, each once, as raw JSON: for records that no sandbox
// would make up. Every other path answers an empty list; a picture is one that says its own name.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jsonText } from './fuzzed-records.ts';

export interface RecordService {
  url: string;
  /** The next answer of that path is these records. */
  give(path: string, records: readonly unknown[]): void;
  /** The answer of every request to that path, where nothing was given. */
  always(path: string, answer: (query: URLSearchParams) => readonly unknown[]): void;
  /** The requests so far: path with query, and the authorization header. */
  asked(): readonly { path: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** The smallest picture there is, and the name after it, so that each has bytes of its own. */
const pictureOf = (name: string): Buffer =>
  Buffer.concat([Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), Buffer.from(name)]);

export async function startRecordService(): Promise<RecordService> {
  const given = new Map<string, (readonly unknown[])[]>();
  const standing = new Map<string, (query: URLSearchParams) => readonly unknown[]>();
  const asked: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
    request.resume();
    if (pathname.startsWith('/auth/')) return response.end('{"access_token":"a-token-of-no-shape"}');
    if (pathname === '/checklist/picture/') return response.end(pictureOf(searchParams.get('picture') ?? ''));
    const records = given.get(pathname)?.shift() ?? standing.get(pathname)?.(searchParams);
    if (records === undefined && /\d$/.test(pathname)) return response.writeHead(404).end('{}');
    return response.end(jsonText({ data: records ?? [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    give: (path, records) => given.set(path, [...(given.get(path) ?? []), records]),
    always: (path, answer) => void standing.set(path, answer),
    asked: () => asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
