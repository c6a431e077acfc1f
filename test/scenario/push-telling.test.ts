// What the ERP is told of its things: everyone is, whoever else is refused; under its own code; once for each content.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cancelEntry, retryEntry } from '../../src/sync/push/outbox-orders.ts';
import type { OutboxEntry } from '../../src/warehouse/outbox-entry.ts';
import { markTold } from '../../src/warehouse/outbox-telling.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { CPFS, plan } from '../support/push-samples.ts';
import { makeSqliteErp } from '../support/sqlite-erp.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AT = '2025-03-12T15:00:00.000Z';

describe('an ERP that will not hear of some things', () => {
  it('is told all the others, however many it refuses before them', async () => {
    const columns = ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name'];
    const erp = await makeSqliteErp(columns, 'state is null');
    const codes = Array.from({ length: 205 }, (_, i) => `P${String(i).padStart(3, '0')}`);
    // Without a place, so that they are rejected and nothing has to be sent.
    const dates = { 'plan.date_time_start': '2025-03-13T08:00', 'plan.date_time_end': '2025-03-13T18:00' };
    for (const code of codes)
      await erp.give(code, { 'plan.external_code': code, ...dates, 'point.name': 'A' });
    await erp.database('refusing').insert(codes.slice(0, 200).map((code) => ({ code })));
    const place = await makePushPlace({ feeds: { route_plans: erp.feed } });
    const { error } = await place.run('push-route-plans');
    expect(error?.code).toBe('erp_statement_refused');
    expect((await erp.told()).map(({ code }) => code)).toEqual(codes.slice(200));
    await erp.database('refusing').delete();
    expect((await place.run('push-route-plans')).error).toBeNull();
    expect(new Set((await erp.told()).map(({ code }) => code))).toEqual(new Set(codes));
  });
});

describe('a state that was told after another process had told a newer one', () => {
  it('is put right: the newer one is told again', async () => {
    const erp = await makeSqliteErp(['name', 'cpf', 'external_code'], 'state is null');
    await erp.give('A-1', { name: 'A. Person', cpf: CPFS[0], external_code: 'A-1' });
    const place = await makePushPlace({ feeds: { agents: erp.feed } });
    await place.run('push-agents');
    const [entry] = (await place.outbox()) as [OutboxEntry];
    const stale = { ...entry, state: 'rejected', revision: entry.revision - 1 } as OutboxEntry;
    await place.engine.write(({ sql }) => markTold(sql, [stale], AT));
    await place.run('push-agents');
    expect((await erp.told('A-1')).map(({ state }) => state)).toEqual(['confirmed', 'confirmed']);
    expect((await place.outbox())[0]?.told_at).not.toBeNull();
  });
});

describe('an agent that the ERP calls by its tax number', () => {
  const JOB = 'push-agents';
  const [cpf] = CPFS;

  async function refused() {
    const erp = await makeSqliteErp(['name', 'cpf'], 'state is null');
    await erp.give(cpf, { name: 'A. Person', cpf });
    const place = await makePushPlace({ feeds: { agents: erp.feed } });
    place.sandbox.addFault({ call: 'create-agent', fault: '400', times: 1 });
    await place.runs(JOB, 2);
    const [entry] = await place.outbox();
    expect(entry?.state).toBe('rejected');
    return { erp, place, entry: entry as OutboxEntry };
  }

  it('is told confirmed under it, after it was refused and sent again on order', async () => {
    const { erp, place, entry } = await refused();
    await retryEntry(place.engine, entry, AT);
    await place.run(JOB);
    expect((await erp.told(cpf)).map(({ state }) => state)).toEqual(['rejected', 'confirmed']);
    expect(JSON.stringify(await place.outbox())).not.toContain(cpf);
  });

  it('is told cancelled under it, and forgotten then', async () => {
    const { erp, place, entry } = await refused();
    await cancelEntry(place.engine, entry, AT, true);
    await place.run(JOB);
    expect((await erp.told(cpf)).map(({ state }) => state)).toEqual(['rejected', 'cancelled']);
    expect(JSON.stringify(await place.outbox())).not.toContain(cpf);
  });

  it('is not remembered by it once it can no longer be sent', async () => {
    const { place } = await refused();
    await place.clock.advance(8 * DAY_MS);
    await place.run(JOB);
    expect(JSON.stringify(await place.outbox())).not.toContain(cpf);
  });

  it('is told again under it when the ERP offers it again', async () => {
    const { erp, place, entry } = await refused();
    await retryEntry(place.engine, entry, AT);
    await place.run(JOB);
    await erp.database('thing').update({ state: null });
    await place.clock.advance(2 * HOUR_MS);
    await place.run(JOB);
    expect((await erp.told(cpf)).map(({ state }) => state)).toEqual(['rejected', 'confirmed', 'confirmed']);
    expect(place.sandbox.ledger().agents).toEqual({ [cpf]: 1 });
  });

  it('is told under it that it could not be read', async () => {
    const erp = await makeSqliteErp(['name', 'cpf'], 'state is null');
    await erp.give(cpf, { name: 'A. Person', cpf });
    await erp.give('again', { name: 'Another', cpf });
    const place = await makePushPlace({ feeds: { agents: erp.feed } });
    await place.run(JOB);
    expect(await erp.told(cpf)).toMatchObject([{ state: 'rejected' }]);
    expect(place.sandbox.ledger().agents).toEqual({});
  });
});

describe('a change that breaks the rules, of a thing that the service has', () => {
  const JOB = 'push-points-of-interest';
  const columns = ['external_code', 'title', 'latitude', 'longitude'];
  const shop = { external_code: 'C-1', title: 'Shop', latitude: -23.5, longitude: -46.6 };

  it('is told once, and once more when it is mended', async () => {
    const erp = await makeSqliteErp(columns);
    await erp.give('C-1', shop);
    const place = await makePushPlace({ feeds: { points_of_interest: erp.feed } });
    await place.run(JOB);
    await erp.give('C-1', { ...shop, latitude: -123.5 });
    for (let runs = 0; runs < 3; runs++) await place.run(JOB);
    expect((await erp.told()).map(({ message }) => message)).toEqual([
      null,
      expect.stringMatching(/breaks the rules; not taken: latitude/),
    ]);
    await erp.give('C-1', { ...shop, latitude: -223.5 });
    for (let runs = 0; runs < 2; runs++) await place.run(JOB);
    await erp.give('C-1', shop);
    for (let runs = 0; runs < 2; runs++) await place.run(JOB);
    expect((await erp.told()).map(({ message }) => message === null)).toEqual([true, false, false, true]);
    expect(place.sandbox.ledger().requests).not.toHaveProperty('change-point-of-interest');
  });
});

describe('a drop folder whose file has moved', () => {
  const JOB = 'push-route-plans';
  const MINUTE = 60_000;

  function lateResults(place: PushPlace): Record<string, unknown>[] {
    const path = join(place.folder('route_plans'), 'late-results.jsonl');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  it('is told of a refused plan that was sent again on order', async () => {
    const place = await makePushPlace();
    place.sandbox.addFault({ call: 'import-route-plan', fault: '422', times: 1 });
    place.drop('route_plans', 'a.json', [plan('P0'), plan('P1')]);
    await place.run(JOB);
    expect(existsSync(join(place.folder('route_plans'), 'failed', 'a.json.result.json'))).toBe(true);
    expect(lateResults(place)).toEqual([]);
    await place.clock.advance(5 * MINUTE);
    await place.run(JOB);
    const refused = (await place.outbox()).find(({ state }) => state === 'rejected') as OutboxEntry;
    await retryEntry(place.engine, refused, AT);
    for (let runs = 0; runs < 3; runs++) {
      await place.clock.advance(5 * MINUTE);
      await place.run(JOB);
    }
    expect(lateResults(place)).toEqual([
      expect.objectContaining({ external_code: refused.external_code, state: 'confirmed' }),
    ]);
    expect(lateResults(place)[0]?.remote_id).toEqual(expect.any(Number));
  });

  it('is told of an identifier that the service shows late, after a line that was cut off', async () => {
    const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 10 * MINUTE } });
    place.drop('route_plans', 'late-results.jsonl', '{"external_code":"cut');
    place.drop('route_plans', 'a.json', plan('P1'));
    for (let runs = 0; runs < 5; runs++) {
      await place.run(JOB);
      await place.clock.advance(4 * MINUTE);
    }
    const path = join(place.folder('route_plans'), 'late-results.jsonl');
    const [cut, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(cut).toBe('{"external_code":"cut');
    const [entry] = await place.outbox();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ external_code: 'P1', state: 'confirmed', remote_id: entry?.remote_id }),
    ]);
  });

  it('is not told twice of what could not be read', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2'), plan('P2', { vehicle_id: 1 })]);
    for (let runs = 0; runs < 2; runs++) await place.run(JOB);
    expect((await place.outbox()).map(({ state }) => state)).toEqual(['confirmed', 'rejected']);
    expect(lateResults(place)).toEqual([]);
  });
});
