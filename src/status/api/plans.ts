// The push board: outbox entries by page, entries that need a person, the history of one entry, and the plans for
// tomorrow against the deadline.
import { Hono } from 'hono';
import { z } from 'zod';
import { isoInstant } from '../../core/time/clock.ts';
import { outboxAttention } from '../../sync/push/attention.ts';
import type { Engine } from '../../warehouse/engine.ts';
import { attemptsOf } from '../../warehouse/outbox/attempts.ts';
import { OUTBOX_STATES, type OutboxEntry, shownEntry } from '../../warehouse/outbox/entry.ts';
import {
  countEntries,
  entriesNamed,
  kindsWithWaitingFiles,
  outboxCounts,
  searchEntries,
} from '../../warehouse/outbox/lists.ts';
import { attentionReason } from '../health/attention-reason.ts';
import { deadlineStatus } from '../health/deadline.ts';
import { ApiError } from '../server/api-error.ts';
import type { StatusServerDependencies } from '../server/dependencies.ts';
import { PAGE_ROWS, page, paged, query, text } from './page-query.ts';

type PlansApiDependencies = Pick<StatusServerDependencies, 'engine' | 'clock' | 'running'>;

export function plans(dependencies: PlansApiDependencies): Hono {
  const { engine } = dependencies;
  const app = new Hono();

  app.get('/outbox', async (c) => {
    const params = query(c, {
      page,
      state: z.enum(['', ...OUTBOX_STATES]).default(''),
      kind: text,
      code: text,
    });
    const { kind, code, state } = params;
    const search = { kind, code, states: state === '' ? undefined : [state] };
    const slice = { limit: PAGE_ROWS + 1, offset: params.page * PAGE_ROWS };
    const rows = await engine.read((sql) => searchEntries(sql, { ...search, ...slice }));
    return c.json({
      counts: await outboxCounts(engine),
      attention: await outboxAttention(engine, isoInstant(dependencies.clock.now())),
      deadline: await deadlineStatus({ config: dependencies.running().config, engine, clock: dependencies.clock }),
      /** Entries that match the search, on all pages. */
      found: await engine.read((sql) => countEntries(sql, search)),
      ...paged(await shown(rows, dependencies), params.page),
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
    const [first] = await shown([entry], dependencies);
    return c.json({ ...first, attempts });
  });
  return app;
}

export async function namedEntry(engine: Engine, { kind, code, use }: { kind: string; code: string; use: number }) {
  const uses = await engine.read((sql) => entriesNamed(sql, code, kind));
  const entry = uses.find(({ code_use }) => code_use === use);
  if (entry !== undefined) return entry;
  throw new ApiError(404, 'not_found', 'The outbox has no such entry', 'Search by a part of the code.');
}

/** `needs_person`: why the entry needs a person, or null. */
async function shown(entries: readonly OutboxEntry[], { engine, clock }: PlansApiDependencies) {
  const waiting = await engine.read(kindsWithWaitingFiles);
  return entries.map((entry) => ({
    ...shownEntry(entry),
    needs_person: attentionReason(entry, clock.now(), waiting),
  }));
}
