// Every call in docs/reference/service.md, which follows the service's description, is in the client, in the sandbox and in
// a test.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Endpoint } from '../../../src/fleet/endpoint.ts';
import { CALL_NAMES } from '../../../src/sandbox/http/call-names.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const ROW = /^\| ([\w-]+) \| `([A-Z]+) (\/[^`]+)` \|$/gm;
const calls = [...textOf('docs/reference/service.md').matchAll(ROW)].map(([, name = '', method = '', path = '']) => ({
  name,
  method,
  path,
}));
const names = calls.map(({ name }) => name);

/** The files of test/scenario/fleet that show single calls of the client. */
const shown = readdirSync(join(ROOT, 'test/scenario/fleet'))
  .filter((file) => /^fleet-.*\.test\.ts$/.test(file))
  .map((file) => textOf(`test/scenario/fleet/${file}`));

describe('the calls of the service', () => {
  it('are those that the client declares, one in each file', () => {
    const files = readdirSync(join(ROOT, 'src/fleet/endpoints'));
    expect(files.toSorted()).toEqual(names.map((name) => `${name}.ts`).toSorted());
  });

  it.each(calls)('$name: the client declares $method $path', async ({ name, method, path }) => {
    const exported: unknown[] = Object.values(await import(join(ROOT, `src/fleet/endpoints/${name}.ts`)));
    const endpoint = exported.find((value) => (value as { name?: unknown }).name === name) as
      | Endpoint<unknown, unknown>
      | undefined;
    const kind = method === 'GET' || path.startsWith('/auth/') ? 'read' : 'write';
    expect(endpoint).toMatchObject({ method, path, kind });
  });

  it('are those that the sandbox answers', async () => {
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox.close());
    expect(CALL_NAMES.toSorted()).toEqual(names.toSorted());
    for (const { name, method, path } of calls) {
      const query = name === 'route-plan' ? '?route_plan_id=1' : '';
      await fetch(`${sandbox.url}${path.replace('<id>', '1')}${query}`, { method });
    }
    expect(sandbox.ledger().requests).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
  });

  it.each(names)('%s: a test of the client imports the call and uses it', (name) => {
    const importing = new RegExp(`import \\{ (\\w+) \\} from '../../../src/fleet/endpoints/${name}.ts'`);
    const uses = shown.map((text) => {
      const imported = importing.exec(text)?.[1];
      return imported === undefined ? 0 : (text.match(new RegExp(`\\b${imported}\\b`, 'g')) ?? []).length;
    });
    expect(Math.max(...uses)).toBeGreaterThan(1);
  });
});
