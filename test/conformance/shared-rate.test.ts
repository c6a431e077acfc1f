// The shared rate on a real PostgreSQL: draws of several connections at once, and limiters on a clock that the test
// moves while the database decides.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { createManualClock, type ManualClock } from '../../src/core/manual-clock.ts';
import { createRedactor } from '../../src/core/redaction.ts';
import { type Draw, type RateBook, spacingOf } from '../../src/core/shared-rate.ts';
import type { Engine } from '../../src/warehouse/engine.ts';
import { rateBook } from '../../src/warehouse/rate-book.ts';
import { bringSchemaUpToDate } from '../../src/warehouse/schema.ts';
import { type EnginePlace, makePlace } from '../support/engines.ts';
import { stopPostgres } from '../support/postgres.ts';
import { makeLimiter, makeService, windows } from '../support/shared-rate.ts';

const log = createLog({ level: 'silent', redactor: createRedactor() });
const PROCESSES = 4;

let place: EnginePlace;
let engines: Engine[];

beforeAll(async () => {
  place = await makePlace('postgres');
  engines = await Promise.all(Array.from({ length: PROCESSES }, () => place.open()));
  await bringSchemaUpToDate(engines[0] as Engine);
}, 60_000);

afterAll(async () => {
  for (const engine of engines) await engine.close();
  await stopPostgres();
});

const ask = (id: string, rest: Partial<Draw> = {}): Draw => ({
  id,
  limits: { concurrency: 64, perMinute: 60_000 },
  waiting: 5,
  inFlight: 0,
  priority: 0,
  inHand: 0,
  turnover: 0,
  pauseMs: 0,
  ...rest,
});

/** The book of an engine, by the clock of the test instead of the server's. */
function bookOf(engine: Engine, account: string, clock: ManualClock): RateBook {
  const beside: Engine['beside'] = (work) =>
    (engine.beside as NonNullable<Engine['beside']>)((sql) => work(sql, async () => clock.now()));
  return rateBook({ beside }, account) as RateBook;
}

/** A book whose draws under way can be waited for. */
function watched(book: RateBook, pending: Set<Promise<unknown>>): RateBook {
  return {
    draw(asked) {
      const drawn = book.draw(asked);
      const settled: Promise<unknown> = drawn.then(
        () => pending.delete(settled),
        () => pending.delete(settled),
      );
      pending.add(settled);
      return drawn;
    },
  };
}

describe('a rate that processes share on PostgreSQL', () => {
  it('gives every instant to one of them, however many draw at once', async () => {
    const clock = createManualClock(Date.UTC(2026, 2, 10));
    const draws = Array.from({ length: 40 }, (_, n) => {
      const engine = engines[n % PROCESSES] as Engine;
      return bookOf(engine, 'at once', clock).draw(ask(`process ${n % PROCESSES}`));
    });
    const instants = (await Promise.all(draws)).flatMap(({ waitsMs }) => waitsMs).toSorted((a, b) => a - b);
    expect(instants.length).toBeGreaterThanOrEqual(100);
    const gaps = instants.slice(1).map((at, n) => at - (instants[n] as number));
    expect(Math.min(...gaps)).toBeGreaterThan(spacingOf(60_000) - 0.01);
  });

  it('holds at the service, and is used, while four processes draw', { timeout: 180_000 }, async () => {
    const clock = createManualClock(Date.UTC(2026, 2, 10));
    const pending = new Set<Promise<unknown>>();
    const service = makeService(clock, { wayMs: [5, 1_900], answerMs: 200 });
    const limiters = engines.map((engine, n) => {
      const book = watched(bookOf(engine, 'in use', clock), pending);
      return makeLimiter(`process ${n}`, { clock, log, book }, { concurrency: 24, perMinute: 300 });
    });
    for (const limiter of limiters) for (let n = 0; n < 120; n++) void limiter.run(service.call);
    const advance = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        await clock.advance(100);
        while (pending.size > 0) await Promise.all(pending);
      }
    };
    await advance(66_000);
    const { most, fewest } = windows(service.arrivals, 60_000, { from: 4_000, to: 66_000 });
    expect(most).toBeLessThanOrEqual(300);
    expect(fewest).toBeGreaterThanOrEqual(270);
    expect(service.mostInFlight()).toBeLessThanOrEqual(24);
    limiters[0]?.pause(10_000);
    // The permits of the others and the way to the service.
    await advance(1_400 + 1_900);
    const before = service.arrivals.length;
    await advance(6_000);
    expect(service.arrivals.length).toBe(before);
    await advance(4_000);
    expect(service.arrivals.length).toBeGreaterThan(before);
  });

  it('does not wait for a writer', async () => {
    const [one, two] = engines as [Engine, Engine];
    const grant = await one.write(() => (rateBook(two, 'beside') as RateBook).draw(ask('b')));
    expect(grant.waitsMs).toHaveLength(5);
  });

  it('is taken from a process that stands still in the middle of a draw', { timeout: 30_000 }, async () => {
    const [one, two] = engines as [Engine, Engine];
    await (rateBook(two, 'stuck') as RateBook).draw(ask('b'));
    const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const stuck = one.beside?.(async (sql) => {
      await sql('sync_rate').where({ account: 'stuck' }).forUpdate().first();
      attempts++;
      locked.resolve();
      await goOn.promise;
    });
    await locked.promise;
    const { lanes } = await (rateBook(two, 'stuck') as RateBook).draw(ask('b'));
    expect(lanes).toBe(5);
    goOn.resolve();
    await stuck;
    // What it did in the session that was ended is done again in another.
    expect(attempts).toBe(2);
  });
});

it('on SQLite each process has a rate of its own', async () => {
  const sqlite = await makePlace('sqlite');
  const engine = await sqlite.open();
  expect(rateBook(engine, 'any')).toBeUndefined();
  await engine.close();
  await sqlite.remove();
});
