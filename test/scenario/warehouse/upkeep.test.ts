import { closeSync, existsSync, openSync, readdirSync, statSync, symlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeWorkplace } from '../../support/process/workplace.ts';
import { DAY, openRig } from '../../support/pull/pull-setup.ts';

const START = '2026-03-02T15:00:00Z';
type Rig = Awaited<ReturnType<typeof openRig>>;

const count = async (rig: Rig, table: string, where = '1 = 1'): Promise<number> =>
  Number((await rig.rows(`select count(*) as n from "${table}" where ${where}`))[0]?.n);

const folderOf = (rig: Rig): string => dirname(String(rig.settings.file));

describe('maintain-warehouse', () => {
  it('deletes nothing by default', async () => {
    const rig = await openRig(START, { vehicles: 4 });
    await rig.run('pull-events', { since: '3d' });
    const before = await count(rig, 'event');
    await rig.clock.advance(900 * DAY);
    expect(await rig.run('maintain-warehouse')).toMatchObject({ status: 'ok', records: 0 });
    expect(before).toBeGreaterThan(0);
    expect(await count(rig, 'event')).toBe(before);
  });

  it('deletes rows past their limit, and lists them in a dry run', async () => {
    const rig = await openRig(START, { vehicles: 4 });
    await rig.run('pull-events', { since: '10d' });
    await rig.clock.advance(35 * DAY);
    // The start of a local day, so that no day is cut in two.
    const cut = '2026-02-27T03:00:00.000Z';
    const old = await count(rig, 'event', `begin_date < '${cut}'`);
    const young = await count(rig, 'event', `begin_date >= '${cut}'`);
    expect(Math.min(old, young)).toBeGreaterThan(0);
    const options = { retention: { event: '38d' } };
    expect(await rig.preview('maintain-warehouse', options)).toEqual([
      { what: 'event', detail: { before: cut, rows: old }, calls: 0 },
    ]);
    expect(await count(rig, 'event')).toBe(old + young);
    expect(await rig.run('maintain-warehouse', options)).toMatchObject({ records: old, updated: old });
    expect(await count(rig, 'event')).toBe(young);
    expect(await count(rig, 'event', `begin_date < '${cut}'`)).toBe(0);
  });

  it('deletes the stops, executions and items of a plan with it and leaves no orphan', async () => {
    const rig = await openRig(START, { vehicles: 4 });
    await rig.run('pull-route-plans', { since: '10d' });
    await rig.clock.advance(35 * DAY);
    const before = await count(rig, 'route_point_item');
    await rig.run('maintain-warehouse', { retention: { route_plan: '38d' } });
    expect(await count(rig, 'route_plan')).toBeGreaterThan(0);
    expect(await count(rig, 'route_point_item')).toBeLessThan(before);
    for (const [part, column, owner] of [
      ['route_point', 'route_plan_id', 'route_plan'],
      ['route_point_execution', 'route_point_id', 'route_point'],
      ['route_point_item', 'route_point_id', 'route_point'],
    ]) {
      expect(await count(rig, `${part}`)).toBeGreaterThan(0);
      expect(await count(rig, `${part}`, `${column} not in (select id from ${owner})`)).toBe(0);
    }
  });

  it('reports a damaged file', async () => {
    const rig = await openRig(START, { vehicles: 4 });
    await rig.run('pull-events', { since: '3d' });
    await rig.engine.upkeep();
    const file = join(folderOf(rig), 'warehouse.db');
    const handle = openSync(file, 'r+');
    const garbage = Buffer.alloc(4_096, 0x5a);
    for (let at = Math.floor(statSync(file).size / 8_192) * 4_096; at < statSync(file).size - 4_096; at += 8_192)
      writeSync(handle, garbage, 0, garbage.length, at);
    closeSync(handle);
    const summary = await rig.run('maintain-warehouse').catch((error) => ({ error }));
    expect(summary.error?.code).toMatch(/warehouse_/);
  });
});

it.each(['maintain-warehouse', 'verify-warehouse'])(
  '%s that was stopped early says so, so that it is run again',
  async (job) => {
    const rig = await openRig(START, { vehicles: 1 });
    await rig.run('pull-vehicles');
    const { error } = await rig.run(job, {}, undefined, AbortSignal.abort());
    expect(error?.code).toBe('stopped');
  },
);

describe('a backup', () => {
  it('is a complete copy made while a write is in progress', async () => {
    const rig = await openRig(START, { vehicles: 4 });
    await rig.run('pull-events', { since: '3d' });
    const copy = join(folderOf(rig), 'copy.db');
    const before = await count(rig, 'event');
    const undone = new Error('undone');
    const written = rig.engine.write(async ({ sql }) => {
      await sql('event').delete();
      await rig.engine.backup(copy);
      throw undone;
    });
    await expect(written).rejects.toBe(undone);
    const opened = new DatabaseSync(copy, { readOnly: true });
    expect(opened.prepare('select count(*) as n from event').get()).toEqual({ n: before });
    expect(opened.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    opened.close();
    expect(existsSync(copy)).toBe(true);
    expect(readdirSync(folderOf(rig)).filter((name) => name.startsWith('copy'))).toEqual(['copy.db']);
  });

  it('never replaces the warehouse itself, and leaves no part behind', async () => {
    const place = makeWorkplace('warehouse: { file: data/w.tmp }\n');
    onTestFinished(() => place.remove());
    const backup = (out: string) => place.runHere(['backup', '--force', '--out', out]);
    expect(await backup('copy.db')).toMatchObject({ code: 0 });
    const file = join(place.dir, 'data', 'w.tmp');
    const before = statSync(file).ino;
    symlinkSync(join(place.dir, 'data'), join(place.dir, 'link'));
    for (const out of ['data/w.tmp', 'config/../data/w.tmp', 'link/w.tmp', 'data/w.tmp-wal', 'data/w'])
      expect(await backup(out)).toMatchObject({ code: 2, stderr: expect.stringContaining('warehouse itself') });
    expect(statSync(file).ino).toBe(before);
    expect(await backup('config')).toMatchObject({ code: 1 });
    expect(readdirSync(place.dir).toSorted()).toEqual(['config', 'copy.db', 'data', 'link']);
  });
});
