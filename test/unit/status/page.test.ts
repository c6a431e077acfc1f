// The pure parts of the page: its texts in both languages, the points of a plan, the stops on both sides.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { EVENT_CATEGORIES, ROUTE_PLAN_STATUSES, ROUTE_POINT_STATUSES } from '../../../src/core/code-lists.ts';
import { FAULT_TABLE, STATUS_TABLE } from '../../../src/fleet/transport/status-table.ts';
import { lateSeconds } from '../../../src/status/api/day-chart.ts';
import { TOO_MANY } from '../../../src/sync/pull/plan/slice-limits.ts';
import { ATTENTION_REASONS } from '../../../src/sync/push/attention.ts';
import { RUN_CAUSES } from '../../../src/warehouse/control/runs.ts';
import { SHOWN_STATES } from '../../../src/warehouse/outbox/entry.ts';
import { dictionary } from '../../../src/warehouse/schema/dictionary.ts';

const SOURCE = resolve(import.meta.dirname, '../../../src');
const FOLDER = join(SOURCE, 'status/page');

type Catalogue = Record<string, string | { one: string; other: string }>;
const { en } = (await import(`${FOLDER}/texts/en.js`)) as { en: Catalogue };
const { pt } = (await import(`${FOLDER}/texts/pt.js`)) as { pt: Catalogue };
const { ptMeanings } = (await import(`${FOLDER}/texts/meanings.js`)) as { ptMeanings: Record<string, string> };
const { inPortuguese, ptSentences } = (await import(`${FOLDER}/texts/said.js`)) as {
  inPortuguese(sentence: string): string | undefined;
  ptSentences: Record<string, string>;
};
const { ptErrors } = (await import(`${FOLDER}/texts/errors.js`)) as { ptErrors: Record<string, string[]> };

const files = (folder: string, extension: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) === extension)
    .map((name) => readFileSync(join(folder, name), 'utf8'));

const script = files(FOLDER, '.js')
  .filter((text) => !text.includes('export const en =') && !text.includes('export const pt ='))
  .join('\n');

/** The names in braces, and whether the text has a form for one. */
const shapeOf = (text: Catalogue[string] | undefined) => ({
  isPlural: typeof text === 'object',
  names: [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted(),
});

describe('the texts of the page', () => {
  it('are complete in both languages, with the same values in them', () => {
    expect(Object.keys(pt)).toEqual(Object.keys(en));
    for (const key of Object.keys(en)) expect.soft(shapeOf(pt[key]), key).toEqual(shapeOf(en[key]));
  });

  it('are all used, and none is missing', () => {
    const used = new Set([...script.matchAll(/\b(?:t|rich)\(\s*'([\w.]+)'/g)].map(([, key = '']) => key));
    expect([...used].filter((key) => !(key in en))).toEqual([]);
    const groups = new Set([
      ...[...script.matchAll(/\b(?:word|hasWord)\(\s*'(\w+)'/g), ...script.matchAll(/group(?: = |=)"?'?(\w+)/g)].map(
        ([, g]) => g,
      ),
      ...[...script.matchAll(/t\([^'`]*`(\w+)\.\$\{/g)].map(([, g]) => g),
    ]);
    const quoted = (key: string): boolean => script.includes(`'${key}'`);
    const unused = Object.keys(en).filter((key) => !used.has(key) && !quoted(key) && !groups.has(key.split('.')[0]));
    expect(unused).toEqual([]);
  });

  it('have the words of every state, reason and code list', () => {
    const keys = (group: string) =>
      Object.keys(en)
        .filter((key) => key.startsWith(`${group}.`))
        .map((key) => key.slice(group.length + 1));
    for (const group of ['attention', 'says', 'todo'])
      expect(keys(group).toSorted(), group).toEqual([...ATTENTION_REASONS].toSorted());
    expect(keys('entry').toSorted()).toEqual([...SHOWN_STATES].toSorted());
    expect(keys('cause').toSorted()).toEqual([...RUN_CAUSES].toSorted());
    for (const { id, name } of EVENT_CATEGORIES) expect(en[`event.${id}`]).toBe(name);
    for (const { code, name } of ROUTE_PLAN_STATUSES) expect(en[`planStatus.${code}`]).toBe(name);
    for (const { code, name } of ROUTE_POINT_STATUSES) expect(en[`stopStatus.${code}`]).toBe(name);
  });

  it('say what to do in words that fit the list of entries and the page of one', () => {
    const todos = Object.keys(en).filter((key) => key.startsWith('todo.'));
    for (const key of todos) expect.soft(`${en[key]} ${pt[key]}`, key).not.toMatch(/page of the entry|página do item/);
    // The button that it names is there.
    expect(en['todo.unknown']).toContain(`“${en['action.absent']}”`);
    expect(pt['todo.unknown']).toContain(`“${pt['action.absent']}”`);
  });

  it('say in Portuguese what every job does and every table and view holds', async () => {
    const named = [...(await loadJobs()), ...dictionary()].map(({ name }) => name);
    expect(Object.keys(ptMeanings).toSorted()).toEqual(named.toSorted());
  });

  it('say in Portuguese what every error code of a run means, and what to do', () => {
    const parts = ['core', 'erp', 'fleet', 'sync', 'warehouse'].flatMap((part) => files(join(SOURCE, part), '.ts'));
    const written = [...parts.join('\n').matchAll(/\bcode: '([a-z_]+)'/g)].map(([, code = '']) => code);
    const tables = [...Object.values(STATUS_TABLE), ...Object.values(FAULT_TABLE)].map(({ code }) => code);
    // The first is zod's, the other a line of the log.
    const others = ['custom', 'clock_apart'];
    const codes = new Set([...written, ...tables, TOO_MANY].filter((code) => !others.includes(code)));
    expect([...codes].filter((code) => !(code in ptErrors))).toEqual([]);
  });

  it('translate only sentences that the daemon says', () => {
    const program = files(SOURCE, '.ts').join('\n');
    // The longest part without a value in it.
    const longestPart = (sentence: string): string => {
      const parts = sentence.split(/\{\w+\}/).map((part) => part.replace(/^\W+|\W+$/g, ''));
      return parts.reduce((longest, each) => (each.length > longest.length ? each : longest));
    };
    expect(Object.keys(ptSentences).filter((sentence) => !program.includes(longestPart(sentence)))).toEqual([]);
  });

  it('say every sentence about an entry in Portuguese', () => {
    const names = ['actions', 'decide', 'offer', 'outcome', 'run', 'send', 'kinds/answers', 'kinds/route-plans'];
    const source = names.map((name) => readFileSync(join(SOURCE, `sync/push/${name}.ts`), 'utf8')).join('\n');
    const byHand = /BY_HAND = '(.*)'/.exec(source)?.[1] ?? '';
    const sampleOf = (name: string): string => (name === 'BY_HAND' ? byHand : name.endsWith('state') ? 'ready' : '7');
    const sentences = [...source.matchAll(/'([A-Z][^'\n]* [^'\n]*)'|`((?:[A-Z]|\$\{)[^`]* [^`]*)`/g)]
      .map(([, text, template = '']) => text ?? template.replaceAll(/\$\{(.*?)\}/g, (_, name) => sampleOf(name)))
      .filter((sentence) => !ELSEWHERE.some((start) => sentence.startsWith(start)));
    expect(sentences.length).toBeGreaterThan(40);
    expect(sentences.filter((sentence) => inPortuguese(sentence) === undefined)).toEqual([]);
    expect(inPortuguese(`The listing is empty, so it proves nothing; ${byHand}`)).toMatch(
      /^A listagem está vazia, .*; confira/,
    );
    expect(inPortuguese('failed: R-1 is ready: there is nothing to assert')).toBe(
      'falhou: R-1 está pronto: não há o que afirmar',
    );
    expect(inPortuguese('failed: what nobody has translated')).toBeUndefined();
  });
});

/** Sentences of the command line and of runs, and texts with words of the service, with 7 for each value. */
const ELSEWHERE = [
  'The outbox has no entry',
  'Several entries have',
  'Choose one with',
  '7 --use 7',
  '7 is ready: it has no outcome',
  'The ERP is notified once',
  '7: its code',
  'Let the ERP offer it again',
  'The next run notifies the ERP of its outcome',
  'The change is sent again',
  'Nothing is half done',
  'The run was stopped',
  '7: 7',
  '7 7',
  '7 (7)',
  '7; check the service',
  'The answer to a read-back',
  'A proxy may be',
  'The service gave no reason',
];

describe('the points of a plan', () => {
  const rule = { lateAfterMs: 900_000, nowMs: Date.parse('2026-03-10T11:10:00Z') };
  const point = (id: number, type: string, time_scheduled: string | null, executed_at: string | null) => {
    const stop = { id, type, status: executed_at === null ? 'P' : 'E', time_scheduled, executed_at };
    return { ...stop, late_seconds: lateSeconds(stop, rule) };
  };

  it('are numbered as a driver counts them, with the order of execution and the delay', async () => {
    const { numbered } = await import(`${FOLDER}/parts/map.js`);
    const points = [
      point(1, 'PARTIDA', '2026-03-10T08:00:00Z', null),
      point(2, 'Entrega', '2026-03-10T09:00:00Z', '2026-03-10T10:00:00Z'),
      point(3, 'Entrega', '2026-03-10T09:30:00Z', '2026-03-10T09:40:00Z'),
      point(4, 'Entrega', '2026-03-10T11:00:00Z', null),
      point(5, 'CHEGADA', '2026-03-10T12:00:00Z', null),
    ];
    const shown = numbered(points);
    expect(shown.map(({ number }: { number: number | null }) => number)).toEqual([null, 1, 2, 3, null]);
    expect(shown.map(({ driven }: { driven: number | null }) => driven)).toEqual([null, 2, 1, null, null]);
    expect(shown.map(({ late }: { late: number }) => late)).toEqual([0, 3_600, 0, 0, 0]);
  });
});

it('says of a day whether it may be published, and from when: its last table decides', async () => {
  const { conclusion } = await import(`${FOLDER}/views/days.js`);
  const { setZone } = await import(`${FOLDER}/words.js`);
  setZone('America/Sao_Paulo');
  const table = (status: string, expected_final_at: string | null = null) => ({ status, expected_final_at });
  const later = [table('provisional', '2026-11-20T03:00:00Z'), table('provisional', '2026-11-18T03:00:00Z')];
  const said = (...tables: object[]): string => conclusion({ day: '2026-11-16', tables });
  expect(said(table('final'))).toContain('Mon 16 Nov, is final in every table');
  const final = { day: '2026-11-16', tables: [table('final')] };
  expect(conclusion(final, [{}])).toContain('is final in every table, but its figures may lack records');
  expect(said(table('final'), ...later)).toContain(
    'Mon 16 Nov, is not final yet: do not publish it before Fri 20 Nov, 00:00',
  );
  expect(said(...later, table('provisional'))).toContain('a plan of it is still open');
  expect(said(...later, { ...table('hole'), table_name: 'checklist' })).toContain('Not read completely: checklist');
});

it('is green over yesterday only if it is final and no table has records in quarantine or drift', async () => {
  const { Yesterday } = await import(`${FOLDER}/views/days.js`);
  const sound = { name: 'event', in_quarantine: 0, drift_ratio: 0 };
  const shown = (status: string, table: object): string => {
    const day = { day: '2026-11-16', ends_at: '', tables: [{ table_name: 'event', status, expected_final_at: null }] };
    return Yesterday({ days: [day, day], tables: [table] }).props.class;
  };
  expect(shown('final', sound)).toBe('banner ok');
  expect(shown('final', { ...sound, in_quarantine: 2 })).toBe('banner late');
  expect(shown('final', { ...sound, drift_ratio: 0.1 })).toBe('banner late');
  expect(shown('provisional', sound)).toBe('banner late');
  expect(shown('hole', sound)).toBe('banner bad');
});

it('counts the late stops of plans from the ERP, where the service has others too and all are known', async () => {
  const { lateOfErp } = await import(`${FOLDER}/views/day-plans.js`);
  const row = (entry: object | null, stops_late_open: number) => ({ entry, plan: { stops_late_open } });
  const rows = [
    row({}, 2),
    row(null, 4),
    { entry: {}, plan: null, step: 'rejected' },
    row({}, 1),
    { ...row({}, 8), step: 'gone' },
  ];
  expect(lateOfErp({ steps: { in: 2, rejected: 1, foreign: 1 }, rows, cut: false })).toBe(3);
  expect(lateOfErp({ steps: { in: 2, rejected: 1, foreign: 1 }, rows, cut: true })).toBeUndefined();
  expect(lateOfErp({ steps: { in: 5 }, rows, cut: false })).toBeUndefined();
  const unread = { entry: {}, plan: null, step: 'unknown' };
  expect(lateOfErp({ steps: { in: 2, unknown: 1, foreign: 1 }, rows: [...rows, unread], cut: false })).toBeUndefined();
});

describe('the stops of ERP and service', async () => {
  const { pairsOf, PlanCompared } = await import(`${FOLDER}/views/plan-stops.js`);
  const place = { latitude: -23.5, longitude: -46.6 };
  const own = (name: string, order: number | null, fields = {}) => ({ name, order, ...place, ...fields });
  const there = (name: string, planned_order: number | null, fields = {}) => ({
    name,
    planned_order,
    ...place,
    ...fields,
  });
  const differing = (sent: object[], remote: object[]): string[][] =>
    pairsOf(sent, remote).map(({ differs }: { differs: string[] }) => differs);

  it('are paired by name, and it is said how they differ', () => {
    const sent = [own('Depot', 1), own('A', 2), own('B', 3), own('B', 4), own('C', 5)];
    const remote = [there('Depot', 1), there('A', 2, { latitude: -23.6 }), there('B', 3), there('B', 5), there('D', 6)];
    expect(differing(sent, remote)).toEqual([[], ['place'], [], ['order'], ['onlyHere'], ['onlyThere']]);
  });

  it('differ in nothing if several have one name, in whatever order either side lists them', () => {
    const north = { latitude: -23.4 };
    const sent = [own('Depot', 3, north), own('A', 2), own('Depot', 1)];
    expect(differing(sent, [there('Depot', 1), there('A', 2), there('Depot', 3, north)])).toEqual([[], [], []]);
    const unordered = [own('Depot', null), own('Depot', null, north)];
    expect(differing(unordered, [there('Depot', 1, north), there('Depot', 2)])).toEqual([[], []]);
  });

  it('of one name are paired by order before place, and shown in the order of the stops', () => {
    const sent = [own('Depot', 4, { latitude: -23.4 }), own('Depot', 1), own('C', 3)];
    const pairs = pairsOf(sent, [there('D', 2), there('Depot', 4), there('Depot', 5)]);
    const shown = pairs.map((pair: Record<'own' | 'there', Record<string, unknown> | null>) => [
      pair.own?.order ?? null,
      pair.there?.planned_order ?? null,
    ]);
    expect(shown).toEqual([
      [1, 5],
      [null, 2],
      [3, null],
      [4, 4],
    ]);
  });

  it('that look equal although the plans differ: a field that is not compared or a hidden value differs', () => {
    const shown = (name: string): string => {
      const plan = { plates: null, starts_at: null, ends_at: null, offered_at: '2026-03-10T08:00:00.000Z' };
      const content = { ...plan, stops: [own('***', 1)], origin: 'a.csv row 2' };
      return JSON.stringify(PlanCompared({ content, remote: { plan: {}, stops: [there(name, 1)] }, differs: true }));
    };
    expect(shown('***')).toMatch(/field that is not compared.*value that the privacy policy hides/);
    expect(shown('C')).not.toContain('privacy policy');
    expect(pt['plan.otherField']).toMatch(/campo que não é comparado.*valor que a política de privacidade oculta/);
  });
});

describe('the overall health', async () => {
  const { shownOverall } = (await import(`${FOLDER}/reasons.js`)) as {
    shownOverall(status: { health: string; reasons: { code: string }[] }): string;
  };

  it.each([
    ['late', ['push_unknown', 'job_late'], 'late'],
    ['late', ['deadline_missed'], 'late'],
    ['late', ['push_unknown', 'drift'], 'warning'],
    ['failing', ['job_failing', 'push_unknown'], 'failing'],
    ['ok', [], 'ok'],
  ])('that is %s because of %j is called %s', (health, codes, shown) => {
    expect(shownOverall({ health, reasons: codes.map((code) => ({ code })) })).toBe(shown);
  });
});

describe('the readings of a view', async () => {
  type Read = { data?: unknown; error?: { status: number } };
  const { keepReading } = (await import(`${FOLDER}/parts/page.js`)) as {
    keepReading(
      readOnce: (signal: AbortSignal) => Promise<unknown>,
      take: (read: Read) => void,
      everyMs?: number,
    ): { again(): void; close(): void };
  };

  /** Each reading ends when the test answers it. */
  function startReading() {
    const asked: (PromiseWithResolvers<unknown> & { signal: AbortSignal })[] = [];
    const taken: Read[] = [];
    const { again, close } = keepReading(
      (signal) => {
        const answer = Promise.withResolvers<unknown>();
        asked.push({ ...answer, signal });
        return answer.promise;
      },
      ({ data, error }) => void taken.push(error === undefined ? { data } : { error }),
      0,
    );
    onTestFinished(close);
    return { asked, taken, again, close };
  }

  it('shows an answer that was under way when something changed, then reads once more', async () => {
    const { asked, taken, again } = startReading();
    again();
    again();
    expect(asked).toHaveLength(1);
    asked[0]?.resolve('one');
    await expect.poll(() => asked.length).toBe(2);
    expect(taken).toEqual([{ data: 'one' }]);
    asked[1]?.resolve('two');
    await expect.poll(() => taken.length).toBe(2);
    expect(asked).toHaveLength(2);
  });

  it('tries again without an answer, but not after the answer of an error', async () => {
    const { asked, taken } = startReading();
    asked[0]?.reject({ status: 0 });
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.reject({ status: 500 });
    await expect.poll(() => taken).toEqual([{ error: { status: 0 } }, { error: { status: 500 } }]);
    expect(asked).toHaveLength(2);
  });

  it('shows nothing of an address that was left', async () => {
    const { asked, taken, again, close } = startReading();
    close();
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.resolve('late');
    again();
    await Promise.resolve();
    expect([asked.length, taken]).toEqual([1, []]);
  });
});
