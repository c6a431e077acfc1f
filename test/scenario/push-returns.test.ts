// What happened at the stops goes back to the ERP, once for each change, from the service or from the warehouse.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { plan } from '../support/push-samples.ts';

const JOB = 'return-executions';
const HOUR_MS = 3_600_000;

const fileOf = (place: PushPlace): string => join(place.folder('route_plans'), 'returns', 'P1.json');
const stopsOf = (place: PushPlace) => JSON.parse(readFileSync(fileOf(place), 'utf8')).stops;

async function pushed(): Promise<PushPlace> {
  const place = await makePushPlace();
  place.drop('route_plans', 'a.json', plan('P1'));
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

  it('shows in a dry run what would be returned, and returns nothing', async () => {
    const place = await pushed();
    await place.clock.advance(60 * HOUR_MS);
    rmSync(fileOf(place), { force: true });
    expect(await place.preview(JOB)).toHaveLength(2);
    expect(existsSync(fileOf(place))).toBe(false);
  });
});
