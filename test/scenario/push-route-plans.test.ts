// Route plans from a drop folder to the service, run by run: what is sent, what is refused and why, what is told.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { missedDeadlines } from '../../src/sync/push/push-deadline.ts';
import { makePushPlace, type PushPlace } from '../support/push-place.ts';
import { CPFS, type OutboxRow, plan } from '../support/push-samples.ts';

const JOB = 'push-route-plans';
const MINUTE_MS = 60_000;

const resultOf = (place: PushPlace, folder: 'done' | 'failed', name: string) =>
  JSON.parse(readFileSync(join(place.folder('route_plans'), folder, `${name}.result.json`), 'utf8'));

describe('push-route-plans', () => {
  it('sends each plan once, learns its identifier and moves the file with its result', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    place.drop('route_plans', 'b.json', plan('P3'));
    const summary = await place.run(JOB);
    expect(summary).toMatchObject({
      status: 'ok',
      sent: 3,
      confirmed: 3,
      rejected: 0,
      unknown: 0,
      inserted: 3,
    });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
    const rows = await place.outbox();
    expect(rows.map(({ state, payload, message }) => ({ state, payload, message }))).toEqual(
      Array(3).fill({ state: 'confirmed', payload: null, message: null }),
    );
    expect(rows.every(({ remote_id, told_at }) => remote_id !== null && told_at !== null)).toBe(true);
    const done = join(place.folder('route_plans'), 'done');
    expect(readdirSync(done).sort()).toEqual([
      'a.json',
      'a.json.result.json',
      'b.json',
      'b.json.result.json',
    ]);
    expect(JSON.stringify(resultOf(place, 'done', 'a.json'))).toContain(`"remote_id":${rows[0]?.remote_id}`);
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', sent: 0, requests: 0 });
  });

  it('has as many sends under way at once as it may', async () => {
    let underWay = 0;
    let most = 0;
    const place = await makePushPlace({
      answering: async ({ pathname }, _original, { method }) => {
        if (method === 'GET' || !pathname.startsWith('/import/')) return undefined;
        most = Math.max(most, ++underWay);
        // The other lanes wait to claim by now; what they have claimed is on its way, and is waited for.
        await place.engine.write(async () => undefined);
        const isAwaited = ({ state }: OutboxRow) => state === 'sending';
        while (underWay < (await place.outbox()).filter(isAwaited).length) await nextTurn();
        underWay--;
        return undefined;
      },
    });
    place.parts.concurrency = 3;
    place.drop(
      'route_plans',
      'a.json',
      ['P1', 'P2', 'P3', 'P4', 'P5'].map((code) => plan(code)),
    );
    expect(await place.run(JOB)).toMatchObject({ status: 'ok', confirmed: 5 });
    expect(most).toBe(3);
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1, P4: 1, P5: 1 });
  });

  it('refuses a plan that breaks the rules with every reason, and sends the others', async () => {
    const place = await makePushPlace();
    const bad = plan('BAD', { date_time_end: '2025-03-12T08:00:00-03:00', vehicle_plate: 'nonsense' });
    place.drop('route_plans', 'a.json', [bad, plan('GOOD')]);
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', sent: 1, confirmed: 1, rejected: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ GOOD: 1 });
    const [row] = await place.outbox();
    expect(row).toMatchObject({ external_code: 'BAD', state: 'rejected', payload: null, attempts: 0 });
    expect(JSON.parse(row?.reasons ?? '[]')).toHaveLength(2);
    expect(JSON.stringify(resultOf(place, 'failed', 'a.json'))).toContain('date_time_end');
  });

  it('stores what the service refuses, and confirms a plan that it takes in part', async () => {
    const place = await makePushPlace();
    const crowd = Array.from({ length: 70 }, (_, i) => ({
      name: `Stop ${i}`,
      latitude: -23.5 - i / 1_000,
      longitude: -46.6,
      external_code: `S${i}`,
    }));
    place.drop('route_plans', 'a.json', [
      plan('NOBODY', { vehicle_plate: 'ZZZ0Z00' }),
      plan('CROWD', { route_points: crowd, options: { optimize: true } }),
    ]);
    expect(await place.run(JOB)).toMatchObject({ status: 'partial', confirmed: 1, rejected: 1 });
    const [part, refused] = await place.outbox();
    expect(part).toMatchObject({ external_code: 'CROWD', state: 'confirmed' });
    expect(part?.message).toMatch(/Accepted in part; 10 refused/);
    expect(JSON.parse(part?.reasons ?? '[]')[0]).toMatch(/point not assigned: S\d+/);
    expect(refused).toMatchObject({ external_code: 'NOBODY', state: 'rejected' });
    expect(refused?.reasons).toContain('No vehicle has this plate');
  });

  it('takes a plan again that changed while it was refused, and leaves an equal one alone', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1', { vehicle_plate: 'ZZZ0Z00' }));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { vehicle_plate: 'ZZZ0Z00' }));
    expect(await place.run(JOB)).toMatchObject({ sent: 0, unchanged: 1 });
    expect(resultOf(place, 'failed', 'b.json')).toBeDefined();
    place.drop('route_plans', 'c.json', plan('P1'));
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 1, updated: 1 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('flags a plan that the ERP changed after it was confirmed, tells it once, and never sends it', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { date_time_end: '2025-03-13T20:00:00-03:00' }));
    expect(await place.run(JOB)).toMatchObject({ sent: 0 });
    const [row] = await place.outbox();
    expect(row).toMatchObject({ state: 'confirmed', changed_after_push: 1 });
    expect(JSON.stringify(resultOf(place, 'done', 'b.json'))).toContain(
      'changed it after the service had it',
    );
    const toldAt = row?.told_at;
    await place.clock.advance(MINUTE_MS);
    await place.run(JOB);
    expect((await place.outbox())[0]?.told_at).toBe(toldAt);
    place.drop('route_plans', 'c.json', plan('P1'));
    await place.run(JOB);
    expect((await place.outbox())[0]).toMatchObject({
      state: 'confirmed',
      changed_after_push: 0,
      message: null,
    });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1 });
  });

  it('passes a change after confirmation over where the policy says so', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', { date_time_end: '2025-03-13T20:00:00-03:00' }));
    await place.run(JOB, { after_confirmation: 'ignore' });
    expect((await place.outbox())[0]).toMatchObject({
      state: 'confirmed',
      changed_after_push: 0,
      message: null,
    });
  });

  it('does not send what the service has already, as after a lost outbox', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1'), plan('P2')]);
    await place.run(JOB);
    await place.engine.write(async ({ sql }) => {
      await sql('push_attempt').delete();
      await sql('push_outbox').delete();
    });
    place.drop('route_plans', 'b.json', [plan('P1'), plan('P2'), plan('P3')]);
    expect(await place.run(JOB)).toMatchObject({ sent: 1, confirmed: 3 });
    expect(place.sandbox.ledger().plans).toEqual({ P1: 1, P2: 1, P3: 1 });
    expect((await place.outbox())[0]?.message).toMatch(/had it already/);
  });

  it('names every identifier where the service has a plan more than once', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    const [{ remote_id } = { remote_id: 0 }] = await place.outbox();
    const record = { id: 999_999, external_code: 'P1', status: 'P' };
    await fetch(`${place.sandbox.url}/_sandbox/records`, {
      method: 'POST',
      body: JSON.stringify({ call: 'route-plans', records: [record] }),
    });
    await place.engine.write(({ sql }) => sql('push_outbox').delete());
    place.drop('route_plans', 'b.json', plan('P1'));
    await place.run(JOB);
    const [row] = await place.outbox();
    expect(row?.state).toBe('confirmed');
    expect(row?.message).toContain(`${remote_id}, 999999`);
    expect(place.lines.join('\n')).toContain('found_twice');
  });

  it('watches a plan that is optimised afterwards until it is done, and tells where that failed', async () => {
    const place = await makePushPlace();
    const codes = Array.from({ length: 60 }, (_, i) => `A${String(i).padStart(2, '0')}`);
    const options = { optimize: true, geocoding: false, is_async: true };
    place.drop(
      'route_plans',
      'a.json',
      codes.map((code) => plan(code, { options })),
    );
    expect(await place.run(JOB)).toMatchObject({ confirmed: 60 });
    expect((await place.outbox()).every(({ is_watched, state }) => state === 'confirmed' && is_watched)).toBe(
      true,
    );
    await place.clock.advance(5 * MINUTE_MS);
    await place.run(JOB);
    const rows = await place.outbox();
    expect(rows.every(({ is_watched }) => !is_watched)).toBe(true);
    const failed = rows.filter(({ remote_status }) => remote_status === 'I');
    expect(failed.length).toBeGreaterThan(0);
    expect(
      failed.every(({ message, state }) => state === 'confirmed' && /could not optimise/.test(message ?? '')),
    ).toBe(true);
    expect(await place.run(JOB)).toMatchObject({ requests: 0 });
  });

  it('says by the deadline which plans of tomorrow are not confirmed', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', [plan('P1', { vehicle_plate: 'ZZZ0Z00' }), plan('P2')]);
    expect((await place.run(JOB, { deadline: '18:00' })).error).toBeNull();
    await place.clock.advance(7 * 60 * MINUTE_MS);
    const { error, status } = await place.run(JOB, { deadline: '18:00' });
    expect(error).toMatchObject({ code: 'deadline_missed' });
    expect(error?.message).toContain('P1 (rejected)');
    expect(error?.message).not.toContain('P2');
    expect(status).not.toBe('ok');
    const asked = { deadline: '18:00', timezone: 'America/Sao_Paulo', now: place.clock.now() };
    expect(await missedDeadlines(place.engine, asked)).toEqual([{ external_code: 'P1', state: 'rejected' }]);
    expect(await missedDeadlines(place.engine, { ...asked, deadline: '23:00' })).toEqual([]);
  });

  it.each([
    ['names by the deadline one that was moved to tomorrow while its outcome is unknown', '12', '13', true],
    ['does not name by the deadline one that was moved away from tomorrow', '13', '15', false],
  ])('%s', async (_, from, to, isNamed) => {
    const place = await makePushPlace();
    const on = (day: string) => ({
      date_time_start: `2025-03-${day}T08:00:00-03:00`,
      date_time_end: `2025-03-${day}T18:00:00-03:00`,
    });
    place.sandbox.addFault({ call: 'import-route-plan', fault: 'reset-before-commit' });
    place.drop('route_plans', 'a.json', plan('P1', on(from)));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', plan('P1', on(to)));
    await place.clock.advance(8 * 60 * MINUTE_MS);
    const { error } = await place.run(JOB, { deadline: '18:00' });
    expect(error?.code === 'deadline_missed').toBe(isNamed);
  });

  it('shows in a dry run what would happen, and does none of it', async () => {
    const place = await makePushPlace();
    place.drop('route_plans', 'a.json', plan('P1'));
    await place.run(JOB);
    place.drop('route_plans', 'b.json', [
      plan('P1', { date_time_end: '2025-03-13T20:00:00-03:00' }),
      plan('NEW'),
      plan('BAD', { document_number: '11111111111' }),
    ]);
    const before = [await place.outbox(), place.sandbox.ledger().requests];
    const lines = await place.preview(JOB);
    expect(lines.map(({ what }) => what)).toEqual(['flag as changed after push', 'send', 'reject']);
    expect(JSON.stringify(lines[2])).toContain('document_number');
    expect([await place.outbox(), place.sandbox.ledger().requests]).toEqual(before);
    expect(readdirSync(place.folder('route_plans'))).toContain('b.json');
  });

  it('keeps a tax number no longer than it may have to be sent, and never logs it', async () => {
    const place = await makePushPlace();
    const [cpf] = CPFS;
    place.drop('route_plans', 'a.json', plan('P1', { document_number: cpf }));
    await place.run(JOB);
    expect((await place.outbox())[0]).toMatchObject({ state: 'rejected' });
    await place.clock.advance(8 * 24 * 60 * MINUTE_MS);
    await place.run(JOB);
    const dumps = await Promise.all(
      ['push_outbox', 'push_attempt', 'sync_run'].map((table) => place.engine.read((sql) => sql(table))),
    );
    expect(JSON.stringify(dumps)).not.toContain(cpf);
    expect(place.lines.join('\n')).not.toContain(cpf);
  });
});
