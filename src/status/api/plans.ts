// The push board: outbox entries by page, entries that need a person, files that could not be read, the history of one
// entry, and the plans for tomorrow against the deadline.
import { join } from 'node:path';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import { isoInstant } from '../../core/time/clock.ts';
import { knownDay } from '../../core/time/known-day.ts';
import { FEED_KINDS, type FeedKind } from '../../erp/feed-kinds.ts';
import { whyNotRead } from '../../erp/files/drop-folder.ts';
import { type Language, reasonIn } from '../../erp/files/result-words.ts';
import { outboxAttention } from '../../sync/push/attention.ts';
import { payloadOf, pushJobOf } from '../../sync/push/kind.ts';
import { REJECTED } from '../../sync/push/outcome.ts';
import type { UnreadFact } from '../../sync/push/push-issues.ts';
import { actionsOn } from '../../warehouse/control/audit.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { attemptsOf } from '../../warehouse/outbox/attempts.ts';
import { contentOf, platesOf } from '../../warehouse/outbox/content.ts';
import { type OutboxEntry, reasonsOf, SHOWN_STATES, shownEntry } from '../../warehouse/outbox/entry.ts';
import {
  countEntries,
  entriesNamed,
  gonePlans,
  kindsWithWaitingFiles,
  searchEntries,
  shownCounts,
  unreadFacts,
} from '../../warehouse/outbox/lists.ts';
import { type EntryOfDay, planPoints } from '../../warehouse/queries/delivery-day.ts';
import { routePlan } from '../../warehouse/tables/route-plan.ts';
import { attentionReason } from '../health/attention-reason.ts';
import { deadlineStatus } from '../health/deadline.ts';
import { ApiError } from '../server/api-error.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { dayOf, languageOf, PAGE_ROWS, page, paged, query, text } from './page-query.ts';

/** One state, or several with commas. */
const states = z
  .string()
  .transform((given) => (given === '' ? undefined : given.split(',')))
  .pipe(z.array(z.enum(SHOWN_STATES)).optional())
  .optional();

export function plans(dependencies: StatusServerDependencies): Hono {
  const { engine } = dependencies;
  const app = new Hono();

  app.get('/outbox', async (c) => {
    const params = query(c, {
      page,
      state: states,
      kind: text.pipe(z.enum(FEED_KINDS).optional()),
      code: text,
      day: knownDay.optional(),
    });
    const { kind, code, state, day } = params;
    const { config } = dependencies.running();
    const starting = day === undefined ? undefined : dayOf(day, config.timezone);
    const search = { kind, code, states: state, starting };
    const slice = { limit: PAGE_ROWS + 1, offset: params.page * PAGE_ROWS };
    const at = isoInstant(dependencies.clock.now());
    const rows = await engine.read((sql) => searchEntries(sql, { ...search, ...slice }));
    return c.json({
      counts: await shownCounts(engine),
      /** Of the search. */
      attention: await outboxAttention(engine, at, search),
      /** Confirmed plans that the service no longer returns. */
      gone: (await engine.read((sql) => gonePlans(sql, at))).map((plan) => ({ kind: 'route_plans', ...plan })),
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
      ...contentFacts(entry, dependencies.running().config),
      attempts: attempts.map((attempt) =>
        attempt.outcome === 'rejected' && typeof attempt.message === 'string'
          ? { ...attempt, message: reasonIn(languageOf(c), attempt.message) }
          : attempt,
      ),
      /** Every action of a person on the entry through the page, also those that failed. */
      actions: await actionsOn(engine, subjectOf(entry)),
      ...(entry.kind === 'route_plans' && {
        content: await engine.read((sql) => contentOf(sql, entry)),
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

/** The plan as the warehouse holds it, and since when the service no longer returns it; null if it was not read yet. */
async function remoteOf({ remote_id }: OutboxEntry, engine: Engine) {
  if (remote_id === null) return null;
  const plan = await engine.read((sql) => sql('route_plan').where({ id: remote_id }).first());
  if (plan === undefined) return null;
  return { plan, gone_since: plan._missing_since as string | null, stops: await planPoints(engine, remote_id) };
}

/** Where a person corrects the item, and whether and until when its content is stored. */
function contentFacts({ kind, state, payload, updated_at }: OutboxEntry, { erp, jobs }: Config) {
  const keptMs = jobs[pushJobOf(kind)]?.options.keep_rejected;
  const isKept = state === 'rejected' && payload !== null && typeof keptMs === 'number';
  return {
    has_content: payload !== null,
    content_until: isKept ? isoInstant(Date.parse(updated_at) + keptMs) : null,
    from_files: erp[kind as FeedKind]?.source === 'files',
  };
}

const MOST_UNREAD = 20;

/** The newest files and feeds that could not be read in the last day: why, when, by which job, and where a file lies now. */
async function unread({ engine, clock, redactor, running }: StatusServerDependencies, language: Language) {
  const { erp } = running().config;
  const at = isoInstant(clock.now());
  const facts = await engine.read((sql) => unreadFacts<UnreadFact>(sql, at, MOST_UNREAD));
  return facts.map(({ name, reason, kind, at = null }) => {
    const feed = erp[kind as FeedKind];
    const folder = feed?.source === 'files' ? join(feed.folder, whyNotRead(name) === undefined ? 'failed' : '') : null;
    const job = kind === undefined ? null : pushJobOf(kind);
    return { name, reason: reasonIn(language, redactor.redact(reason)), job, at, folder };
  });
}

/** The plates in the content of a plan, as the privacy policy shows them; null if there are none, or the content is not kept. */
export function vehicleOf(
  entry: Pick<OutboxEntry, 'kind' | 'payload'>,
  { privacy }: Pick<StatusServerDependencies, 'privacy'>,
): string | null {
  const data = entry.kind === 'route_plans' ? payloadOf(entry)?.data : undefined;
  if (data === undefined) return null;
  return platesOf(data, { plate: (plate) => privacy.asStored(routePlan, 'vehicle_plate', plate) });
}

/** The service says that a plate is unknown, but not which one. */
const withPlate = (reason: string, vehicle: string | null, { message }: Pick<OutboxEntry, 'message'>): string =>
  vehicle !== null && message === REJECTED && /\b(?:plate|placa)\b/i.test(reason) && !reason.includes(vehicle)
    ? `${reason} (${vehicle})`
    : reason;

/** The page translates the sentence of an entry, but not the reason at its end. */
const messageIn = (language: Language, { message }: Pick<OutboxEntry, 'message'>): string | null =>
  message?.replace(INVALID_CHANGE, (_, sentence, reason) => `${sentence}${reasonIn(language, reason)}`) ?? null;

const INVALID_CHANGE = /^(The ERP changed it in an invalid way [^:]*: )(.*)$/s;

export type EntryFacts = ReturnType<Awaited<ReturnType<typeof entryFacts>>>;

/** What a person has to know of an entry. `needs_person`: why it needs one, or null. */
export async function entryFacts(dependencies: StatusServerDependencies, language: Language) {
  const waiting = await dependencies.engine.read(kindsWithWaitingFiles);
  return (entry: Omit<EntryOfDay, 'run_id' | 'plates'> & { plates?: string | null }) => {
    const vehicle = vehicleOf(entry, dependencies) ?? entry.plates ?? null;
    return {
      vehicle,
      message: messageIn(language, entry),
      reasons: reasonsOf(entry).map((reason) => reasonIn(language, withPlate(reason, vehicle, entry))),
      needs_person: attentionReason(entry, dependencies.clock.now(), waiting),
    };
  };
}

async function shown(entries: readonly OutboxEntry[], dependencies: StatusServerDependencies, language: Language) {
  const factsOf = await entryFacts(dependencies, language);
  return entries.map((entry) => ({ ...shownEntry(entry), ...factsOf(entry) }));
}
