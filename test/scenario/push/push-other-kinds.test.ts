// Points of interest, agents and itineraries: created or changed, depending on the records of the service.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/time/durations.ts';
import { act, assertAbsent } from '../../../src/sync/push/actions.ts';
import { pushIssues } from '../../../src/sync/push/push-issues.ts';
import { isChangedAfterPush } from '../../../src/warehouse/outbox/entry.ts';
import { keyAgentDigests } from '../../../src/warehouse/schema/migrations/key-agent-digests.ts';
import { makePushPlace, type PushPlace } from '../../support/push/push-place.ts';
import { agent, CPFS, itinerary, pointOfInterest } from '../../support/push/push-samples.ts';

const truth = async (place: PushPlace, resource: string): Promise<Record<string, unknown>[]> =>
  (await fetch(`${place.sandbox.url}/_sandbox/truth/${resource}`)).json() as Promise<Record<string, unknown>[]>;

describe('push-points-of-interest', () => {
  const JOB = 'push-points-of-interest';

  it('creates a point, changes it when the ERP does, and keeps its identifier', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { external_code: 'C-1' }));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    const [created] = await place.outbox();
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { external_code: 'C-1', phone: '11 5555' }));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    place.drop('points_of_interest', 'c.json', pointOfInterest('New name', { external_code: 'C-1' }));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    const row = await place.entry('C-1');
    expect(row).toMatchObject({ state: 'confirmed', remote_id: created?.remote_id });
    expect(isChangedAfterPush(row)).toBe(false);
    const points = await truth(place, 'points_of_interest');
    expect(points.filter(({ id }) => id === row.remote_id)).toMatchObject([{ title: 'New name', phone: '11 5555' }]);
    expect(place.sandbox.ledger().requests).toMatchObject({
      'create-point-of-interest': 1,
      'change-point-of-interest': 2,
    });
  });

  it('needs no person for a change that waits for the identifier of the point', async () => {
    const place = await makePushPlace({ sandbox: { createdVisibleAfterMs: 600_000, shapes: { created: 'empty' } } });
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop', { external_code: 'C-1' }));
    await place.run(JOB);
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { external_code: 'C-1', phone: '11 5555' }));
    await place.run(JOB);
    expect((await place.entry('C-1')).message).toContain('must show its identifier');
    expect(await pushIssues(place.engine, place.clock.now())).toEqual([]);
  });

  it('changes a point that the service already has under its title, or leaves an equal one alone', async () => {
    const place = await makePushPlace();
    const [first, second] = await truth(place, 'points_of_interest');
    const { title, latitude, longitude } = first as { title: string; latitude: number; longitude: number };
    place.drop('points_of_interest', 'a.json', [
      { title, latitude, longitude },
      pointOfInterest(String(second?.title)),
    ]);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 2 });
    expect(place.sandbox.ledger().requests).toMatchObject({ 'change-point-of-interest': 1 });
    expect(place.sandbox.ledger().requests).not.toHaveProperty('create-point-of-interest');
    expect((await place.outbox()).map(({ remote_id }) => remote_id).sort()).toEqual([first?.id, second?.id].sort());
  });

  it('creates a point for each of two ERP codes with one title', async () => {
    const place = await makePushPlace();
    for (const external_code of ['C-1', 'C-2']) {
      place.drop('points_of_interest', `${external_code}.json`, pointOfInterest('Shop', { external_code }));
      await place.run(JOB);
    }
    expect(new Set((await place.outbox()).map(({ remote_id }) => remote_id)).size).toBe(2);
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 2 });
  });

  it('rejects a change of a vanished point for a person to decide, and creates none', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop'));
    await place.runs(JOB, 2);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: '404' });
    place.drop('points_of_interest', 'b.json', pointOfInterest('Shop', { phone: '1' }));
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 1, rejected: 1 });
    expect(await place.entry('Shop')).toMatchObject({
      state: 'rejected',
      reasons: expect.stringContaining('404'),
    });
    await place.runs(JOB, 2);
    expect(place.sandbox.ledger().requests).toMatchObject({
      'create-point-of-interest': 1,
      'change-point-of-interest': 1,
    });
    await act(place.engine, await place.entry('Shop'), assertAbsent, place.now());
    place.sandbox.clearFaults();
    // The sandbox still has it: the read-back before the send finds it by its title, and it is changed.
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect(place.sandbox.ledger().points_of_interest).toEqual({ Shop: 1 });
  });

  it('completes a lost change without a second point', async () => {
    const place = await makePushPlace();
    place.drop('points_of_interest', 'a.json', pointOfInterest('Shop'));
    await place.run(JOB);
    place.sandbox.addFault({ call: 'change-point-of-interest', fault: 'reset-after-commit', times: 1 });
    place.sandbox.addFault({
      call: 'change-point-of-interest',
      fault: 'reset-before-commit',
      skip: 1,
      times: 1,
    });
    for (const phone of ['1', '2']) {
      place.drop('points_of_interest', `${phone}.json`, pointOfInterest('Shop', { phone }));
      for (let runs = 0; runs < 3; runs++) {
        await place.run(JOB);
        await place.clock.advance(3_600_000);
      }
    }
    const points = await truth(place, 'points_of_interest');
    expect(points.filter(({ title }) => title === 'Shop')).toMatchObject([{ phone: '2' }]);
    expect((await place.outbox())[0]).toMatchObject({ state: 'confirmed' });
  });
});

describe('push-agents', () => {
  const JOB = 'push-agents';

  it('is in the health for a day if the ERP changed it long after it was confirmed', async () => {
    const place = await makePushPlace();
    const [cpf] = CPFS;
    place.drop('agents', 'a.json', agent(cpf));
    await place.run(JOB);
    await place.clock.advance(2 * DAY_MS);
    place.drop('agents', 'b.json', agent(cpf, { name: 'B. Other' }));
    await place.run(JOB);
    const issues = () => pushIssues(place.engine, place.clock.now());
    expect(await issues()).toMatchObject([{ reason: 'differs', entries: 1, jobs: [JOB] }]);
    await place.clock.advance(DAY_MS + 1);
    expect(await issues()).toEqual([]);
  });

  it('creates an agent once, confirms an existing one, and stores no tax number afterwards', async () => {
    const place = await makePushPlace();
    const existing = (await truth(place, 'drivers')).find(({ is_deliveryman }) => is_deliveryman) as {
      id: number;
      cpf: string;
    };
    place.drop('agents', 'a.json', [
      agent(CPFS[0]),
      agent(existing.cpf, { external_code: 'THERE' }),
      // Named by the tax number itself.
      { name: 'No code', cpf: CPFS[1] },
    ]);
    expect(await place.run(JOB)).toMatchObject({
      status: 'partial',
      sent: 2,
      confirmed: 3,
      error: { code: 'differs' },
    });
    expect(place.sandbox.ledger().agents).toEqual({ [CPFS[0]]: 1, [CPFS[1]]: 1 });
    const rows = await place.outbox();
    expect(rows.find(({ external_code }) => external_code === 'THERE')?.remote_id).toBe(existing.id);
    expect(rows.every(({ told_at }) => told_at !== null)).toBe(true);
    const text = JSON.stringify(rows) + place.lines.join('\n');
    for (const cpf of [...CPFS, existing.cpf]) expect(text).not.toContain(cpf);
  });

  it('finds an agent again whose digests were made without a key', async () => {
    const place = await makePushPlace();
    const unnamed = { name: 'No code', cpf: CPFS[1] };
    place.drop('agents', 'a.json', [agent(CPFS[0]), unnamed]);
    await place.run(JOB);
    const now = await place.outbox();
    const plain = (text: string): string => createHash('sha256').update(text).digest('hex');
    expect(JSON.stringify(now)).not.toContain(plain(CPFS[1]).slice(0, 24));
    expect(JSON.stringify(now)).not.toContain(plain(`cpf ${CPFS[1]}`));
    await place.engine.write(async ({ sql }) => {
      const [unkeyed, code] = [`cpf-${plain(CPFS[1]).slice(0, 24)}`, now[1]?.external_code];
      for (const table of ['push_outbox', 'push_attempt'])
        await sql(table).where({ external_code: code }).update({ external_code: unkeyed });
      for (const [name, cpf] of [
        [unkeyed, CPFS[1]],
        ['A-529', CPFS[0]],
      ])
        await sql('push_outbox')
          .where({ external_code: name })
          .update({ remote_key: plain(`cpf ${cpf}`) });
      await keyAgentDigests.up(sql, place.engine);
    });
    expect(await place.outbox()).toEqual(now);
    place.drop('agents', 'b.json', [agent(CPFS[0]), unnamed]);
    expect(await place.run(JOB)).toMatchObject({ unchanged: 2, sent: 0 });
  });
});

describe('push-itineraries', () => {
  const JOB = 'push-itineraries';

  it('changes the itinerary it created, also when it moves to another week', async () => {
    const place = await makePushPlace();
    place.drop('itineraries', 'a.json', itinerary('I1'));
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 1, confirmed: 1 });
    const [created] = await place.outbox();
    place.drop(
      'itineraries',
      'b.json',
      itinerary('I1', {
        date_time_start_estimated: '2025-04-03T08:00:00-03:00',
        date_time_end_estimated: '2025-04-04T18:00:00-03:00',
      }),
    );
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1 });
    expect((await place.outbox())[0]).toMatchObject({ state: 'confirmed', remote_id: created?.remote_id });
    expect(place.sandbox.ledger().requests).toMatchObject({ 'create-itinerary': 1, 'change-itinerary': 1 });
  });
});
