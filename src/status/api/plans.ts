// The push board: entries of the outbox by page, the story of one, and how tomorrow stands against the deadline.
import { Hono } from 'hono';
import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { isoInstant } from '../../core/clock.ts';
import { outboxCounts } from '../../warehouse/outbox.ts';
import { keyOf } from '../../warehouse/outbox-entry.ts';
import { entriesNamed, searchEntries, statesOfPeriod } from '../../warehouse/outbox-lookup.ts';
import { shownEntry } from '../../warehouse/outbox-shown.ts';
import { OUTBOX_STATES } from '../../warehouse/outbox-states.ts';
import { ApiError } from '../api-error.ts';
import type { StatusServerParts } from '../server-parts.ts';
import { PAGE_ROWS, page, paged, query, text } from './page-query.ts';

type Parts = Pick<StatusServerParts, 'engine' | 'clock' | 'running'>;

export function plans(parts: Parts): Hono {
  const { engine } = parts;
  const app = new Hono();

  app.get('/outbox', async (c) => {
    const asked = query(c, {
      page,
      state: z.enum(['', ...OUTBOX_STATES]).default(''),
      kind: text,
      code: text,
    });
    const found = await engine.read((sql) =>
      searchEntries(sql, {
        states: asked.state === '' ? undefined : [asked.state],
        kind: asked.kind,
        code: asked.code,
        limit: PAGE_ROWS + 1,
        offset: asked.page * PAGE_ROWS,
      }),
    );
    const counts = await outboxCounts(engine);
    return c.json({ counts, deadline: await deadline(parts), ...paged(found.map(shownEntry), asked.page) });
  });

  app.get('/outbox/entry', async (c) => {
    const { kind, code } = query(c, { kind: z.string().max(100), code: z.string().max(1_000) });
    const [entry] = await engine.read((sql) => entriesNamed(sql, code, kind));
    if (entry === undefined) {
      throw new ApiError(404, 'not_found', 'The outbox has no such entry', 'Search for a part of its code.');
    }
    const attempts = await engine.read((sql) => sql('push_attempt').where(keyOf(entry)).orderBy('number'));
    return c.json({ ...shownEntry(entry), attempts });
  });
  return app;
}

/** How the plans of tomorrow stand; null where no deadline is set. */
async function deadline({ engine, clock, running }: Parts) {
  const { jobs, timezone } = running().config;
  const by = jobs['push-route-plans']?.options.deadline;
  if (typeof by !== 'string') return null;
  const now = Temporal.Instant.fromEpochMilliseconds(clock.now()).toZonedDateTimeISO(timezone);
  const startOf = (days: number): string =>
    isoInstant(now.toPlainDate().add({ days }).toZonedDateTime(timezone).epochMilliseconds);
  const dueAt = now.toPlainDate().toZonedDateTime({ timeZone: timezone, plainTime: by }).epochMilliseconds;
  const states = await engine.read((sql) =>
    statesOfPeriod(sql, 'route_plans', { start: startOf(1), end: startOf(2) }),
  );
  const count = (wanted: (state: string) => boolean): number =>
    states.filter(({ state }) => wanted(state)).reduce((sum, { n }) => sum + n, 0);
  return {
    by,
    due_at: isoInstant(dueAt),
    confirmed: count((state) => state === 'confirmed'),
    open: count((state) => state !== 'confirmed' && state !== 'cancelled'),
  };
}
