// Pictures of checklists: the files on disk, their names, how often each is requested, and that a picture that cannot
// be fetched affects nothing else.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Retriable } from '../../../src/core/errors.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { newPictures } from '../../../src/sync/pull/resources/checklists/pictures.ts';
import type { Source } from '../../../src/sync/pull/types.ts';
import type { OwnAnswer } from '../../support/fleet/front.ts';
import { configFor, makeWorkplace } from '../../support/process/workplace.ts';
import { DAY, expectBalance, HOUR, openRig, putBefore } from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';

const START = '2026-03-05T15:00:00Z';
const JOB = 'pull-checklists';
const FILE = /^[0-9a-f]{2}\/[0-9a-f]{64}\.(?:png|jpg|gif|webp|bin)$/;

const png = (content: string): Buffer =>
  Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from(content)]);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** A service with one checklist whose answers name these pictures, and a picture call defined by the test. */
async function oneChecklist(names: readonly unknown[], picture: (name: string) => OwnAnswer) {
  const rig = await openRig(START);
  const asked: string[] = [];
  const date_executed = new Date(rig.clock.now() - HOUR).toISOString();
  const checklist = { id: 1, date_executed, date_created: date_executed, count_items: names.length };
  const answers = names.map((name, id) => ({ id, checklist_id: 1, value: 'Good', picture: name }));
  await putBefore(rig, (url) => {
    if (url.pathname === '/checklist/') return { body: { data: [checklist] } };
    if (url.pathname === '/checklist_form_field_executed/') return { body: { data: answers } };
    if (url.pathname !== '/checklist/picture/') return undefined;
    const name = url.searchParams.get('picture') ?? '';
    asked.push(name);
    return picture(name);
  });
  return { rig, asked };
}

const imagesOf = async (rig: Rig) =>
  Object.fromEntries((await rig.rows('select * from image')).map((row) => [row.hash as string, row]));

describe('pictures', () => {
  it('are on disk byte for byte as the service has them, named by their digest', async () => {
    const rig = await openRig(START, { vehicles: 6, shapes: { picture: 'data-uri' } });
    await rig.run(JOB, { since: '3d' });
    const rows = await rig.rows('select * from image');
    expect(rows.length).toBeGreaterThan(10);
    const login = JSON.stringify(rig.sandbox.credentials);
    const session = await fetch(`${rig.sandbox.url}/auth/login/`, { method: 'POST', body: login });
    const { access_token } = (await session.json()) as { access_token: string };
    for (const { hash, file, sha256: digest, bytes } of rows) {
      const answer = await fetch(`${rig.sandbox.url}/checklist/picture/?picture=${hash}`, {
        headers: { authorization: `Bearer ${access_token}` },
      });
      const served = Buffer.from((await answer.text()).replace(/^data:.*,/, ''), 'base64');
      const kept = readFileSync(join(rig.dependencies.images, String(file)));
      expect(kept.equals(served)).toBe(true);
      expect([digest, bytes, file]).toEqual([
        sha256(served),
        served.length,
        `${sha256(served).slice(0, 2)}/${sha256(served)}.png`,
      ]);
    }
    const joined = await rig.rows(
      'select count(*) as n from checklist join image on image.hash = checklist.signature where file is not null',
    );
    expect(joined).toEqual(await rig.rows('select count(*) as n from checklist'));
  });

  it('cannot leave their folder, whatever their name is', async () => {
    const hostile = [
      '../../x',
      '../../../../tmp/roadbook-escape',
      '/etc/roadbook-escape',
      'a/b',
      'C:\\x',
      '..',
      '.',
      'x\u2028y',
      '%2e%2e%2fx.png',
      'x'.repeat(200),
      'con.png',
      '__proto__',
      "'; drop table image; --",
    ];
    const { rig, asked } = await oneChecklist([...hostile, 'y'.repeat(5_000), '', null], (name) => ({
      body: png(name).toString('base64'),
    }));
    const summary = await rig.run(JOB, { since: '2d' });
    expect(summary.status).toBe('ok');
    expectBalance(summary);
    expect(asked.toSorted()).toEqual(hostile.toSorted());
    const images = await imagesOf(rig);
    for (const name of hostile) {
      const digest = sha256(png(name));
      expect(images[name]).toMatchObject({ sha256: digest, file: `${digest.slice(0, 2)}/${digest}.png` });
    }
    const files = filesBelow(rig.dependencies.images);
    expect(files.length).toBe(hostile.length);
    expect(files.filter((file) => !FILE.test(file))).toEqual([]);
    const beside = readdirSync(dirname(rig.dependencies.images)).filter((name) => !name.startsWith('warehouse.db'));
    expect(beside).toEqual(['images']);
  });

  it('of the same content are one file', async () => {
    const { rig } = await oneChecklist(['first', 'second.png', 'third'], (name) => ({
      body: { data: png(name === 'third' ? 'other' : 'same').toString('base64') },
    }));
    await rig.run(JOB, { since: '2d' });
    const { first, 'second.png': second, third } = await imagesOf(rig);
    expect(first?.file).toBe(second?.file);
    expect(third?.file).not.toBe(first?.file);
    expect(filesBelow(rig.dependencies.images).length).toBe(2);
  });

  it('that many slices name at the same time are requested once, and every slice succeeds', async () => {
    const rig = await openRig(START);
    const lists = Array.from({ length: 8 }, (_, index) => {
      const date_executed = new Date(rig.clock.now() - (index * 3 + 1) * DAY).toISOString();
      return {
        id: index + 1,
        date_executed,
        date_created: date_executed,
        count_items: 1,
        signature: 'shared',
      };
    });
    const asked: string[] = [];
    let opened = 0;
    // The shared picture arrives only when other slices have got as far.
    const isLate = Promise.withResolvers<void>();
    await putBefore(rig, async (url) => {
      const of = (name: string): string => url.searchParams.get(name) ?? '';
      if (url.pathname === '/checklist/') {
        const data = lists.filter(
          (list) => list.date_executed >= of('date_time_start') && list.date_executed < of('date_time_end'),
        );
        return { body: { data } };
      }
      if (url.pathname === '/checklist_form_field_executed/') {
        opened++;
        if (opened === 3) isLate.resolve();
        return {
          body: {
            data: [{ id: Number(of('id')), checklist_id: Number(of('id')), picture: `own${of('id')}` }],
          },
        };
      }
      if (url.pathname !== '/checklist/picture/') return undefined;
      asked.push(of('picture'));
      if (of('picture') === 'shared') await isLate.promise;
      await rig.clock.advance(1_000);
      return { body: png(of('picture')).toString('base64') };
    });
    const summary = await rig.run(JOB, { since: '30d' });
    expect(summary).toMatchObject({ status: 'ok', updated: 0 });
    expectBalance(summary);
    expect(asked.toSorted()).toEqual([...lists.map(({ id }) => `own${id}`), 'shared'].toSorted());
    expect(Object.keys(await imagesOf(rig)).toSorted()).toEqual(asked.toSorted());
    expect(rig.logLines.filter((line) => line.includes('stale_read'))).toEqual([]);
  });

  it('that a slice cannot fetch are fetched by another slice that waits for them', async () => {
    const rig = await openRig(START);
    const isAsked = Promise.withResolvers<void>();
    const isWaiting = Promise.withResolvers<void>();
    const source = (call: () => Promise<unknown>) =>
      ({
        call,
        mapCalls: (items: readonly unknown[], work: (item: unknown, source: unknown) => Promise<unknown>) =>
          Promise.all(items.map((item) => work(item, source(call)))),
        atEnd: () => undefined,
        warehouse: rig.engine,
        images: rig.dependencies.images,
        mayStore: true,
        readAt: START,
      }) as object;
    const failing = newPictures(
      ['shared'],
      source(async () => {
        isAsked.resolve();
        await isWaiting.promise;
        throw new Retriable('Stopped', { code: 'service_unreachable', hint: '' });
      }) as Source,
      1,
    );
    await isAsked.promise;
    const content = { bytes: png('shared'), contentType: 'image/png' };
    const other = newPictures(['shared'], source(() => Promise.resolve(content)) as Source, 1);
    isWaiting.resolve();
    await expect(failing).rejects.toThrow('Stopped');
    expect(await other).toMatchObject([{ hash: 'shared', sha256: sha256(content.bytes) }]);
  });

  it('that cannot be fetched are rows with a reason; everything else loads', async () => {
    const bodies: Record<string, OwnAnswer> = {
      good: { body: png('good').toString('base64') },
      large: { body: png('x'.repeat(2_000)).toString('base64') },
      broken: { body: 'this is not Base64 at all!' },
      absent: { status: 404, body: { message: 'No such picture' } },
      failing: { status: 500, body: 'oops' },
      rejected: { status: 414, body: '' },
    };
    const { rig } = await oneChecklist(Object.keys(bodies), (name) => bodies[name]!);
    const summary = await rig.run(JOB, { since: '2d', max_picture_mb: 0.001 });
    expect(summary).toMatchObject({ status: 'ok', slices: 1, records: 13, inserted: 13 });
    const images = await imagesOf(rig);
    const errors = Object.fromEntries(Object.keys(bodies).map((name) => [name, images[name]?.error]));
    expect(errors).toEqual({
      good: null,
      large: 'picture_too_large',
      broken: 'bad_answer',
      absent: 'not_found',
      failing: 'service_failed',
      rejected: 'too_large',
    });
    expect(filesBelow(rig.dependencies.images).length).toBe(1);
    for (const { error, file } of Object.values(images)) expect(error === null).toBe(file !== null);
  });

  it('that failed are tried five times in all, at growing intervals, and a good one only once', async () => {
    const { rig, asked } = await oneChecklist(['good', 'absent'], (name) =>
      name === 'good' ? { body: png('good').toString('base64') } : { status: 404, body: {} },
    );
    const attemptsAfter: number[] = [];
    for (let round = 0; round < 40; round++) {
      await rig.run(JOB, { since: '2d' });
      attemptsAfter.push(asked.filter((name) => name === 'absent').length);
      await rig.clock.advance(10 * 60_000);
    }
    expect(attemptsAfter.indexOf(5)).toBe(15);
    expect(attemptsAfter.at(-1)).toBe(5);
    expect(asked.filter((name) => name === 'good').length).toBe(1);
    expect((await imagesOf(rig)).absent).toMatchObject({ attempts: 5, file: null, error: 'not_found' });
    expect(await rig.rows("select status from sync_run where job = 'pull-checklists' and status <> 'ok'")).toEqual([
      { status: 'partial' },
    ]);
    expect(await rig.rows('select table_name, record_key, reason from sync_quarantine')).toEqual([
      { table_name: 'image', record_key: 'absent', reason: 'no file after 5 requests: not_found' },
    ]);
  });

  it('that the service failed to send for two days are fetched once it is back, at few requests meanwhile', async () => {
    let answer: OwnAnswer = { status: 500, body: 'oops' };
    const { rig } = await oneChecklist(['late', 'never'], (name) =>
      name === 'late' || answer.status === 500 ? answer : { status: 404, body: {} },
    );
    for (let round = 0; round < 48; round++) {
      await rig.run(JOB, { since: '2d' });
      await rig.clock.advance(HOUR);
    }
    const { late, never } = await imagesOf(rig);
    expect(late).toMatchObject({ error: 'service_failed', file: null });
    expect(Number(late?.attempts)).toBeGreaterThan(5);
    expect(Number(late?.attempts)).toBeLessThan(10);
    expect(never?.attempts).toBe(late?.attempts);
    expect(rig.logLines.filter((line) => line.includes('pictures not fetched'))).toHaveLength(Number(late?.attempts));
    answer = { body: png('late').toString('base64') };
    await rig.clock.advance(DAY);
    await rig.run(JOB, { since: '2d' });
    const back = await imagesOf(rig);
    expect(back.late).toMatchObject({ error: null, bytes: png('late').length });
    // The first answer about the picture itself.
    expect(back.never).toMatchObject({ error: 'not_found', attempts: 1 });
    expect(await rig.rows('select 1 from sync_quarantine')).toEqual([]);
  });

  it('that become available later get their file', async () => {
    let isThere = false;
    const { rig } = await oneChecklist(['late'], () =>
      isThere ? { body: png('late').toString('base64') } : { status: 404, body: {} },
    );
    await rig.run(JOB, { since: '2d' });
    isThere = true;
    // Long after the checklist is complete and out of the period.
    await rig.clock.advance(5 * DAY);
    await rig.run(JOB, { since: '2d' });
    expect((await imagesOf(rig)).late).toMatchObject({ error: null, attempts: 2, bytes: png('late').length });
  });

  it('that cannot be stored stop the run, and no row names a file that does not exist', async () => {
    const { rig } = await oneChecklist(['good'], () => ({ body: png('good').toString('base64') }));
    writeFileSync(rig.dependencies.images, 'in the way');
    const summary = await rig.run(JOB, { since: '2d' });
    expect(summary).toMatchObject({ status: 'failed', error: { code: 'images_unwritable' } });
    expect(await rig.rows('select 1 from image union all select 1 from checklist')).toEqual([]);
    expect(await rig.rows('select 1 from sync_coverage')).toEqual([]);
  });

  it('are loaded by the real command, with everything else', async () => {
    const sandbox = await startSandbox({ vehicles: 4, churn: false });
    const options = 'jobs: { pull-checklists: { since: 10d }, pull-itineraries: { since: 7d } }\n';
    const place = makeWorkplace(configFor(sandbox.url, options));
    for (const job of ['pull-drivers', 'pull-points-of-interest', 'pull-itineraries', JOB]) {
      const { code, stdout, stderr } = await place.run(['run', job, '--json']);
      expect([code, stderr], job).toEqual([0, '']);
      expectBalance(JSON.parse(stdout));
    }
    const named = await place.query<{ file: string }>('select distinct file from image');
    expect(filesBelow(join(place.dir, 'data', 'images')).toSorted()).toEqual(named.map(({ file }) => file).toSorted());
    const counts = await place.query(
      'select (select count(*) from driver) as drivers, (select count(*) from point_of_interest) > 0 as points',
    );
    expect(counts).toEqual([{ drivers: 4, points: 1 }]);
    place.remove();
    await sandbox.close();
  });
});
