// What happened at the stops goes back to the ERP, once for each change, from the service or from the warehouse.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entryText } from '../../src/cli/outbox-text.ts';
import { shownEntry } from '../../src/warehouse/outbox-shown.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { plan } from '../support/push-samples.ts';

const JOB = 'return-executions';
const HOUR_MS = 3_600_000;

const fileOf = (place: PushPlace): string => join(place.folder('route_plans'), 'returns', 'P1.json');
const stopsOf = (place: PushPlace) => JSON.parse(readFileSync(fileOf(place), 'utf8')).stops;

async function pushed(...plans: Record<string, unknown>[]): Promise<PushPlace> {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plans.length > 0 ? plans : plan('P1'));
  await place.run('push-route-plans');
  return place;
}

describe('return-executions', () => {
  it('returns each outcome once, whether the service or the warehouse tells it', async () => {
    const place = await pushed();
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', records: 0, requests: 0 });
    expect(existsSync(fileOf(place))).toBe(false);
    await place.clock.advance(60 * HOUR_MS);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 2, inserted: 2 });
    expect(stopsOf(place)).toMatchObject([
      { point_external_code: 'P1-0', status: 'R', executed_at: expect.stringMatching(/^2025-03-13T.*Z$/) },
      { point_external_code: 'P1-1', pictures: expect.any(Array) },
    ]);
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 2 });
    await place.run('pull-route-plans');
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 2, requests: 0 });
  });

  it('tells an outcome that changed again', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run('pull-route-plans');
    await place.run(JOB);
    await place.engine.write(({ sql }) =>
      sql('route_point').where({ external_code: 'P1-1' }).update({ status: 'M' }),
    );
    expect(await place.run(JOB)).toMatchObject({ sent: 1, updated: 1, unchanged: 1 });
    expect(stopsOf(place)[1]).toMatchObject({ status: 'M' });
  });

  it('tells again what was told but not noted, and that changes nothing', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run(JOB);
    const told = readFileSync(fileOf(place), 'utf8');
    await place.engine.write(({ sql }) => sql('push_return').delete());
    expect(await place.run(JOB)).toMatchObject({ sent: 2 });
    expect(readFileSync(fileOf(place), 'utf8')).toBe(told);
  });

  it('tells all the others where the ERP refuses one, and that one once it is mended', async () => {
    const place = await pushed(plan('P1'), plan('P2'), plan('P3'));
    await place.clock.advance(60 * HOUR_MS);
    mkdirSync(join(fileOf(place), '..'), { recursive: true });
    writeFileSync(fileOf(place), 'not written here');
    const { error } = await place.run(JOB);
    expect(error?.code).toBe('erp_return_unreadable');
    const told = () =>
      place.engine.read((sql) =>
        sql('push_return').distinct('plan_external_code').pluck('plan_external_code'),
      );
    expect((await told()).sort()).toEqual(['P2', 'P3']);
    expect(existsSync(join(fileOf(place), '../P3.json'))).toBe(true);
    rmSync(fileOf(place));
    expect(await place.run(JOB)).toMatchObject({ error: null, sent: 2, unchanged: 4 });
    expect(stopsOf(place)).toHaveLength(2);
  });

  it('asks the service for a single stop of which the warehouse does not know when it was executed', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    await place.run('pull-route-plans');
    await place.engine.write(({ sql }) =>
      sql('route_point_execution')
        .whereIn('route_point_id', sql('route_point').where({ external_code: 'P1-1' }).select('id'))
        .delete(),
    );
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 2, requests: 1 });
    expect(place.sandbox.ledger().requests['route-point']).toBe(1);
    const stops: { point_external_code: string }[] = stopsOf(place);
    expect(stops.find(({ point_external_code }) => point_external_code === 'P1-1')).toMatchObject({
      executed_at: expect.stringMatching(/^2025-03-1\d/),
      pictures: expect.any(Array),
    });
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 2 });
  });

  it.each([
    ['the service', false],
    ['the warehouse', true],
  ])(
    'says once that a stop has no code, where %s tells of it, and keeps it with the plan',
    async (_, isPulled) => {
      const [depot, customer] = plan('P1').route_points as Record<string, unknown>[];
      const place = await pushed(
        plan('P1', { route_points: [depot, { ...customer, external_code: undefined }] }),
      );
      await place.clock.advance(60 * HOUR_MS);
      if (isPulled) await place.run('pull-route-plans');
      const { error, status, sent } = await place.run(JOB);
      expect(error).toMatchObject({
        code: 'stops_without_code',
        message: expect.stringMatching(/^1 stops .* P1$/),
      });
      expect([status, sent]).toEqual(['partial', 1]);
      expect(stopsOf(place)).toMatchObject([{ point_external_code: 'P1-0' }]);
      const [entry] = await place.outbox();
      expect(entryText(entry as never)).toMatch(/not returned +1 stops without an external_code/);
      expect(shownEntry(entry as never)).toMatchObject({ uncoded_stops: 1 });
      expect(await place.run(JOB)).toMatchObject({ status: 'ok', error: null, unchanged: 1 });
    },
  );

  it('shows in a dry run what would be returned, and returns nothing', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    rmSync(fileOf(place), { force: true });
    expect(await place.preview(JOB)).toHaveLength(2);
    expect(existsSync(fileOf(place))).toBe(false);
  });
});
