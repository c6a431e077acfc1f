// The actions over HTTP. Each action is stored in the audit table before it is carried out. No action sends anything to
// the service itself; the runs do.
import { randomUUID } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { asRoadbookError } from '../../core/errors.ts';
import { suggest } from '../../core/text/near-word.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { knownDay } from '../../core/time/known-day.ts';
import type { NamedJob } from '../../sync/job.ts';
import { retryQuarantined } from '../../sync/pull/records/quarantine-retry.ts';
import { type Action, act, actOnMany, assertAbsent, cancel, previewMany, retry } from '../../sync/push/actions.ts';
import { audited } from '../../warehouse/control/audit.ts';
import { quarantined } from '../../warehouse/control/quarantine.ts';
import { SHOWN_STATES } from '../../warehouse/outbox/entry.ts';
import { countEntries, type EntryFilter } from '../../warehouse/outbox/lists.ts';
import { ApiError } from '../server/api-error.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { dayOf } from './page-query.ts';
import { namedEntry, subjectOf } from './plans.ts';

const named = { kind: z.string(), code: z.string(), use: z.number().int().min(1).default(1) };
const entryRequest = z.strictObject({
  ...named,
  /** Cancel: even if the entry may be at the service. */
  force: z.boolean().default(false),
  /** Retry: the person has checked that the service does not have the item. */
  not_there: z.boolean().default(false),
});
const entryName = z.strictObject({
  ...named,
  /** As the preview showed it; the entry is skipped if it changed since. */
  updated_at: z.string().optional(),
});
/** Many entries at once, by a search or by name. Without `sure` the answer says what would happen to each. */
const manyRequest = z
  .strictObject({
    states: z.array(z.enum(SHOWN_STATES)).min(1).optional(),
    kind: z.string().optional(),
    code: z.string().optional(),
    day: knownDay.optional(),
    entries: z.array(entryName).min(1).max(500).optional(),
    sure: z.boolean().default(false),
    force: z.boolean().default(false),
  })
  // An empty search would mean every entry.
  .refine(({ states, entries }) => states !== undefined || entries !== undefined);
const quarantineRequest = z.strictObject({ id: z.string().regex(/^[0-9a-f]{32}$/) });

/** Routes under /api. `onDone` is called after each action. */
export function actions(dependencies: StatusServerDependencies, onDone: () => void): Hono {
  const { engine, clock, redactor, jobActions, running } = dependencies;

  /** `carryOut` returns the result as a sentence. */
  async function carryOutAudited(c: Context, action: string, subject: string, carryOut: () => Promise<string>) {
    const by = getConnInfo(c).remote.address ?? 'unknown';
    const request = { at: isoInstant(clock.now()), action, subject, by };
    const words = await audited(
      engine,
      request,
      () => carryOut().then((words) => ({ words, result: words })),
      (thrown) => redactor.redact(asRoadbookError(thrown).message),
    );
    dependencies.log.info({ action, subject, by }, 'action carried out');
    onDone();
    return c.json({ action, subject, words }, 202);
  }

  const app = new Hono();
  for (const action of ['run', 'pause', 'resume'] as const) {
    app.post(`/jobs/:job/${action}`, (c) => {
      const job = knownJob(c.req.param('job'), dependencies).name;
      return carryOutAudited(c, action, job, () => jobActions[action](job));
    });
  }
  async function onEntry(c: Context, action: string, of: (request: z.output<typeof entryRequest>) => Action) {
    const request = await body(c, entryRequest);
    const entry = await namedEntry(engine, request);
    return carryOutAudited(c, action, subjectOf(entry), () => act(engine, entry, of(request), isoInstant(clock.now())));
  }
  async function onMany(c: Context, name: string, doneWord: string, of: (request: ManyRequest) => Action) {
    const request = await body(c, manyRequest);
    const filter = filterOf(request, running().config.timezone);
    const action = of(request);
    if (!request.sure) {
      const entries = await engine.read((sql) => countEntries(sql, filter));
      const preview = await previewMany(engine, filter, action, isoInstant(clock.now()));
      return c.json({ entries, cut: entries > preview.length, preview });
    }
    return carryOutAudited(c, `${name} many`, redactor.redact(subjectOfMany(request)), async () => {
      const { done, skipped } = await actOnMany(engine, filter, action, isoInstant(clock.now()));
      return `${done} ${doneWord}, ${skipped} skipped because they changed or their state does not allow it.`;
    });
  }
  app.post('/outbox/retry', (c) => onEntry(c, 'retry', (request) => (request.not_there ? assertAbsent : retry)));
  app.post('/outbox/cancel', (c) => onEntry(c, 'cancel', ({ force }) => cancel({ isForced: force })));
  app.post('/outbox/retry-many', (c) => onMany(c, 'retry', 'retried', () => retry));
  app.post('/outbox/assert-absent-many', (c) =>
    onMany(c, 'assert absent', 'marked as not at the service', () => assertAbsent),
  );
  app.post('/outbox/cancel-many', (c) => onMany(c, 'cancel', 'cancelled', ({ force }) => cancel({ isForced: force })));
  app.post('/quarantine/retry', async (c) => {
    const { id } = await body(c, quarantineRequest);
    const rows = await quarantined(engine, { id }, 1);
    if (rows.length === 0) {
      throw new ApiError(404, 'not_found', `No record in quarantine has the id ${id}`, 'Reload the list.');
    }
    return carryOutAudited(c, 'retry quarantine', id, async () => {
      const [result] = await retryQuarantined(rows, dependencies.jobs, randomUUID(), dependencies);
      return result?.loaded === true
        ? 'The record is valid now and was loaded.'
        : `The record is still invalid: ${result?.reason}`;
    });
  });
  return app;
}

type ManyRequest = z.output<typeof manyRequest>;

const filterOf = ({ states, kind, code, day, entries }: ManyRequest, timezone: string): EntryFilter => ({
  ...{ states, kind, code },
  ...(day !== undefined && { starting: dayOf(day, timezone) }),
  keys: entries?.map(({ kind, code, use, updated_at }) => ({ kind, external_code: code, code_use: use, updated_at })),
});

const subjectOfMany = ({ states, kind, code, day, entries }: ManyRequest): string =>
  [
    entries === undefined ? '' : `${entries.length} chosen `,
    `${states === undefined ? '' : `${states.join(', ')} `}entries`,
    kind === undefined ? '' : ` of ${kind}`,
    day === undefined ? '' : ` starting on ${day}`,
    code === undefined ? '' : ` with ${JSON.stringify(code)} in their code`,
  ].join('');

export function knownJob(name: string, { jobs }: Pick<StatusServerDependencies, 'jobs'>): NamedJob {
  const job = jobs.find((each) => each.name === name);
  if (job !== undefined) return job;
  const names = jobs.map((each) => each.name);
  throw new ApiError(404, 'no_such_job', 'No job has this name', suggest(name, names) ?? 'See /api/status.');
}

/** Enough for 500 names of entries. */
const LARGEST_BODY = 131_072;
const TOO_LARGE = 'The body is larger than 128 KiB or has no Content-Length';

async function body<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const length = c.req.header('content-length');
  if (length === undefined || Number(length) > LARGEST_BODY)
    throw new ApiError(413, 'too_large', TOO_LARGE, 'Send only the fields of the action.');
  const parsed = schema.safeParse(await c.req.json().catch(() => undefined));
  if (parsed.success) return parsed.data;
  const hint = 'Send JSON, as in {"kind": "route_plans", "code": "…"}, {"states": ["rejected"]} or {"id": "…"}.';
  throw new ApiError(400, 'bad_request', 'The body does not match the action', hint);
}
