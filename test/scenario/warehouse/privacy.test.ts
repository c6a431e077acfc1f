// Planted values must be nowhere in the bytes of the warehouse: not in a column, not in `extra`, not in the
// quarantine, and not in the pages that SQLite leaves behind after an overwrite.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/core/privacy-policy.ts';
import { readFact, writeFact } from '../../../src/warehouse/control/learned-facts.ts';
import { createPrivacy, personalColumns } from '../../../src/warehouse/privacy/privacy.ts';
import { enforcePrivacy } from '../../../src/warehouse/privacy/rewrite.ts';
import { addRecords, openRig, putBefore } from '../../support/pull/pull-setup.ts';
import type { EngineName } from '../../support/warehouse/engines.ts';

const START = '2026-03-02T15:00:00Z';
const SECRET = 'a secret of this test';
const DEFAULTS = Object.fromEntries([...personalColumns].map(([name, { column }]) => [name, column.policy]));

const PLANTED = {
  cpf: '935.411.347-80',
  rg: '48.291.733-1',
  cnh: '98765432109',
  nested: '52998224725',
  number: 15350946056,
  stray: '111.444.777-35',
};

const person = {
  id: 9_001,
  name: 'Planted Person',
  cpf: PLANTED.cpf,
  rg: PLANTED.rg,
  cnh_number: PLANTED.cnh,
  emergency: { contact_cpf: PLANTED.nested },
};
/** A number does not fit the column, so it would stay in `extra`. */
const numbered = { id: 9_002, name: 'Numbered', cpf: PLANTED.number };
const invalidRecord = { id: 'not a number', name: 'InvalidRecord', cpf: PLANTED.stray, rg: PLANTED.rg };

type Rig = Awaited<ReturnType<typeof openRig>>;

/** Every byte of the warehouse's files. */
function bytesOf(rig: Rig): string {
  const folder = dirname(String(rig.settings.file));
  const own = readdirSync(folder).filter((name) => name.startsWith('warehouse.db'));
  return own.map((name) => readFileSync(join(folder, name), 'latin1')).join('\n');
}

const found = (rig: Rig): string[] => plantedIn(bytesOf(rig));

const plantedIn = (bytes: string): string[] =>
  Object.entries(PLANTED)
    .filter(([, value]) => bytes.includes(String(value)) || bytes.includes(String(value).replace(/\D/g, '')))
    .map(([name]) => name);

async function rigWith(policies: Record<string, Policy>, engine: EngineName = 'sqlite') {
  const privacy = createPrivacy(policies, SECRET);
  const rig = await openRig(START, {}, { engine, dependencies: { privacy } });
  await putBefore(rig, (url) =>
    url.pathname === '/driver/'
      ? {
          body: {
            data: url.searchParams.get('is_deliveryman') === '1' ? [person, numbered, invalidRecord] : [],
          },
        }
      : undefined,
  );
  return rig;
}

const enforce = (rig: Rig, policies: Record<string, Policy>, secret = SECRET) =>
  enforcePrivacy(rig.engine, createPrivacy(policies, secret), {
    clock: rig.clock,
    log: rig.dependencies.log,
  });

describe('personal values', () => {
  it.each([
    ['keep', [{ count: 2 }], 0],
    ['drop', [], 2],
  ] as const)(
    '%s: rows of one driver from two answers are added up only if they are known to be one driver',
    async (policy, stored, quarantined) => {
      const privacy = createPrivacy({ 'driver.name': policy }, SECRET);
      const rig = await openRig(START, { vehicles: 1, churn: false }, { dependencies: { privacy } });
      await addRecords(
        rig,
        'vehicles',
        Array.from({ length: 600 }, (_, at) => ({ id: 1_000_000 + at })),
      );
      await rig.run('pull-vehicles');
      await rig.run('pull-drivers');
      await putBefore(rig, (url) => {
        if (url.pathname !== '/daily_summary/') return undefined;
        const isOfDrivers = url.searchParams.get('aggregated_fields')?.includes('driver') === true;
        return { body: { data: isOfDrivers ? [{ title: 'Planted Person', count: 1 }] : [] } };
      });
      const run = await rig.run('pull-daily-summaries', { since: '1h' });
      expect(await rig.rows('select count from daily_summary')).toEqual(stored);
      expect(run.quarantined).toBe(quarantined);
    },
  );

  it('are nowhere in the files by default, and equal values stay equal', async () => {
    const rig = await rigWith(DEFAULTS);
    const summary = await rig.run('pull-drivers');
    expect(summary).toMatchObject({ records: 3, inserted: 2, quarantined: 1 });
    expect(found(rig)).toEqual([]);
    const [stored] = await rig.rows(`select cpf, rg, cnh_number, name, extra from driver where id = 9001`);
    expect(stored).toMatchObject({ cpf: expect.stringMatching(/^h:[0-9a-f]{32}$/), name: 'Planted Person' });
    expect(JSON.parse(String(stored?.extra))).toEqual({
      emergency: { contact_cpf: expect.stringMatching(/^h:[0-9a-f]{32}$/) },
    });
    const again = await rig.run('pull-drivers');
    expect(again).toMatchObject({ inserted: 0, updated: 0, unchanged: 2 });
  });

  it('are in the files when the policy keeps them, so that the search above can find them', async () => {
    const rig = await rigWith({});
    await rig.run('pull-drivers');
    expect(found(rig)).toEqual(expect.arrayContaining(['cpf', 'rg', 'cnh', 'nested', 'number']));
  });

  it('are rewritten when the policy becomes stricter, overwritten pages included', async () => {
    const rig = await rigWith({});
    await rig.run('pull-drivers');
    await enforce(rig, DEFAULTS);
    expect(found(rig)).toEqual([]);
    const hashed = await rig.rows('select cpf from driver where id = 9001');
    await enforce(rig, { ...DEFAULTS, 'driver.cpf': 'drop', 'driver.name': 'mask' });
    expect(await rig.rows('select cpf, name from driver where id = 9001')).toEqual([
      { cpf: null, name: '************on' },
    ]);
    expect(hashed).toEqual([{ cpf: expect.stringMatching(/^h:/) }]);
    expect(bytesOf(rig)).not.toContain('Planted Person');
    expect(bytesOf(rig)).not.toContain(String(hashed[0]?.cpf));
  });

  it('are rewritten only in the tables that a changed policy concerns', async () => {
    const rig = await rigWith({ ...DEFAULTS, 'driver.name': 'hash' });
    await rig.run('pull-drivers');
    const byHand = async () => {
      await rig.engine.write(({ sql }) => sql('driver').where({ id: 9001 }).update({ name: 'By Hand' }));
      await enforce(rig, policies);
      return (await rig.rows('select name from driver where id = 9001'))[0]?.name;
    };
    let policies: Record<string, Policy> = { ...DEFAULTS, 'driver.name': 'hash' };
    await enforce(rig, policies);
    policies = { ...policies, 'event.driver_name': 'drop' };
    expect(await byHand()).toBe('By Hand');
    policies = { ...policies, 'driver.email': 'drop' };
    expect(await byHand()).toMatch(/^h:/);
  });

  it('are rewritten in PostgreSQL too', async () => {
    const rig = await rigWith({}, 'postgres');
    expect(await rig.run('pull-drivers')).toMatchObject({ inserted: 2, quarantined: 1 });
    await enforce(rig, DEFAULTS);
    const [{ rows } = {}] = await rig.rows(
      `select (select json_agg(d)::text from driver d) || (select json_agg(q)::text from sync_quarantine q) as rows`,
    );
    expect(plantedIn(String(rows))).toEqual([]);
    expect(String(rows)).toContain('"cpf":"h:');
    expect(await rig.rows('select cpf is null as gone from driver where id = 9001')).toEqual([{ gone: 0 }]);
  });

  it('are scrubbed by the next start if the start that rewrote them was cut', async () => {
    const rig = await rigWith({});
    await rig.run('pull-drivers');
    const scrub = rig.engine.scrub;
    rig.engine.scrub = () => Promise.reject(new Error('cut'));
    await expect(enforce(rig, DEFAULTS)).rejects.toThrow('cut');
    rig.engine.scrub = scrub;
    await enforce(rig, DEFAULTS);
    expect(found(rig)).toEqual([]);
  });

  it('are found in lists and objects under the name of a document, in any spelling', () => {
    const { filter } = createPrivacy(DEFAULTS, SECRET);
    const [driver] = [...personalColumns.values()].filter(({ table }) => table.name === 'driver');
    const hidden = filter(driver?.table as never).record({
      cpfs: ['935.411.347-80'],
      user: { cpf: { number: '93541134780' } },
      driverCpf: '93541134780',
      rg_number: '48.291.733-1',
      cnh_category: 'D',
    });
    expect(JSON.stringify(hidden)).not.toMatch(/935|482|291/);
    expect(hidden).toMatchObject({ cnh_category: 'D', driverCpf: expect.stringMatching(/^h:/) });
  });

  it('are found in `extra` by every name that the rule knows', () => {
    const { table } = personalColumns.get('driver.cpf') ?? {};
    const { extra } = createPrivacy(DEFAULTS, SECRET).filter(table as never);
    const names = ['numero-rg', 'doc2Rg', 'RG', 'driver rgs', 'nr.cpf', '2cnh_3Cnh'];
    for (const name of names) expect(extra(JSON.stringify({ [name]: PLANTED.rg }))).toMatch(/"h:[0-9a-f]{32}"/);
  });

  it('that an earlier rule did not find are rewritten once', async () => {
    const rig = await rigWith(DEFAULTS);
    await rig.run('pull-drivers');
    await enforce(rig, DEFAULTS);
    const { rule: _, ...facts } = (await readFact<Record<string, unknown>>(rig.engine, 'privacy')) ?? {};
    await rig.engine.write(async (tx) => {
      await writeFact(tx, 'privacy', facts, rig.clock.now());
      await tx.sql('driver').update({ extra: JSON.stringify({ 'numero-rg': PLANTED.rg }) });
    });
    await enforce(rig, DEFAULTS);
    expect(found(rig)).toEqual([]);
  });

  it('that were masked get no digest when the policy becomes hash: one mask stands for many people', async () => {
    const rig = await rigWith({ 'driver.name': 'mask', 'driver.cpf': 'mask' });
    await rig.run('pull-drivers');
    const hash: Record<string, Policy> = { 'driver.name': 'hash', 'driver.cpf': 'hash' };
    await enforce(rig, hash);
    expect(await rig.rows('select name, cpf, extra from driver order by id')).toEqual([
      { name: null, cpf: null, extra: JSON.stringify({ emergency: {} }) },
      { name: null, cpf: null, extra: null },
    ]);
    Object.assign(rig.dependencies, { privacy: createPrivacy(hash, SECRET) });
    expect(await rig.run('pull-drivers')).toMatchObject({ updated: 2 });
    const [row] = await rig.rows('select count(distinct name) as people from driver');
    expect(row).toEqual({ people: 2 });
  });

  it('return with the next read when the policy is relaxed', async () => {
    const rig = await rigWith(DEFAULTS);
    await enforce(rig, DEFAULTS);
    await rig.run('pull-drivers');
    await enforce(rig, {});
    Object.assign(rig.dependencies, { privacy: createPrivacy({}, SECRET) });
    expect(await rig.run('pull-drivers')).toMatchObject({ updated: 2 });
    expect(await rig.rows('select cpf from driver where id = 9001')).toEqual([{ cpf: PLANTED.cpf }]);
  });

  it('are rejected under another secret, because digests would no longer be equal', async () => {
    const rig = await rigWith(DEFAULTS);
    await enforce(rig, DEFAULTS);
    await expect(enforce(rig, DEFAULTS, 'another secret')).rejects.toMatchObject({
      code: 'privacy_secret_differs',
    });
  });

  it('are not stored by a process that still runs with earlier policies', async () => {
    const rig = await rigWith({});
    await enforce(rig, DEFAULTS);
    const { status, error } = await rig.run('pull-drivers');
    expect([status, error?.code]).toEqual(['failed', 'privacy_policies_differ']);
    expect(await rig.rows('select count(*) as n from driver')).toEqual([{ n: 0 }]);
    expect(found(rig)).toEqual([]);
  });

  it('in a key are hashed again after a time without that policy', async () => {
    const policies: Record<string, Policy> = { 'daily_summary.title': 'hash' };
    const rig = await openRig(START, {}, { dependencies: { privacy: createPrivacy(policies, SECRET) } });
    const pull = () => rig.run('pull-daily-summaries', { since: '2d' });
    const days = () =>
      rig.rows(`select subject, title, day from daily_summary where _missing_since is null order by 1, 2, 3`);
    await pull();
    const hashed = await days();
    await enforce(rig, {});
    Object.assign(rig.dependencies, { privacy: createPrivacy({}, SECRET) });
    await pull();
    expect(await days()).not.toEqual(hashed);
    await enforce(rig, policies);
    expect(await days()).toEqual(hashed);
    expect(await rig.rows(`select count(*) as n from daily_summary`)).toEqual([{ n: hashed.length }]);
  });

  it('match the driver of a daily summary by a hashed name', async () => {
    const rig = await openRig(
      START,
      {},
      {
        dependencies: { privacy: createPrivacy({ 'driver.name': 'hash' }, SECRET) },
      },
    );
    await rig.run('pull-daily-summaries', { since: '2d' });
    const [row] = await rig.rows(
      `select count(*) as days, count(driver_id) as owned from daily_summary where subject = 'driver'`,
    );
    expect(row?.days).toBeGreaterThan(0);
    expect(row?.owned).toBe(row?.days);
  });

  it('in the key of a day and of its revisions are hashed alike', async () => {
    const rig = await openRig(START);
    await rig.run('pull-daily-summaries', { since: '2d' });
    const [day] = await rig.rows(`select title from daily_summary where subject = 'driver' limit 1`);
    const revision = { day: '2026-03-01', subject: 'driver', figure: 'x', observed_at: START, run_id: 'r' };
    await rig.engine.write(({ sql }) => sql('daily_summary_revision').insert({ ...revision, ...day }));
    await enforce(rig, { 'daily_summary.title': 'hash' });
    expect(bytesOf(rig)).not.toContain(`driver${day?.title}`);
    const joined = await rig.rows(
      'select title from daily_summary_revision where title in (select title from daily_summary)',
    );
    expect(joined).toEqual([{ title: expect.stringMatching(/^h:/) }]);
  });

  it('of a quarantined record change, and its number stays its key', async () => {
    const rig = await openRig(START);
    // Its check digits are those of a tax number, so it is masked in the payload.
    await addRecords(rig, 'drivers', [{ ...invalidRecord, id: 52_998_224_725, customer_id: 'never' }]);
    await rig.run('pull-drivers');
    await enforce(rig, { 'driver.name': 'drop' });
    const [kept] = await rig.rows('select payload, record_key from sync_quarantine');
    expect(kept).toEqual({ payload: expect.not.stringContaining('"name"'), record_key: '52998224725' });
  });

  it('of a quarantined record fit once the record does', async () => {
    const rig = await openRig(START, {}, { dependencies: { privacy: createPrivacy(DEFAULTS, SECRET) } });
    await addRecords(rig, 'drivers', [invalidRecord]);
    await rig.run('pull-drivers');
    const [kept] = await rig.rows('select payload from sync_quarantine');
    expect(JSON.parse(String(kept?.payload))).toMatchObject({ cpf: expect.stringMatching(/^h:/) });
  });
});
