// A client and the sandbox it talks to over real HTTP, closed when the test ends.
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { createLog } from '../../../src/core/log.ts';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import type { RetryPolicy } from '../../../src/core/retry/retry.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import type { ManualClock } from '../../../src/core/time/manual-clock.ts';
import { createFleet, type Fleet, type FleetSettings } from '../../../src/fleet/client.ts';
import type { ListEndpoint, RecordFields } from '../../../src/fleet/endpoint.ts';
import { checkRecord } from '../../../src/fleet/record-check.ts';
import type { SessionMemory } from '../../../src/fleet/session/session-memory.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { wireSchema } from '../../../src/sync/pull/records/wire-schema.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import type { Table } from '../../../src/warehouse/schema/table.ts';
import { createSessionMemory } from './session-memory.ts';

/** A noon in Brazil of an ordinary week. */
export const NOON = Date.parse('2025-03-12T15:00:00Z');
export const QUICK_RETRY: RetryPolicy = { attempts: 3, baseMs: 1, capMs: 1, deadlineMs: 600_000 };

export interface FleetOptions {
  settings?: Partial<FleetSettings>;
  clock?: Clock;
  concurrency?: number;
  perMinute?: number;
  retry?: RetryPolicy;
  memory?: SessionMemory;
}

export function openFleet(url: string, sandbox: Sandbox | undefined, options: FleetOptions = {}) {
  const { clock = systemClock, concurrency = 4, perMinute = 1_000_000, memory = createSessionMemory() } = options;
  const redactor = createRedactor();
  const lines: string[] = [];
  const credentials = sandbox?.credentials;
  const fleet = createFleet(
    {
      baseUrl: url,
      username: credentials?.username ?? 'demo',
      parentUsername: credentials?.parent_username ?? '00000000000000',
      password: credentials?.password ?? 'demo-password',
      realm: credentials?.realm ?? 'demo',
      renewal: 'auto',
      collections: 'json',
      timeoutMs: 10_000,
      maxBodyMb: 8,
      ...options.settings,
    },
    {
      clock,
      limiter: createLimiter({ concurrency, perMinute, clock }),
      log: createLog({ level: 'trace', redactor, write: (line) => lines.push(line) }),
      redactor,
      memory,
      retry: options.retry ?? QUICK_RETRY,
    },
  );
  onTestFinished(() => fleet.close());
  return { fleet, lines, memory, redactor };
}

export async function openBoth(sandboxOptions: SandboxOptions = {}, options: FleetOptions = {}) {
  const sandbox = await startSandbox({ startAt: NOON, churn: false, ...sandboxOptions });
  onTestFinished(() => sandbox.close());
  const admin = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${sandbox.url}/_sandbox${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  };
  return { sandbox, admin, ...openFleet(sandbox.url, sandbox, options) };
}

/** The table of a call's records: the one with its name, or the one that is filled by the call or its listing. */
function tableOf({ name, path }: Pick<ListEndpoint<unknown>, 'name' | 'path'>): Table {
  const source = `GET ${path.replace('<id>', '')}`;
  const found =
    tables.find((table) => table.name === name.replaceAll('-', '_')) ?? tables.find((table) => table.source === source);
  if (found === undefined) throw new Error(`no table for the records of ${name}`);
  return found;
}

/** The records of a call, normalised. Each one must fit its schema. */
export async function fitting<Q>(fleet: Fleet, endpoint: ListEndpoint<Q>, request: Q) {
  const raw = await fleet.call(endpoint, request);
  return raw.map((record) => normalised(record, tableOf(endpoint), endpoint));
}

/** Includes the nested lists whose elements are records of their own tables. */
function normalised(raw: unknown, table: Table, endpoint?: RecordFields): JsonObject {
  const check = checkRecord(wireSchema(table, endpoint), raw);
  if (!check.ok) throw new Error(`${table.name}: ${check.reason}`);
  const { record } = check;
  for (const part of tables.filter(({ parent }) => parent?.table === table.name)) {
    const name = part.list?.split('.').at(-1) ?? '';
    const list = record[name];
    if (Array.isArray(list)) record[name] = list.map((element) => normalised(element, part));
  }
  return record;
}

/** Moves the clock whenever something waits for it, until `promise` is fulfilled or rejected. */
export async function drive<T>(clock: ManualClock, promise: Promise<T>, stepMs = 50): Promise<T> {
  let isSettled = false;
  const done = promise.finally(() => {
    isSettled = true;
  });
  done.catch(() => undefined);
  while (!isSettled) {
    await new Promise((resolve) => setImmediate(resolve));
    if (clock.sleepers() > 0) await clock.advance(stepMs);
  }
  return done;
}

export const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('It succeeded');
    },
    (error: unknown) => error as Error & { code: string; hint?: string },
  );
