// What may be ordered over HTTP. Each order is in the audit table before it is carried out; none sends anything by
// itself, the runs do.
import { randomUUID } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { isoInstant } from '../../core/clock.ts';
import { asRoadbookError } from '../../core/errors.ts';
import { suggest } from '../../core/near-word.ts';
import { retryQuarantined } from '../../sync/pull/quarantine-retry.ts';
import { cancelEntry, retryEntry } from '../../sync/push/outbox-orders.ts';
import { audited } from '../../warehouse/audit.ts';
import type { OutboxEntry } from '../../warehouse/outbox-entry.ts';
import { entriesNamed } from '../../warehouse/outbox-lookup.ts';
import { quarantined } from '../../warehouse/quarantine.ts';
import { ApiError } from '../api-error.ts';
import type { JobOrders, StatusServerParts } from '../server-parts.ts';

const entryOrder = z.strictObject({
  kind: z.string(),
  code: z.string(),
  /** Also one that may be at the service already. */
  force: z.boolean().default(false),
});
const quarantineOrder = z.strictObject({ id: z.string().regex(/^[0-9a-f]{32}$/) });

interface Order {
  action: string;
  subject: string;
  carryOut(): Promise<string>;
}

/** Routes under /api; `onDone` is told after each. */
export function actions(parts: StatusServerParts, onDone: () => void): Hono {
  const { engine, clock, redactor, orders } = parts;

  async function obey(c: Context, { action, subject, carryOut }: Order): Promise<Response> {
    const order = {
      at: isoInstant(clock.now()),
      action,
      subject,
      by: getConnInfo(c).remote.address ?? 'unknown',
    };
    const words = await audited(
      engine,
      order,
      async () => {
        const done = await carryOut();
        return { words: done, result: done };
      },
      (thrown) => redactor.redact(asRoadbookError(thrown).message),
    );
    parts.log.info({ action, subject, by: order.by }, 'ordered');
    onDone();
    return c.json({ action, subject, words }, 202);
  }

  const app = new Hono();
  for (const action of ['run', 'pause', 'resume'] as const satisfies (keyof JobOrders)[]) {
    app.post(`/jobs/:job/${action}`, (c) => {
      const job = knownJob(c.req.param('job'), parts);
      return obey(c, { action, subject: job, carryOut: () => orders[action](job) });
    });
  }
  app.post('/outbox/retry', async (c) => {
    const entry = await namedEntry(await body(c, entryOrder), parts);
    const carryOut = async () => (await retryEntry(engine, entry, isoInstant(clock.now()))).words;
    return obey(c, { action: 'retry', subject: subjectOf(entry), carryOut });
  });
  app.post('/outbox/cancel', async (c) => {
    const order = await body(c, entryOrder);
    const entry = await namedEntry(order, parts);
    const carryOut = async () => {
      await cancelEntry(engine, entry, isoInstant(clock.now()), order.force);
      return 'It is cancelled; the next run tells the ERP.';
    };
    return obey(c, { action: 'cancel', subject: subjectOf(entry), carryOut });
  });
  app.post('/quarantine/retry', async (c) => {
    const { id } = await body(c, quarantineOrder);
    const rows = await quarantined(engine, { id }, 1);
    if (rows.length === 0) throw notFound(`Nothing in quarantine has the id ${id}`);
    const carryOut = async () => {
      const [result] = await retryQuarantined(rows, parts.jobs, randomUUID(), parts);
      return result?.loaded === true ? 'It fits now and was loaded.' : `It does not fit: ${result?.reason}`;
    };
    return obey(c, { action: 'retry quarantine', subject: id, carryOut });
  });
  return app;
}

const subjectOf = ({ kind, external_code }: OutboxEntry): string => `${kind}/${external_code}`;

function knownJob(name: string, { jobs }: StatusServerParts): string {
  const names = jobs.map((job) => job.name);
  if (names.includes(name)) return name;
  throw new ApiError(
    404,
    'no_such_job',
    'There is no job of that name',
    suggest(name, names) ?? 'See /api/status.',
  );
}

async function namedEntry({ kind, code }: z.output<typeof entryOrder>, { engine }: StatusServerParts) {
  const [entry] = await engine.read((sql) => entriesNamed(sql, code, kind));
  if (entry === undefined) throw notFound('The outbox has no such entry');
  return entry;
}

const LARGEST_BODY = 4_096;

async function body<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const length = c.req.header('content-length');
  if (length === undefined || Number(length) > LARGEST_BODY) throw tooLarge();
  const parsed = schema.safeParse(await c.req.json().catch(() => undefined));
  if (parsed.success) return parsed.data;
  const hint = 'Send JSON, as in {"kind": "route_plans", "code": "…"} or {"id": "…"}.';
  throw new ApiError(400, 'bad_request', 'The body does not say what to act on', hint);
}

const notFound = (message: string): ApiError =>
  new ApiError(404, 'not_found', message, 'Look at the list again; it may have changed.');

const tooLarge = (): ApiError =>
  new ApiError(
    413,
    'too_large',
    'The body is larger than 4 KiB or tells no length',
    'Send only what to act on.',
  );
