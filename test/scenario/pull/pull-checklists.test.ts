import { describe, expect, it } from 'vitest';
import { checklist } from '../../../src/warehouse/tables/checklist.ts';
import { checklistAnswer } from '../../../src/warehouse/tables/checklist-answer.ts';
import {
  addRecords,
  DAY,
  expectBalance,
  expectTruth,
  HOUR,
  missing,
  openRig,
  putBefore,
  removeRecords,
  requestsOf,
} from '../../support/pull/pull-setup.ts';
import type { Rig } from '../../support/pull/rig.ts';

const START = '2026-03-05T15:00:00Z';
const JOB = 'pull-checklists';
const SHORT_SETTLE = { since: '2d', settle: '1h' };

type TrueChecklist = Record<string, unknown> & { id: number; answers: Record<string, unknown>[] };

const at = (rig: Rig, ms: number): string => new Date(rig.clock.now() + ms).toISOString();
const truthSince = async (rig: Rig, from: string) =>
  (await rig.truth('checklists', { from, to: at(rig, 0) })) as TrueChecklist[];

/** The flags of a form's field are numbers at the service. */
const withFlags = (answer: Record<string, unknown>) => {
  const field = answer.checklist_form_field as Record<string, unknown>;
  const { can_photo, can_additional_data } = field;
  return {
    ...answer,
    checklist_form_field: {
      ...field,
      can_photo: can_photo === 1,
      can_additional_data: can_additional_data === 1,
    },
  };
};

async function expectChecklists(rig: Rig, truth: readonly TrueChecklist[]): Promise<void> {
  await expectTruth(rig, checklist, truth);
  const answers = truth.flatMap((one) => one.answers);
  await expectTruth(rig, checklistAnswer, answers.map(withFlags));
}

const picturesIn = (truth: readonly TrueChecklist[]): Set<unknown> =>
  new Set(
    truth
      .flatMap((one) => [one.signature, ...one.answers.map(({ picture }) => picture)])
      .filter((name) => name !== null),
  );

describe('pull-checklists', () => {
  it('stores checklists, answers and pictures through weeks of late arrivals, each picture fetched once', async () => {
    const rig = await openRig(START, { vehicles: 10, seed: 2 });
    const from = at(rig, -5 * DAY);
    for (let round = 0; round < 60; round++) {
      const summary = await rig.run(JOB, { since: '5d' });
      expect(summary.status).toBe('ok');
      expectBalance(summary);
      if (round % 20 === 19) await expectChecklists(rig, await truthSince(rig, from));
      await rig.clock.advance(9 * HOUR);
    }
    await rig.run(JOB, { since: '5d' });
    const truth = await truthSince(rig, from);
    // Some arrived almost two days late, between two polls.
    expect(truth.some((one) => lag(one) > 44 * HOUR)).toBe(true);
    await expectChecklists(rig, truth);
    const names = picturesIn(truth);
    const images = await rig.rows('select hash from image where file is not null and error is null');
    expect(new Set(images.map(({ hash }) => hash))).toEqual(names);
    expect(requestsOf(rig, 'checklist-picture')).toBe(names.size);
    expect(requestsOf(rig, 'checklist')).toBe(0);
  });

  it('keeps fields without a column in extra', async () => {
    const rig = await openRig(START);
    await rig.run(JOB, { since: '2d' });
    const [expected] = await truthSince(rig, at(rig, -2 * DAY));
    const [row] = await rig.rows(`select extra from checklist where id = ${expected!.id}`);
    const { identifier_fields, executed } = expected as TrueChecklist;
    expect(JSON.parse(String(row?.extra))).toEqual({ identifier_fields, executed });
    const answer = expected!.answers[0] as {
      id: number;
      checklist_form_field: { table: { items: unknown } };
    };
    const [kept] = await rig.rows(`select extra from checklist_answer where id = ${answer.id}`);
    const { items } = answer.checklist_form_field.table;
    expect(JSON.parse(String(kept?.extra))).toEqual({ checklist_form_field: { table: { items } } });
  });

  it('changes nothing the second time, and requests no picture again', async () => {
    const rig = await openRig(START);
    await rig.run(JOB, { since: '2d' });
    const tables = ['checklist', 'checklist_answer', 'image'];
    const all = () => Promise.all(tables.map((name) => rig.rows(`select * from ${name}`)));
    const before = await all();
    expect(before.every((rows) => rows.length > 0)).toBe(true);
    const pictures = requestsOf(rig, 'checklist-picture');
    const summary = await rig.run(JOB, { since: '2d' });
    expect(summary).toMatchObject({ inserted: 0, updated: 0 });
    expect(summary.unchanged).toBe(summary.records);
    expect(requestsOf(rig, 'checklist-picture')).toBe(pictures);
    expect(await all()).toEqual(before);
  });

  it('makes one call when every checklist is complete', async () => {
    const rig = await openRig(START);
    await rig.run(JOB, SHORT_SETTLE);
    // Into the night, when no checklist is filled in.
    await rig.clock.advance(14 * HOUR);
    await rig.run(JOB, SHORT_SETTLE);
    const calls = ['checklists', 'checklist', 'checklist-answers', 'checklist-picture'];
    const before = calls.map((call) => requestsOf(rig, call));
    await rig.clock.advance(HOUR);
    const { records, unchanged } = await rig.run(JOB, SHORT_SETTLE);
    expect(records).toBeGreaterThan(0);
    expect(unchanged).toBe(records);
    expect(calls.map((call, index) => requestsOf(rig, call) - before[index]!)).toEqual([1, 0, 0, 0]);
  });

  it('opens a completed checklist again when its summary changes', async () => {
    const rig = await openRig(START);
    await rig.run(JOB, SHORT_SETTLE);
    await rig.clock.advance(3 * HOUR);
    await rig.run(JOB, SHORT_SETTLE);
    const answers = requestsOf(rig, 'checklist-answers');
    const [some] = await truthSince(rig, at(rig, -DAY));
    await putBefore(rig, async (url, original) => {
      if (url.pathname !== '/checklist/') return undefined;
      const { data } = (await original()) as { data: TrueChecklist[] };
      return { body: { data: data.map((one) => (one.id === some!.id ? { ...one, latitude: 1 } : one)) } };
    });
    expect(await rig.run(JOB, SHORT_SETTLE)).toMatchObject({ updated: 1, inserted: 0 });
    expect(requestsOf(rig, 'checklist-answers')).toBe(answers + 1);
  });

  it('commits nothing of a slice whose answers fail half-way, and all of it later', async () => {
    const rig = await openRig(START);
    rig.sandbox.addFault({ call: 'checklist-answers', fault: '422', skip: 3, times: 1 });
    expect((await rig.run(JOB, { since: '2d' })).status).toBe('failed');
    for (const table of ['checklist', 'checklist_answer', 'image', 'sync_coverage'])
      expect(await rig.rows(`select 1 from ${table}`), table).toEqual([]);
    expect((await rig.run(JOB, { since: '2d' })).status).toBe('ok');
    await expectChecklists(rig, await truthSince(rig, at(rig, -2 * DAY)));
  });

  it('reads a late checklist although the part of the lookback that holds it failed once', async () => {
    const rig = await openRig(START);
    await rig.run(JOB, { since: '5d' });
    const lateAt = at(rig, -DAY);
    await rig.clock.advance(1.5 * DAY);
    const late = { id: 7, date_executed: lateAt, date_created: at(rig, 0), count_items: 0 };
    let isRejected = true;
    await putBefore(rig, (url) => {
      const { date_time_start = '', date_time_end = '' } = Object.fromEntries(url.searchParams);
      if (url.pathname !== '/checklist/' || date_time_start > lateAt || date_time_end <= lateAt) return undefined;
      return isRejected ? { status: 422, body: {} } : { body: { data: [late] } };
    });
    expect(await rig.run(JOB, { since: '5d' })).toMatchObject({ status: 'partial', slices: 2 });
    isRejected = false;
    expect(await rig.run(JOB, { since: '5d' })).toMatchObject({ status: 'ok' });
    expect(await rig.rows('select id from checklist where id = 7')).toEqual([{ id: 7 }]);
  });

  it('marks a checklist that the service no longer knows together with its answers, and unmarks them on return', async () => {
    const rig = await openRig(START);
    const answered = async () => {
      await addRecords(rig, 'checklists', [{ id: 7, date_executed: at(rig, -DAY), date_created: at(rig, -DAY) }]);
      await addRecords(rig, 'checklist-answers', [{ id: 70, checklist_id: 7, value: 'Good' }]);
    };
    await answered();
    expectBalance(await rig.run(JOB, { since: '2d' }));
    await removeRecords(rig);
    await rig.run(JOB, { since: '2d' });
    expect([await missing(rig, checklist), await missing(rig, checklistAnswer)]).toEqual([[7], [70]]);
    expect(requestsOf(rig, 'checklist')).toBe(1);
    await answered();
    expect(await rig.run(JOB, { since: '2d' })).toMatchObject({ updated: 2, inserted: 0 });
    expect([await missing(rig, checklist), await missing(rig, checklistAnswer)]).toEqual([[], []]);
  });

  it('marks both even when other records have no id', async () => {
    const rig = await openRig(START);
    await addRecords(rig, 'checklists', [{ id: 7, date_executed: at(rig, -DAY), date_created: at(rig, -DAY) }]);
    await addRecords(rig, 'checklist-answers', [{ id: 70, checklist_id: 7, value: 'Good' }]);
    await rig.run(JOB, { since: '2d' });
    await removeRecords(rig);
    await addRecords(rig, 'checklists', [{ date_executed: at(rig, -DAY) }]);
    await addRecords(rig, 'checklist-answers', [{ value: 'of nothing' }]);
    await rig.run(JOB, { since: '2d' });
    expect([await missing(rig, checklist), await missing(rig, checklistAnswer)]).toEqual([[7], [70]]);
  });

  it('quarantines invalid summaries and answers and loads the others', async () => {
    const rig = await openRig(START);
    await addRecords(rig, 'checklists', [{ id: 7, date_executed: 'yesterday' }]);
    await addRecords(rig, 'checklist-answers', [{ value: 'of nothing' }]);
    const summary = await rig.run(JOB, { since: '2d' });
    expect(summary.status).toBe('partial');
    expectBalance(summary);
    const reasons = await rig.rows('select table_name, count(*) as n from sync_quarantine group by 1 order by 1');
    const truth = await truthSince(rig, at(rig, -2 * DAY));
    expect(reasons).toEqual([
      { table_name: 'checklist', n: 1 },
      { table_name: 'checklist_answer', n: truth.length },
    ]);
    await expectChecklists(rig, truth);
  });

  it('cuts a search that is too large and stores the same rows', async () => {
    const rig = await openRig(START);
    rig.sandbox.addFault({ call: 'checklists', fault: '413', times: 3 });
    const summary = await rig.run(JOB, { since: '2d' });
    expect(summary).toMatchObject({ status: 'ok' });
    expectBalance(summary);
    await expectChecklists(rig, await truthSince(rig, at(rig, -2 * DAY)));
  });
});

const lag = (one: TrueChecklist): number =>
  Date.parse(String(one.date_created)) - Date.parse(String(one.date_executed));
