// Every call of the service is in the client, in the sandbox and in a test, and docs/reference/service.md names the place.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/fleet/endpoint.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The calls of the service's description, by the names that client, sandbox and ledger use. */
const CALLS: Readonly<Record<string, string>> = {
  login: 'POST /auth/login/',
  renew: 'POST /auth/token/',
  checklist: 'GET /checklist/<id>',
  checklists: 'GET /checklist/',
  'checklist-answers': 'GET /checklist_form_field_executed/',
  'checklist-picture': 'GET /checklist/picture/',
  'import-route-plan': 'POST /import/route_plan',
  'route-plans': 'GET /import/route_plan',
  'route-plan': 'GET /import/route_plan',
  'route-point': 'GET /import/route_point',
  'points-of-interest': 'GET /point_of_interest/',
  'create-point-of-interest': 'POST /point_of_interest/',
  'change-point-of-interest': 'PUT /point_of_interest/',
  'create-itinerary': 'POST /itinerary/',
  'change-itinerary': 'PUT /itinerary/<id>',
  itinerary: 'GET /itinerary/<id>',
  itineraries: 'GET /itinerary/',
  'create-agent': 'POST /driver/',
  drivers: 'GET /driver/',
  vehicles: 'GET /vehicle/',
  'daily-summary': 'GET /daily_summary/',
  events: 'GET /event/',
};

interface Row {
  call: string;
  client: string;
  sandbox: string;
  test: string;
}

const ROW = /^\| ([\w-]+) \| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$/gm;
const rows = new Map<string, Row>();
for (const match of readFileSync(join(ROOT, 'docs/reference/service.md'), 'utf8').matchAll(ROW)) {
  const [, name, call, client, sandbox, test] = match as unknown as [string, string, string, string, string, string];
  rows.set(name, { call, client, sandbox, test });
}

const textOf = (path: string): string => (existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '');

describe('the calls of the service', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());

  it('docs/reference/service.md lists each of them and no other', () => {
    expect(Object.fromEntries([...rows].map(([name, { call }]) => [name, call]))).toEqual(CALLS);
  });

  it('the client has a declaration for each of them and no other', () => {
    const files = new Set(readdirSync(join(ROOT, 'src/fleet/endpoints')));
    const declared = new Set(Object.keys(CALLS).map((name) => `${name}.ts`));
    expect([...files.difference(declared)], 'files of src/fleet/endpoints without a line in CALLS').toEqual([]);
    expect([...declared.difference(files)], 'lines of CALLS without a file in src/fleet/endpoints').toEqual([]);
  });

  it.each(Object.entries(CALLS))('%s: the client declares %s', async (name, call) => {
    const path = rows.get(name)?.client ?? '';
    expect(path).toBe(`src/fleet/endpoints/${name}.ts`);
    const exported: unknown[] = Object.values(await import(join(ROOT, path)));
    const endpoint = exported.find((value) => (value as { name?: unknown }).name === name) as
      | Endpoint<unknown, unknown>
      | undefined;
    expect(`${endpoint?.method} ${endpoint?.path}`).toBe(call);
    expect(endpoint?.kind).toBe(call.startsWith('GET') || call.includes('/auth/') ? 'read' : 'write');
  });

  it.each(Object.keys(CALLS))('%s: the sandbox answers it, in the named file', async (name) => {
    const file = rows.get(name)?.sandbox ?? '';
    expect(file).toMatch(/^src\/sandbox\/routes\//);
    expect(textOf(file)).toContain(`'${name}'`);
    const fault = { call: name, fault: 'latency', times: 0 };
    const answer = await fetch(`${sandbox.url}/_sandbox/faults`, {
      method: 'POST',
      body: JSON.stringify(fault),
    });
    expect(answer.status, 'the sandbox knows the call').toBe(200);
  });

  it.each(Object.keys(CALLS))('%s: the named test imports the call and uses it', (name) => {
    const text = textOf(rows.get(name)?.test ?? '');
    const imported = new RegExp(`import \\{ (\\w+) \\} from '../../src/fleet/endpoints/${name}.ts'`).exec(text)?.[1];
    expect(imported).toBeDefined();
    const uses = text.match(new RegExp(`\\b${imported}\\b`, 'g')) ?? [];
    expect(uses.length).toBeGreaterThan(1);
  });
});
