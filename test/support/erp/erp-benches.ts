// An ERP of each kind to test the sources against: a folder and an HTTP server; databases are in erp-sql-benches.ts.
// Each is the durable side; sources are opened and discarded as a process would do.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/core/json.ts';
import { createLog } from '../../../src/core/log.ts';
import { createRedactor } from '../../../src/core/text/redaction.ts';
import { isoInstant } from '../../../src/core/time/clock.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import type {
  ErpBatch,
  ErpSource,
  FileItem,
  ItemOutcome,
  SourceContext,
  StopOutcome,
  TakenFile,
} from '../../../src/erp/source.ts';
import { openSource } from '../../../src/erp/sources.ts';
import { type Cell, workbook } from './erp-workbook.ts';

export interface Notified {
  state: string;
  remoteId: number | null;
  periodStart: string | null;
}

export interface Bench {
  name: string;
  clock: ManualClock;
  open(change?: Partial<SourceContext>): ErpSource;
  /** The ERP wants these rows pushed. */
  offer(rows: readonly Row[]): Promise<void>;
  /** The outcome that the ERP was notified of, by code. */
  notified(): Promise<Record<string, Notified>>;
  /** The latest outcome of each stop and the start of its plan, by plan and point. */
  returned(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** Flat, by canonical path. */
export type Row = Record<string, string | number | boolean | null>;

export const NOW = Date.parse('2026-05-17T12:00:00Z');
export const ZONE = 'America/Sao_Paulo';

export function contextFor(clock: ManualClock, change: Partial<SourceContext> = {}): SourceContext {
  const log = createLog({ level: 'silent', redactor: createRedactor() });
  return { kind: 'route_plans', zone: ZONE, reuseCodes: false, clock, log, random: () => 0, ...change };
}

/** The files that were taken and are not finished, by name, as an engine stores them. */
export type Taken = Map<string, TakenFile>;

/** With the last part of a file the engine stores the file. */
export function remember(taken: Taken, { name, file }: ErpBatch, clock: ManualClock): void {
  if (file !== undefined) taken.set(name, { name, ...file, readAt: isoInstant(clock.now()) });
}

/** Finishes the files whose items all have an outcome, as an engine does; `step` may interrupt it. */
export async function finishTaken(
  source: ErpSource,
  taken: Taken,
  outcomeFor: (item: FileItem) => ItemOutcome | undefined,
  step: () => void = () => {},
): Promise<void> {
  for (const file of taken.values()) {
    const content = await source.files?.contentOf(file);
    if (content !== undefined) {
      const outcomes = content.items.flatMap((item) => outcomeFor(item) ?? []);
      if (outcomes.length < content.items.length) continue;
      step();
      await source.files?.finish(file, content, outcomes);
      step();
    }
    taken.delete(file.name);
  }
}

/** Everything that is offered now; moves the clock whenever the source waits. */
export async function drain(
  source: ErpSource,
  clock: ManualClock,
  each: (batch: ErpBatch) => Promise<void> | void = () => {},
  taken: Taken = new Map(),
): Promise<ErpBatch[]> {
  const batches: ErpBatch[] = [];
  let isDone = false;
  const reading = (async () => {
    for await (const batch of source.read(undefined, [...taken.values()])) {
      batches.push(batch);
      await each(batch);
    }
  })().finally(() => {
    isDone = true;
  });
  const moving = (async () => {
    while (!isDone) {
      if (clock.sleepers() > 0) await clock.advance(1_000);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await Promise.all([reading, moving]);
  return batches;
}

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'roadbook-erp-'));

export const columnsOf = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

export const csvText = (rows: readonly Row[], delimiter = ','): string => {
  const columns = columnsOf(rows);
  const cell = (value: unknown) => (value === null || value === undefined ? '' : `"${String(value)}"`);
  return [columns, ...rows.map((row) => columns.map((name) => cell(row[name])))]
    .map((cells) => cells.join(delimiter))
    .join('\r\n');
};

const xlsxBytes = (rows: readonly Row[]): Buffer => {
  const columns = columnsOf(rows);
  return workbook([columns, ...rows.map((row) => columns.map((name): Cell => row[name] ?? null))]);
};

const WRITERS = {
  json: (rows: readonly Row[]) => JSON.stringify(rows),
  csv: csvText,
  xlsx: xlsxBytes,
};

export function filesBench(format: keyof typeof WRITERS): Bench {
  const folder = temporaryFolder();
  const clock = createManualClock(NOW);
  let drops = 0;
  const jsonIn = (place: string, ending: string): JsonObject[] => {
    try {
      return readdirSync(join(folder, place))
        .filter((name) => name.endsWith(ending) && !name.startsWith('.'))
        .map((name) => JSON.parse(readFileSync(join(folder, place, name), 'utf8')) as JsonObject);
    } catch {
      return [];
    }
  };
  return {
    name: `files, ${format}`,
    clock,
    open: (change) =>
      openSource(
        { source: 'files', folder, settleMs: 2_000, keepFilesMs: Number.POSITIVE_INFINITY, mapping: {} },
        contextFor(clock, change),
      ),
    async offer(rows) {
      drops += 1;
      writeFileSync(join(folder, `drop-${drops}.${format}`), WRITERS[format](rows));
    },
    async notified() {
      const results = ['done', 'failed'].flatMap((place) => jsonIn(place, '.result.json'));
      const entries = results.flatMap(({ results: own }) => own as JsonObject[]);
      return Object.fromEntries(entries.map((one) => [one.external_code, notifiedOf(one)]));
    },
    async returned() {
      const plans = jsonIn('returns', '.json');
      return Object.fromEntries<string>(
        plans.flatMap(({ plan_external_code: plan, plan_period_start: start, stops }) =>
          (stops as JsonObject[]).map((stop) => [`${plan} ${stop.point_external_code}`, `${stop.status} ${start}`]),
        ),
      );
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const notifiedOf = (one: JsonObject): Notified => ({
  state: one.state as string,
  remoteId: one.remote_id as number | null,
  periodStart: one.period_start as string | null,
});

export async function httpBench(): Promise<Bench> {
  const clock = createManualClock(NOW);
  const rows: Row[] = [];
  const notified: Record<string, Notified> = {};
  const stops: Record<string, string> = {};
  const server = await serve(async (request) => {
    if (request.method === 'GET') {
      return { data: { orders: rows.filter((row) => !notified[String(row['plan.external_code'])]) } };
    }
    const body = await bodyOf(request);
    for (const one of (body.outcomes ?? []) as JsonObject[]) notified[String(one.external_code)] = notifiedOf(one);
    for (const one of (body.stops ?? []) as JsonObject[]) {
      stops[`${one.plan_external_code} ${one.point_external_code}`] = `${one.status} ${one.plan_period_start}`;
    }
    return {};
  });
  return {
    name: 'http',
    clock,
    open: (change) =>
      openSource(
        {
          source: 'http',
          url: `${server.url}/orders`,
          headers: { 'x-key': 'k' },
          records: 'data.orders',
          acknowledgeUrl: `${server.url}/acknowledge`,
          returnUrl: `${server.url}/return`,
          mapping: {},
        },
        contextFor(clock, change),
      ),
    async offer(more) {
      rows.push(...more);
    },
    notified: async () => notified,
    returned: async () => stops,
    close: server.close,
  };
}

export interface Served {
  url: string;
  close(): Promise<void>;
}

/** A real server on a free port; `status` and `headers` of the answer are its own keys. */
export async function serve(answer: (request: IncomingMessage) => Promise<object>): Promise<Served> {
  const server: Server = createServer(async (request, response) => {
    const given = (await answer(request)) as {
      status?: number;
      headers?: Record<string, string>;
      text?: string | Buffer;
    };
    response.writeHead(given.status ?? 200, given.headers ?? {});
    response.end(given.text ?? JSON.stringify(given));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
}

export const PLAN_START = '2026-05-18T11:00:00.000Z';

export const stopOutcome = (
  plan: string,
  point: string,
  status: string,
  planPeriodStart: string | null = PLAN_START,
): StopOutcome => ({
  planExternalCode: plan,
  planPeriodStart,
  pointExternalCode: point,
  status,
  executedAt: '2026-05-18T12:00:00.000Z',
  reason: null,
  pictures: ['abc.jpg'],
});
