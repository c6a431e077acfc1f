// A bare client for the sandbox's own tests: global fetch, no retries, no schema, so that a test sees the wire.
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers come in every shape, and the test says which it expects.
export type Json = any;

export interface Reply {
  status: number;
  text: string;
  json: Json;
  headers: Headers;
}

export interface SandboxClient extends AsyncDisposable {
  sandbox: Sandbox;
  login(): Promise<Json>;
  /** With the bearer token of the last login. */
  get(path: string, query?: Record<string, string>): Promise<Reply>;
  send(method: 'POST' | 'PUT', path: string, body?: unknown): Promise<Reply>;
  /** Any request, unchanged. */
  raw(path: string, init?: RequestInit): Promise<Reply>;
  admin(path: string, body?: unknown): Promise<Json>;
  advance(ms: number): Promise<void>;
}

export const MONDAY_NOON = Date.parse('2026-03-02T15:00:00Z');
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export async function openSandbox(options: SandboxOptions = {}): Promise<SandboxClient> {
  const sandbox = await startSandbox({ stepped: true, startAt: MONDAY_NOON, ...options });
  let token = '';
  const raw = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(sandbox.url + path, { redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, text, json: parsed(text), headers: response.headers };
  };
  const bearer = () => ({ authorization: `Bearer ${token}` });
  const client: SandboxClient = {
    sandbox,
    raw,
    async login() {
      const body = JSON.stringify(sandbox.credentials);
      const reply = await raw('/auth/login/', { method: 'POST', body });
      token = reply.json?.access_token ?? '';
      return reply.json;
    },
    get: (path, query) =>
      raw(query === undefined ? path : `${path}?${new URLSearchParams(query)}`, { headers: bearer() }),
    send: (method, path, body) =>
      raw(path, { method, headers: bearer(), body: body === undefined ? undefined : JSON.stringify(body) }),
    async admin(path, body) {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      return (await raw(`/_sandbox/${path}`, init)).json;
    },
    advance: async (ms) => await sandbox.clock.advance?.(ms),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
  await client.login();
  return client;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A plan of two deliveries that any sandbox of seed 1 accepts. */
export function somePlan(
  external_code: string,
  changes: Record<string, unknown> = {},
  top: Record<string, unknown> = {},
) {
  return {
    optimize: true,
    geocoding: true,
    source: 'G',
    has_time_window: false,
    is_async: false,
    ...top,
    data: {
      date_time_start: '2026-03-03T11:00:00Z',
      date_time_end: '2026-03-03T20:00:00-03:00',
      external_code,
      route_points: [
        { name: 'Depot', type: 'Partida', latitude: -23.55, longitude: -46.63 },
        { name: 'Customer A', type: 'Entrega', address: 'Rua das Flores, 10', external_code: 'A' },
        { name: 'Customer B', type: 'PE', latitude: -23.6, longitude: -46.7, external_code: 'B' },
      ],
      ...changes,
    },
  };
}
