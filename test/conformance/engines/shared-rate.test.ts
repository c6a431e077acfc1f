// The shared rate on a real PostgreSQL: several connections that ask concurrently, and limiters on a clock that the test
// moves while the database decides.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/core/rate/limiter.ts';
import { type PermitRequest, type PermitSource, paceOf } from '../../../src/core/rate/rate.ts';
import { createManualClock, type ManualClock } from '../../../src/core/time/manual-clock.ts';
import { ratePermits } from '../../../src/warehouse/control/rate-store.ts';
import type { Engine } from '../../../src/warehouse/engine.ts';
import { bringSchemaUpToDate } from '../../../src/warehouse/schema/converge.ts';
import { rateAsValue } from '../../../src/warehouse/schema/migrations.ts';
import { makeService, windows } from '../../support/daemons/shared-rate.ts';
import { stopPostgres } from '../../support/databases/postgres.ts';
import { type EnginePlace, makePlace } from '../../support/warehouse/engines.ts';

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

const ask = (rest: Partial<PermitRequest> = {}): PermitRequest => ({
  priorities: [1, 1, 1, 1, 1],
  perMinute: 60,
  pauseMs: 0,
  ...rest,
});

const permitsOf = (engine: Pick<Engine, 'shortTransaction'>, account: string): PermitSource =>
  ratePermits(engine, account) as PermitSource;

/** By the clock of the test instead of the server's. */
function onClock(engine: Engine, account: string, clock: ManualClock): PermitSource {
  const shortTransaction: Engine['shortTransaction'] = (work) =>
    (engine.shortTransaction as NonNullable<Engine['shortTransaction']>)((sql) => work(sql, async () => clock.now()));
  return permitsOf({ shortTransaction }, account);
}

/** A source whose pending asks can be awaited. */
function watched(source: PermitSource, pending: Set<Promise<unknown>>): PermitSource {
  return {
    take(asked) {
      const taken = source.take(asked);
      const settled: Promise<unknown> = taken.then(
        () => pending.delete(settled),
        () => pending.delete(settled),
      );
      pending.add(settled);
      return taken;
    },
  };
}

describe('a rate that processes share on PostgreSQL', () => {
  it('gives every permit to one of them, however many ask at once', async () => {
    const clock = createManualClock(Date.UTC(2026, 2, 10));
    const asks = Array.from({ length: 40 }, (_, n) => {
      const engine = engines[n % PROCESSES] as Engine;
      return onClock(engine, 'at once', clock).take(ask({ perMinute: 60_000 }));
    });
    const waitsMs = (await Promise.all(asks)).flatMap((grant) => grant.waitsMs);
    const { burst, spacingMs } = paceOf(60_000);
    expect(waitsMs).toHaveLength(40 * 5);
    expect(burst).toBeGreaterThan(40 * 5);
    const [row] = await (engines[0] as Engine).read((sql) => sql('sync_rate').where({ account: 'at once' }));
    expect(JSON.parse(row.state).nextMs - clock.now()).toBeCloseTo(200 * spacingMs, 0);
  });

  it('keeps what one process took or left for the next', async () => {
    const clock = createManualClock(Date.UTC(2026, 2, 10));
    const [one, two, three] = engines.map((engine) => onClock(engine, 'kept', clock)) as [
      PermitSource,
      PermitSource,
      PermitSource,
    ];
    expect(await one.take(ask({ priorities: [2, 2] }))).toMatchObject({ waitsMs: [0] });
    await clock.advance(460);
    // The next instant is within the reach of a push and beyond that of live calls; the lower figure still counts.
    expect(await two.take(ask({ perMinute: 6_000 }))).toMatchObject({ waitsMs: [], againMs: 190 });
    expect(await one.take(ask({ priorities: [2] }))).toMatchObject({ waitsMs: [590], againMs: 0 });
    expect(await two.take(ask({ perMinute: 6_000 }))).toMatchObject({ waitsMs: [], againMs: 1_240 });
    await three.take(ask({ priorities: [], pauseMs: 5_000 }));
    await clock.advance(2_000);
    expect(await one.take(ask())).toMatchObject({ waitsMs: [], pausedMs: 3_000 });
  });

  it('is kept at the service, and is used, while four processes call', { timeout: 180_000 }, async () => {
    const clock = createManualClock(Date.UTC(2026, 2, 10));
    const pending = new Set<Promise<unknown>>();
    const service = makeService(clock, { wayMs: [5, 1_900], answerMs: 200 });
    const limiters = engines.map((engine) => {
      const permits = watched(onClock(engine, 'in use', clock), pending);
      return createLimiter({ concurrency: 24, perMinute: 300, clock, permits });
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
    limiters[0]?.pause(10_000);
    // The permits of the others, which reach 0.4 s ahead and may be used a second late, and the latency to the service.
    await advance(1_400 + 1_900);
    const before = service.arrivals.length;
    await advance(6_000);
    expect(service.arrivals.length).toBe(before);
    await advance(4_000);
    expect(service.arrivals.length).toBeGreaterThan(before);
  });

  it('is created again where the table has the columns of an earlier schema', async () => {
    const [engine] = engines as [Engine];
    await engine.write(async ({ sql }) => {
      await sql.raw('drop table sync_rate');
      await sql.raw('create table sync_rate (account text primary key, shares text not null)');
      await sql('schema_version').where({ name: rateAsValue.name }).delete();
    });
    await bringSchemaUpToDate(engine);
    expect((await permitsOf(engine, 'anew').take(ask())).waitsMs).toEqual([0]);
  });

  it('does not wait for a writer', async () => {
    const [one, two] = engines as [Engine, Engine];
    const grant = await one.write(() => permitsOf(two, 'beside').take(ask()));
    expect(grant.waitsMs).toEqual([0]);
  });

  it('is taken from a process that freezes in the middle of an ask', { timeout: 30_000 }, async () => {
    const [one, two] = engines as [Engine, Engine];
    const asked = ask({ priorities: [1], perMinute: 600 });
    await permitsOf(two, 'stuck').take(asked);
    const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const stuck = one.shortTransaction?.(async (sql) => {
      await sql('sync_rate').where({ account: 'stuck' }).forUpdate().first();
      attempts++;
      locked.resolve();
      await goOn.promise;
    });
    await locked.promise;
    expect((await permitsOf(two, 'stuck').take(asked)).waitsMs).toHaveLength(1);
    goOn.resolve();
    await stuck;
    // Its work in the closed session is repeated in another.
    expect(attempts).toBe(2);
  });
});

it('on SQLite each process has a rate of its own', async () => {
  const sqlite = await makePlace('sqlite');
  const engine = await sqlite.open();
  expect(ratePermits(engine, 'any')).toBeUndefined();
  await engine.close();
  await sqlite.remove();
});
