// The push board: outbox entries by page, entries that need a person, files that could not be read, the history of one
// entry, and the plans for tomorrow against the deadline.
import { Hono } from 'hono';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../core/glossary.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { type Language, reasonIn } from '../../erp/files/result-words.ts';
import { outboxAttention } from '../../sync/push/attention.ts';
import { payloadOf } from '../../sync/push/kind.ts';
import { actionsOn } from '../../warehouse/control/audit.ts';
import { factsNamed } from '../../warehouse/control/learned-facts.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { attemptsOf } from '../../warehouse/outbox/attempts.ts';
import { OUTBOX_STATES, type OutboxEntry, reasonsOf, shownEntry } from '../../warehouse/outbox/entry.ts';
import {
  countEntries,
  entriesNamed,
  kindsWithWaitingFiles,
  outboxCounts,
  searchEntries,
  UNREAD,
} from '../../warehouse/outbox/lists.ts';
import { planPoints } from '../../warehouse/queries/delivery-day.ts';
import { routePoint } from '../../warehouse/tables/route-point.ts';
import { attentionReason } from '../health/attention-reason.ts';
import { deadlineStatus } from '../health/deadline.ts';
import { ApiError } from '../server/api-error.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { dayOf, knownDay, languageOf, PAGE_ROWS, page, paged, query, text } from './page-query.ts';

type PlansApiDependencies = Pick<StatusServerDependencies, 'engine' | 'clock' | 'running' | 'privacy' | 'redactor'>;

/** One state, or several with commas. */
const states = z
  .string()
  .transform((given) => (given === '' ? undefined : given.split(',')))
  .pipe(z.array(z.enum(OUTBOX_STATES)).optional())
  .optional();

export function plans(dependencies: PlansApiDependencies): Hono {
  const { engine } = dependencies;
  const app = new Hono();

  app.get('/outbox', async (c) => {
    const params = query(c, {
      page,
      state: states,
      kind: text,
      code: text,
      day: knownDay.optional(),
    });
    const { kind, code, state, day } = params;
    const { config } = dependencies.running();
    const starting = day === undefined ? undefined : dayOf(day, config.timezone);
    const search = { kind, code, states: state, starting };
    const slice = { limit: PAGE_ROWS + 1, offset: params.page * PAGE_ROWS };
    const rows = await engine.read((sql) => searchEntries(sql, { ...search, ...slice }));
    return c.json({
      counts: await outboxCounts(engine),
      attention: await outboxAttention(engine, isoInstant(dependencies.clock.now())),
      unread: await unread(dependencies, languageOf(c)),
      deadline: await deadlineStatus({ config, engine, clock: dependencies.clock }),
      /** Entries that match the search, on all pages. */
      found: await engine.read((sql) => countEntries(sql, search)),
      ...paged(await shown(rows, dependencies, languageOf(c)), params.page),
    });
  });

  app.get('/outbox/entry', async (c) => {
    const shape = {
      kind: z.string().max(100),
      code: z.string().max(1_000),
      use: z.coerce.number().int().min(1).default(1),
    };
    const entry = await namedEntry(engine, query(c, shape));
    const attempts = await engine.read((sql) => attemptsOf(sql, entry));
    const [first] = await shown([entry], dependencies, languageOf(c));
    return c.json({
      ...first,
      attempts,
      /** Every action of a person on the entry through the page, also those that failed. */
      actions: await actionsOn(engine, subjectOf(entry)),
      ...(entry.kind === 'route_plans' && {
        content: contentOf(entry, dependencies),
        remote: await remoteOf(entry, engine),
      }),
    });
  });
  return app;
}

export async function namedEntry(engine: Engine, { kind, code, use }: { kind: string; code: string; use: number }) {
  const uses = await engine.read((sql) => entriesNamed(sql, code, kind));
  const entry = uses.find(({ code_use }) => code_use === use);
  if (entry !== undefined) return entry;
  throw new ApiError(404, 'not_found', 'The outbox has no such entry', 'Search by a part of the code.');
}

export const subjectOf = ({ kind, external_code, code_use }: OutboxEntry): string =>
  `${kind}/${external_code}${code_use === 1 ? '' : ` (use ${code_use})`}`;

/** The fields of a stop that are shown; the others may hold anything. */
const STOP_FIELDS = ['name', 'type', 'order', 'address', 'latitude', 'longitude', 'external_code', 'time_scheduled'];

/** The stops to send, as the warehouse may store them; null once the content is no longer kept. */
function contentOf(entry: OutboxEntry, { privacy }: PlansApiDependencies) {
  const points = payloadOf(entry)?.data?.route_points;
  if (!Array.isArray(points)) return null;
  const filter = privacy.filter(routePoint);
  const stops = points.filter(isJsonObject).map((point) => {
    const stored = filter.record(point) as JsonObject;
    return Object.fromEntries(STOP_FIELDS.map((field) => [field, stored[field] ?? null]));
  });
  return { stops };
}

/** The plan as the warehouse holds it; null if it was not read yet. */
async function remoteOf({ remote_id }: OutboxEntry, engine: Engine) {
  if (remote_id === null) return null;
  const plan = await engine.read((sql) => sql('route_plan').where({ id: remote_id }).first());
  return plan === undefined ? null : { plan, stops: await planPoints(engine, remote_id) };
}

const MOST_UNREAD = 20;

/** The files and feeds that could not be read in the last day, and why. */
async function unread({ engine, redactor }: PlansApiDependencies, language: Language) {
  const facts = await engine.read((sql) => factsNamed<{ name: string; reason: string }>(sql, UNREAD));
  return facts
    .slice(0, MOST_UNREAD)
    .map(({ name, reason }) => ({ name, reason: reasonIn(language, redactor.redact(reason)) }));
}

/** `needs_person`: why the entry needs a person, or null. */
async function shown(entries: readonly OutboxEntry[], { engine, clock }: PlansApiDependencies, language: Language) {
  const waiting = await engine.read(kindsWithWaitingFiles);
  return entries.map((entry) => ({
    ...shownEntry(entry),
    reasons: reasonsOf(entry).map((reason) => reasonIn(language, reason)),
    needs_person: attentionReason(entry, clock.now(), waiting),
  }));
}
