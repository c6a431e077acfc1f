// roadbook doctor --probe against each variant of the sandbox: it reports how the service behaves, and changes nothing there.
import { expect, it, onTestFinished } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import { type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { alertConditions } from '../../../src/status/alerts/alerts.ts';
import type { CheckResult } from '../../../src/status/doctor/check-result.ts';
import { probeChecks } from '../../../src/status/doctor/doctor.ts';
import type { Reason } from '../../../src/status/health/reasons.ts';
import { unfitAnswers } from '../../../src/status/health/unfit-answers.ts';
import {
  isChange,
  knownLimit,
  newestAnswers,
  type ProbeAnswer,
  type Question,
  storeAnswers,
} from '../../../src/sync/probe/answers.ts';
import { limitOfListing, limitOfSearch } from '../../../src/sync/probe/listing-limit.ts';
import { MOST_PROBE_CALLS, type ProbeReport, probeService } from '../../../src/sync/probe/probe.ts';
import type { Span } from '../../../src/sync/pull/plan/windows.ts';
import { configFor, makeWorkplace } from '../../support/process/workplace.ts';
import { addRecords, DAY, putBefore } from '../../support/pull/pull-setup.ts';
import { makeRig, type Rig } from '../../support/pull/rig.ts';
import { makePushPlace } from '../../support/push/push-place.ts';
import { plan } from '../../support/push/push-samples.ts';
import { makeStatusPlace } from '../../support/status/status-place.ts';

const START = '2026-03-10T18:00:00.000Z';

async function rigWith(sandbox: SandboxOptions, startAt = START): Promise<Rig> {
  const rig = await makeRig({ startAt, sandbox: { vehicles: 12, churn: false, ...sandbox } });
  onTestFinished(() => rig.close());
  return rig;
}

const switchTo = (rig: Rig, shapes: SandboxOptions['shapes']) =>
  fetch(`${rig.sandbox.url}/_sandbox/shapes`, { method: 'POST', body: JSON.stringify(shapes) });

const answersIn = ({ answers }: ProbeReport) =>
  Object.fromEntries(answers.map(({ question, answer }) => [question, answer])) as Record<Question, string | null>;

it.each<[string, SandboxOptions, Partial<Record<Question, string | null>>]>([
  [
    'its defaults',
    {},
    {
      plan_search: 'overlap',
      plan_period_ends: 'both',
      plan_listing: expect.stringMatching(/^at least \d{2,} records$/),
      event_search: 'start',
      event_period_ends: 'both',
      event_listing: expect.stringMatching(/^at least \d{2,} records$/),
      vehicle_ids: 'at least 12',
      vehicle_listing: 'at least 12 records',
      agent_listing: expect.stringMatching(/^at least \d+ records$/),
      driver_listing: expect.stringMatching(/^at least \d+ records$/),
      point_of_interest_listing: expect.stringMatching(/^at least \d+ records$/),
      renewal: 'refresh-bearer, body, access-bearer',
      import_delay: null,
    },
  ],
  ['a search by start', { shapes: { planSearch: 'start' } }, { plan_search: 'start', plan_period_ends: 'both' }],
  [
    'a search for plans within the period',
    { shapes: { planSearch: 'containment', periodEnds: 'exclusive' } },
    { plan_search: 'containment', plan_period_ends: 'begin only' },
  ],
  ['a search by full days', { shapes: { planSearch: 'days' } }, { plan_search: 'days', plan_period_ends: null }],
  [
    'periods without their ends',
    { shapes: { periodEnds: 'exclusive' } },
    { plan_search: 'overlap', plan_period_ends: 'begin only', event_search: 'start', event_period_ends: 'begin only' },
  ],
  [
    'listings cut off',
    { vehicles: 40, shapes: { listingCap: 9 } },
    {
      plan_listing: '9 records',
      event_listing: '9 records',
      vehicle_listing: '9 records',
      agent_listing: '9 records',
      driver_listing: '9 records',
      point_of_interest_listing: '9 records',
    },
  ],
  ['few vehicles in a query', { shapes: { mostVehicleIds: 5 } }, { vehicle_ids: '5' }],
  ['the refresh token as bearer', { renewal: 'refresh-bearer' }, { renewal: 'refresh-bearer' }],
  ['a refresh token that is replaced', { renewal: 'body', rotateRefresh: true }, { renewal: 'body' }],
  // The refresh token in the body is ignored, and the access token beside it accepted.
  ['the access token as bearer', { renewal: 'access-bearer' }, { renewal: 'body, access-bearer' }],
  ['no renewal', { renewal: 'none' }, { renewal: 'login' }],
])('reports %s', async (_, sandbox, expected) => {
  const rig = await rigWith(sandbox);
  const report = await probeService(rig.dependencies, { isSeen: true });
  expect(answersIn(report)).toMatchObject(expected);
  const { requests, plans, points_of_interest, agents, itineraries } = rig.sandbox.ledger();
  expect(report.calls).toBe(Object.values(requests).reduce((sum, n) => sum + n, 0));
  expect(report.calls).toBeLessThanOrEqual(MOST_PROBE_CALLS);
  expect([plans, points_of_interest, agents, itineraries].flatMap(Object.keys)).toEqual([]);
});

it('says what is missing where the service has no plan and no trip', async () => {
  const rig = await rigWith({}, '2022-03-10T18:00:00.000Z');
  const { answers } = await probeService(rig.dependencies, { isSeen: true });
  const unknown = answers.filter(({ answer }) => answer === null);
  expect(unknown.map(({ question }) => question)).toEqual([
    'plan_search',
    'plan_period_ends',
    'plan_listing',
    'event_search',
    'event_period_ends',
    'event_listing',
    'import_delay',
  ]);
  for (const { evidence } of unknown) expect(evidence).toMatch(/^no /);
});

it('leaves only the questions open whose call is rejected, and asks none for a disabled job', async () => {
  const rig = await rigWith({ faults: [{ call: 'route-plans', fault: '403' }] });
  const { answers } = await probeService(rig.dependencies, { isSeen: true });
  const known = answers.filter(({ answer }) => answer !== null).map(({ question }) => question);
  const whole = ['vehicle_listing', 'agent_listing', 'driver_listing', 'point_of_interest_listing'];
  const ofEvents = ['event_search', 'event_period_ends', 'event_listing', 'vehicle_ids'];
  expect(known).toEqual([...ofEvents, ...whole, 'renewal']);
  expect(answers.find(({ question }) => question === 'plan_search')?.evidence).toContain('403');
  rig.sandbox.clearFaults();
  rig.sandbox.addFault({ call: 'events', fault: '404' });
  const second = answersIn(await probeService(rig.dependencies, { isSeen: true }));
  expect(second).toMatchObject({ plan_search: 'overlap', event_search: null, event_listing: null, vehicle_ids: null });
  const before = rig.sandbox.ledger().requests.events;
  const isEnabled = (job: string): boolean => job !== 'pull-events';
  const third = answersIn(await probeService(rig.dependencies, { isSeen: true, isEnabled }));
  const ofPlans = ['plan_search', 'plan_period_ends', 'plan_listing'];
  expect(Object.keys(third)).toEqual([...ofPlans, ...whole, 'renewal', 'import_delay']);
  expect(rig.sandbox.ledger().requests.events).toBe(before);
});

it('finds drivers cut off that all have a category of which few or none are listed', async () => {
  const rig = await rigWith({});
  const people = Array.from({ length: 12 }, (_, i) => ({ id: 1 + i, cnh_category_id: i < 10 ? 1 + (i % 2) : 5 }));
  await putBefore(rig, (url) => {
    if (url.pathname !== '/driver/') return undefined;
    const category = url.searchParams.get('cnh_category_id');
    return { body: people.filter((each) => [null, String(each.cnh_category_id)].includes(category)).slice(0, 10) };
  });
  const answers = answersIn(await probeService(rig.dependencies, { isSeen: true }));
  expect(answers).toMatchObject({ agent_listing: '10 records', driver_listing: '10 records' });
});

it.each<[string, [begin: string, end: string][], string | null]>([
  ['ends a minute before midnight', [['2026-03-09T08:00:00', '2026-03-09T23:59:00']], 'days'],
  ['begins at midnight', [['2026-03-09T00:00:00', '2026-03-09T15:00:00']], 'days'],
  [
    'lasts all day, and a shorter one',
    [
      ['2026-03-09T00:00:00', '2026-03-09T23:59:59'],
      ['2026-03-08T09:00:00', '2026-03-08T10:00:00'],
    ],
    'days',
  ],
  ['lasts all day, and no other', [['2026-03-09T00:00:00', '2026-03-09T23:59:59']], null],
])('knows a search by full days by a plan that %s, on local days and on those of UTC', async (_, periods, answer) => {
  for (const zone of ['-03:00', 'Z']) {
    const plans = periods.map(([begin, end], i) => ({
      id: 1 + i,
      vehicle_id: 1,
      date_time_start: `${begin}${zone}`,
      date_time_end: `${end}${zone}`,
    }));
    const dayOf = (text: string | null) =>
      Math.floor((Date.parse(text ?? '') - Date.parse(`1970-01-01T00:00:00${zone}`)) / DAY);
    const rig = await rigWith({});
    await putBefore(rig, ({ pathname, searchParams }) => {
      if (pathname !== '/import/route_plan') return undefined;
      const [first, last] = [dayOf(searchParams.get('begin_date')), dayOf(searchParams.get('end_date'))];
      return {
        body: plans.filter((each) => dayOf(each.date_time_start) <= last && dayOf(each.date_time_end) >= first),
      };
    });
    const isEnabled = (job: string): boolean => job === 'pull-route-plans';
    const report = await probeService(rig.dependencies, { isSeen: true, isEnabled });
    expect(answersIn(report)).toMatchObject({ plan_search: answer, plan_period_ends: null });
  }
});

it('answers about listings whose most common category is not a listed one, or none', async () => {
  const rig = await rigWith({});
  const many = (of: (id: number) => object) => Array.from({ length: 60 }, (_, i) => ({ id: 900_001 + i, ...of(i) }));
  await addRecords(
    rig,
    'drivers',
    many((i) => ({ name: 'A', cnh_category_id: i % 2 === 0 ? 10 : '' })),
  );
  const answers = answersIn(await probeService(rig.dependencies, { isSeen: true }));
  expect(answers).toMatchObject({ driver_listing: expect.any(String), renewal: expect.any(String) });
});

it('keeps the other answers where a request would be invalid', async () => {
  const rig = await rigWith({});
  await addRecords(rig, 'vehicles', [{ id: -1, name: 'A' }]);
  const answers = answersIn(await probeService(rig.dependencies, { isSeen: true }));
  expect(answers).toMatchObject({ plan_search: 'overlap', vehicle_ids: null, renewal: expect.any(String) });
});

it('reports how late an imported plan is listed', async () => {
  const place = await makePushPlace({ sandbox: { importVisibleAfterMs: 5 * 60_000 } });
  place.drop('route_plans', 'a.json', plan('P1'));
  await place.run('push-route-plans');
  await place.clock.advance(6 * 60_000);
  await place.run('push-route-plans');
  const report = await probeService(place.dependencies, { isSeen: true });
  expect(answersIn(report).import_delay).toBe('6m');
  const found = async (settle: number) => {
    const jobs = {
      'push-route-plans': { enabled: true, options: { settle } },
      'verify-warehouse': { enabled: true, options: { probe: true, max_calls: 800 } },
    };
    const config = { jobs, service: { renewal: 'auto' } } as unknown as Config;
    const warnings = probeChecks(report, config).filter(({ state }) => state === 'warn');
    // One stop of the daemon would be a reason for 30 days.
    expect(await unfitAnswers(place.dependencies.engine, config)).toEqual([]);
    return warnings.map(({ found: text }) => text);
  };
  const resent = expect.stringMatching(/within: 6m .*; push-route-plans sends a plan again .* after 5m$/);
  expect(await found(5 * 60_000)).toEqual([resent]);
  expect(await found(6 * 60_000)).toEqual([]);
});

it.each<[string, { enabled?: boolean; probe?: boolean; max_calls?: number }, Question[]]>([
  ['the job makes the probe', { max_calls: 360 }, ['renewal']],
  ['its calls are too few for it', { max_calls: 359 }, []],
  ['it is turned off', { probe: false }, []],
  ['the job is disabled', { enabled: false }, []],
])('is a reason of the nightly probe if %s', async (_, { enabled = true, ...own }, questions) => {
  const rig = await rigWith({ renewal: 'none' });
  await probeService(rig.dependencies, { isSeen: true });
  const jobs = { 'verify-warehouse': { enabled, options: { probe: true, max_calls: 800, ...own } } };
  const config = { jobs, service: { renewal: 'body' } } as unknown as Config;
  expect((await unfitAnswers(rig.engine, config)).map(({ question }) => question)).toEqual(questions);
});

it('is a reason every night while a listing is cut off, since the first night and after it was seen', async () => {
  const sandbox = { vehicles: 12, churn: false, shapes: { listingCap: 9 } };
  const place = await makeStatusPlace({ startAt: START, sandbox });
  onTestFinished(() => place.close());
  const { rig } = place;
  const subjects = async () => {
    const { json } = await place.ask('GET', '/api/status');
    return json.reasons.filter(({ code }: Reason) => code === 'service_unfit').map(({ subject }: Reason) => subject);
  };
  // There are not more than nine agents, nor drivers. A slice of events that reaches the limit is halved.
  const cut = ['plan', 'vehicle', 'point_of_interest'].map((name) => `service ${name}_listing`);
  const night = async () => {
    await rig.clock.advance(86_400_000);
    expect(await rig.run('verify-warehouse')).toMatchObject({ status: 'ok', error: null });
  };
  await night();
  expect(await subjects()).toEqual(cut);
  await probeService(rig.dependencies, { isSeen: true });
  await night();
  expect(await subjects()).toEqual(cut);
  await switchTo(rig, { listingCap: null });
  await night();
  expect(await subjects()).toEqual([]);
});

it('stops asking after its requests, with retries, and stores what it has found', async () => {
  const rig = await rigWith({});
  const requests = () => Object.values(rig.sandbox.ledger().requests).reduce((sum, n) => sum + n, 0);
  const report = await probeService(rig.dependencies, { isSeen: true, mostCalls: 12 });
  expect(requests()).toBe(12);
  expect(report.calls).toBe(12);
  expect(answersIn(report)).toMatchObject({ plan_search: 'overlap', event_search: null, renewal: null });
  const trips = report.answers.find(({ question }) => question === 'event_search');
  expect(trips?.evidence).toContain('the 12 requests of a probe were made');
  const known = await newestAnswers(rig.engine);
  const questions = ['plan_search', 'plan_period_ends', 'plan_listing', 'vehicle_ids'];
  expect(known.map(({ question }) => question)).toEqual(questions);
});

it.each([
  ['is as long as the whole', [{ id: 1 }, { id: 2 }], null],
  ['is empty', [], null],
  ['is shorter', [{ id: 2 }], 'at least 2 records'],
])('finds out about a listing, a part of which %s', async (_, part, answer) => {
  const whole = [{ id: 1 }, { id: 2 }];
  const list = async (filter?: number) => (filter === undefined ? whole : part);
  expect((await limitOfListing({ what: 'agents', whole, list, parts: [4] }))[0]).toBe(answer);
});

it.each([
  ['is empty', []],
  ['is shorter', [{ id: 2 }]],
])('learns no limit of a listing that %s when it is repeated', async (_, again) => {
  const whole = [{ id: 1 }, { id: 2 }];
  const part = [{ id: 3 }];
  const list = async (filter?: number) => (filter === undefined ? again : part);
  const ofListing = await limitOfListing({ what: 'agents', whole, list, parts: [4] });
  const span = { begin: 0, end: DAY };
  const search = async ({ begin, end }: Span) => (end - begin === DAY ? again : part);
  const ofSearch = await limitOfSearch(whole, span, search, 'the plans of 7 days');
  expect([ofListing, ofSearch].map(([answer]) => answer)).toEqual([null, null]);
});

it('trusts no stored limit of zero', async () => {
  const rig = await rigWith({});
  const answers = [{ question: 'event_listing' as const, answer: '0 records', evidence: '' }];
  await storeAnswers(rig.engine, answers, { nowMs: rig.clock.now(), isSeen: true });
  expect(await knownLimit(rig.engine, 'event_listing')).toBe(Infinity);
});

it.each([
  ['number 2 of 12', [2], 'at least 2'],
  ['number 11 of 12', [11], 'at least 11'],
  ['number 1 and the next', [1, 2], null],
])('does not take rejected vehicles for a limit: %s', async (_, indexes, answer) => {
  const rig = await rigWith({});
  await rig.run('pull-vehicles');
  const ids = (await rig.rows('select id from vehicle order by id')).map(({ id }) => String(id));
  await putBefore(rig, (url) => {
    const asked: string[] = url.searchParams.get('vehicles_id')?.match(/\d+/g) ?? [];
    return indexes.some((index) => asked.includes(ids[index] ?? '')) ? { status: 400, body: {} } : undefined;
  });
  const { vehicle_ids, event_search } = answersIn(await probeService(rig.dependencies, { isSeen: true }));
  expect([vehicle_ids, event_search]).toEqual([answer, 'start']);
});

it('keeps an answer that nothing shows any more, with the date of its own', async () => {
  const rig = await rigWith({});
  await probeService(rig.dependencies, { isSeen: true });
  await rig.clock.advance(86_400_000);
  rig.sandbox.addFault({ call: 'route-plans', fault: '403' });
  const answerOf = async (question: Question) =>
    (await probeService(rig.dependencies, { isSeen: false })).answers.find((each) => each.question === question);
  expect(await answerOf('event_search')).not.toHaveProperty('stored');
  await rig.clock.advance(86_400_000);
  const unknown = await answerOf('plan_search');
  expect(unknown).toMatchObject({ answer: null, stored: { answer: 'overlap', at: START } });
  const report = { at: START, calls: 1, answers: [unknown as ProbeAnswer] };
  const [shown] = probeChecks(report, { jobs: {} } as Config);
  expect(shown?.found).toMatch(/finds them by: not known \(.*403.*\); found 2026-03-10T18:00:00.000Z: overlap$/);
});

it('reports an answer that changed, once', async () => {
  const rig = await rigWith({});
  const changed = async () =>
    (await probeService(rig.dependencies, { isSeen: true })).answers.flatMap(({ question, was }) =>
      was ? [[question, was]] : [],
    );
  expect(await changed()).toEqual([]);
  await switchTo(rig, { planSearch: 'start' });
  expect(await changed()).toEqual([['plan_search', 'overlap']]);
  expect(await changed()).toEqual([]);
});

it('is made every night within the calls of the verification, and a changed answer stays a reason until it is seen', async () => {
  const place = await makeStatusPlace({ startAt: START, sandbox: { vehicles: 12, churn: false } });
  onTestFinished(() => place.close());
  const { rig } = place;
  const reasons = async (): Promise<Reason[]> => {
    const { json } = await place.ask('GET', '/api/status');
    return json.reasons.filter(({ code }: Reason) => code === 'service_changed');
  };
  const requests = () => Object.values(rig.sandbox.ledger().requests).reduce((sum, n) => sum + n, 0);
  const night = async (max_calls = 4 * MOST_PROBE_CALLS) => {
    await rig.clock.advance(86_400_000);
    const before = requests();
    expect(await rig.run('verify-warehouse', { max_calls })).toMatchObject({ status: 'ok', error: null });
    return requests() - before;
  };
  expect(await night()).toBeLessThanOrEqual(MOST_PROBE_CALLS);
  expect(await reasons()).toEqual([]);
  await switchTo(rig, { planSearch: 'start' });
  const leftOut = () => rig.logLines.filter((line) => line.includes('probe left out')).map((line) => JSON.parse(line));
  expect(leftOut()).toEqual([]);
  expect(await night(4 * MOST_PROBE_CALLS - 1)).toBe(0);
  expect(leftOut()).toMatchObject([{ level: 'warn', job: 'verify-warehouse', max_calls: 359, needed: 360 }]);
  expect(await reasons()).toEqual([]);
  await night();
  await night();
  expect(alertConditions(await reasons())).toEqual([
    {
      subject: 'service plan_search',
      newest: null,
      state: 'changed',
      text: expect.stringMatching(/finds them by: start; it was: overlap \(found 2026-03-13T18:00:00.000Z\)/),
    },
  ]);
  await switchTo(rig, { planSearch: 'overlap' });
  await night();
  expect(await reasons()).toEqual([]);
  await switchTo(rig, { planSearch: 'start' });
  await night();
  expect(await reasons()).toHaveLength(1);
  await probeService(rig.dependencies, { isSeen: true });
  await night();
  expect(await reasons()).toEqual([]);
});

it.each([
  ['plan_listing', 'at least 70 records', '9 records', true],
  ['plan_listing', 'at least 20 records', '50 records', false],
  ['plan_listing', '9 records', 'at least 8 records', false],
  ['plan_listing', '9 records', 'at least 10 records', true],
  ['vehicle_ids', 'at least 12', 'at least 5', false],
  ['vehicle_ids', '5', '6', true],
  ['import_delay', '6m', '9m', false],
] as const)('of %s, after %s, %s is a change: %s', (question, was, answer, changes) => {
  expect(isChange(question, was, answer)).toBe(changes);
});

it('tries renewals with a refresh token that has not expired', async () => {
  const rig = await rigWith({ refreshTokenTtlMs: 3_600_000, accessTokenTtlMs: 86_400_000 });
  const renewal = async () =>
    (await probeService(rig.dependencies, { isSeen: true })).answers.find(({ question }) => question === 'renewal');
  const first = await renewal();
  await rig.clock.advance(2 * 3_600_000);
  expect(await renewal()).toEqual(first);
});

it('does not take a renewal without an answer for a change', async () => {
  const rig = await rigWith({});
  await probeService(rig.dependencies, { isSeen: true });
  const fault = { call: 'renew', fault: '500', times: 1 };
  await fetch(`${rig.sandbox.url}/_sandbox/faults`, { method: 'POST', body: JSON.stringify(fault) });
  const { answers } = await probeService(rig.dependencies, { isSeen: true });
  expect(answers.find(({ question }) => question === 'renewal')).toMatchObject({ answer: null });
});

it('is part of the doctor, which warns if the configuration does not fit', async () => {
  const sandbox = await startSandbox({ renewal: 'body', shapes: { listingCap: 9 } });
  const place = makeWorkplace(configFor(sandbox.url, '  renewal: refresh-bearer\n'));
  onTestFinished(async () => {
    place.remove();
    await sandbox.close();
  });
  const { code, stdout } = await place.runHere(['doctor', '--probe', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
  const probe = checks.filter(({ check }) => check === 'probe');
  expect(code).toBe(0);
  expect(probe.filter(({ state }) => state === 'warn').map(({ found }) => found)).toEqual([
    ...Array.from({ length: 3 }, () => expect.stringContaining('cut off at: 9 records')),
    expect.stringContaining('service.renewal is refresh-bearer, which the service rejects'),
  ]);
  expect(probe.at(-1)?.found).toMatch(/^\d+ requests, none of which changes a record$/);
});
