// The health of a job, from its own cadence. Instants are written out; nothing is computed by the code's own
// arithmetic.
import { describe, expect, it } from 'vitest';
import { alertConditions } from '../../../src/status/alerts/alerts.ts';
import {
  type Health,
  healthOf,
  type JobFacts,
  type LateCause,
  overallHealth,
} from '../../../src/status/health/health.ts';
import type { JobStatus } from '../../../src/status/health/job-status.ts';
import { healthReasons, type ReasonFacts, withItemHealth } from '../../../src/status/health/reasons.ts';

const at = (text: string): number => Date.parse(`${text}:00Z`);

const facts = (change: Partial<Omit<JobFacts, 'nowMs'>> & { now: string }): JobFacts => {
  const { now, ...rest } = change;
  return {
    cron: '*/10 * * * *',
    timezone: 'UTC',
    enabled: true,
    paused: false,
    lastStatus: 'ok',
    lastStartMs: at('2026-03-02T08:00'),
    lastEndMs: at('2026-03-02T08:01'),
    nowMs: at(now),
    ...rest,
  };
};

describe('the health of a job', () => {
  it.each([
    ['between two ticks', '2026-03-02T08:09', 'ok'],
    ['a little past its tick', '2026-03-02T08:15', 'ok'],
    ['half a period and a minute past its tick', '2026-03-02T08:17', 'late'],
    ['long after it silently stopped', '2026-03-09T08:00', 'late'],
  ])('%s is %s', (_when, now, word) => {
    expect(healthOf(facts({ now })).health).toBe(word);
  });

  it('of a daily job is late within half an hour, not half a day', () => {
    const daily = {
      cron: '0 6 * * *',
      lastStartMs: at('2026-03-01T06:00'),
      lastEndMs: at('2026-03-01T06:05'),
    };
    expect(healthOf(facts({ ...daily, now: '2026-03-02T06:14' })).health).toBe('ok');
    expect(healthOf(facts({ ...daily, now: '2026-03-02T06:17' })).health).toBe('late');
  });

  it('of a run that took longer than its period is ok: the next tick after its end counts', () => {
    const long = { lastStartMs: at('2026-03-02T08:00'), lastEndMs: at('2026-03-02T08:44') };
    expect(healthOf(facts({ ...long, now: '2026-03-02T08:45' })).health).toBe('ok');
    expect(healthOf(facts({ ...long, now: '2026-03-02T08:57' })).health).toBe('late');
  });

  it('of a run in progress is ok for three of its ticks, then late', () => {
    const running = { lastStatus: 'running', lastEndMs: undefined };
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:29' })).health).toBe('ok');
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:32' })).health).toBe('late');
  });

  it('of a run in progress is never late in its first quarter of an hour', () => {
    const running = { cron: '* * * * * *', lastStatus: 'running', lastEndMs: undefined };
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:15' })).health).toBe('ok');
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:17' })).health).toBe('late');
  });

  it('of a schedule edited from daily to each minute ignores the time before the edit', () => {
    const edited = {
      cron: '* * * * *',
      lastStartMs: at('2026-03-01T06:00'),
      lastEndMs: at('2026-03-01T06:05'),
      scheduledSinceMs: at('2026-03-02T08:00'),
    };
    expect(healthOf(facts({ ...edited, now: '2026-03-02T08:01' })).health).toBe('ok');
    expect(healthOf(facts({ ...edited, now: '2026-03-02T08:03' })).health).toBe('late');
  });

  it('of a run that failed in part is late, except where the run was stopped or only items were rejected', () => {
    const partial = { lastStatus: 'partial', now: '2026-03-02T08:05' };
    const ended = { status: 'partial', hadError: true, wasCutOff: false, isAboutItems: false };
    expect(healthOf(facts(partial)).health).toBe('ok');
    expect(healthOf(facts({ ...partial, ended })).health).toBe('late');
    expect(healthOf(facts({ ...partial, ended: { ...ended, wasCutOff: true } })).health).toBe('ok');
    expect(healthOf(facts({ ...partial, ended: { ...ended, isAboutItems: true } })).health).toBe('ok');
  });

  it('of a job that never ran is late once a daemon has kept its schedule past a tick', () => {
    const never = { lastStatus: undefined, lastStartMs: undefined, lastEndMs: undefined };
    expect(healthOf(facts({ ...never, now: '2026-03-02T08:30' })).health).toBe('never ran');
    const since = { scheduledSinceMs: at('2026-03-02T08:01') };
    expect(healthOf(facts({ ...never, ...since, now: '2026-03-02T08:11' })).health).toBe('never ran');
    expect(healthOf(facts({ ...never, ...since, now: '2026-03-02T08:17' })).health).toBe('late');
  });

  it('of a daily job in the gap and in the overlap of daylight saving follows its local slot', () => {
    // New York, 2026: 02:30 does not exist on 8 March and runs at 03:30 EDT, which is 07:30 UTC.
    const gap = { cron: '30 2 * * *', timezone: 'America/New_York' };
    const march = { ...gap, lastStartMs: at('2026-03-07T07:30'), lastEndMs: at('2026-03-07T07:31') };
    expect(healthOf(facts({ ...march, now: '2026-03-08T07:44' })).health).toBe('ok');
    expect(healthOf(facts({ ...march, now: '2026-03-08T07:47' })).health).toBe('late');
    // 01:30 exists twice on 1 November, at 05:30 and 06:30 UTC; only the first is a slot.
    const overlap = { cron: '30 1 * * *', timezone: 'America/New_York' };
    const november = { ...overlap, lastStartMs: at('2026-11-01T05:30'), lastEndMs: at('2026-11-01T05:31') };
    expect(healthOf(facts({ ...november, now: '2026-11-01T06:50' })).health).toBe('ok');
    expect(healthOf(facts({ ...november, now: '2026-11-02T06:47' })).health).toBe('late');
  });

  it('of weekdays only is ok over the weekend', () => {
    const office = {
      cron: '0 9-17 * * 1-5',
      lastStartMs: at('2026-03-06T17:00'),
      lastEndMs: at('2026-03-06T17:01'),
    };
    expect(healthOf(facts({ ...office, now: '2026-03-09T08:59' })).health).toBe('ok');
    expect(healthOf(facts({ ...office, now: '2026-03-09T09:17' })).health).toBe('late');
  });

  it.each([
    ['failed', {}, 'failing'],
    ['abandoned', {}, 'failing'],
    ['partial', {}, 'ok'],
    ['failed', { enabled: false }, 'paused'],
    ['ok', { paused: true }, 'paused'],
  ])('after a run that %s, with %j, is %s', (status, change, word) => {
    const ended = { status, hadError: status === 'failed', wasCutOff: false, isAboutItems: false };
    expect(healthOf(facts({ lastStatus: status, ended, ...change, now: '2026-03-02T08:05' })).health).toBe(word);
  });

  it('of a clock that was set back is ok', () => {
    expect(healthOf(facts({ now: '2026-03-01T08:00' })).health).toBe('ok');
  });

  it('after a run that was stopped is ok', () => {
    const ended = { status: 'failed', hadError: true, wasCutOff: true, isAboutItems: false };
    expect(healthOf(facts({ lastStatus: 'failed', ended, now: '2026-03-02T08:05' })).health).toBe('ok');
  });

  it('follows the previous run while the current one has proved nothing yet', () => {
    const running = { lastStatus: 'running', lastEndMs: undefined, now: '2026-03-02T08:00' };
    const ended = (status: string) => ({ status, hadError: status !== 'ok', wasCutOff: false, isAboutItems: false });
    expect(healthOf(facts({ ...running, ended: ended('failed') })).health).toBe('failing');
    expect(healthOf(facts({ ...running, ended: ended('partial') })).health).toBe('late');
    expect(healthOf(facts({ ...running, ended: ended('ok') })).health).toBe('ok');
  });
});

it('a job is late because a part of its run failed, its run takes too long, or a run is missing', () => {
  const about = { hadError: true, wasCutOff: false, status: 'partial' };
  const causeOf = (change: Parameters<typeof facts>[0]) => healthOf(facts(change)).late_because;
  const running = { lastStatus: 'running', lastEndMs: undefined };
  const [soon, later] = ['2026-03-02T08:05', '2026-03-02T09:00'];
  expect(causeOf({ now: soon })).toBe(null);
  expect(causeOf({ now: soon, ended: { ...about, isAboutItems: false } })).toBe('incomplete');
  expect(causeOf({ now: later, ended: { ...about, isAboutItems: true } })).toBe('overdue');
  expect(causeOf({ now: later, ended: { ...about, isAboutItems: false }, ...running })).toBe('stuck');
});

describe('the health of all', () => {
  it.each<[Health[], Health]>([
    [[], 'ok'],
    [['ok', 'paused'], 'ok'],
    [['paused', 'paused'], 'paused'],
    [['ok', 'never ran'], 'never ran'],
    [['never ran', 'warning', 'paused'], 'warning'],
    [['never ran', 'late', 'warning'], 'late'],
    [['late', 'failing', 'ok'], 'failing'],
  ])('of %j is %s', (words, all) => {
    expect(overallHealth(words)).toBe(all);
  });
});

describe('the reasons for the health', () => {
  const job = (name: string, change: Partial<JobStatus> = {}): JobStatus => ({
    ...{ name, enabled: true, paused: false, schedule: '* * * * *', timezone: 'UTC' },
    ...{ health: 'ok', late_because: null },
    ...{
      last_run: null,
      last_end: null,
      last_success_at: null,
      next_tick_at: null,
      success_due_at: null,
      day: '2026-03-11',
      failing_since: null,
      failures_in_a_row: 0,
    },
    retry: null,
    ...change,
  });
  const settings = { enabled: true, schedule: '* * * * *', timezone: 'UTC', options: {}, isListed: true };
  const daemon = { host: 'depot', pid: 7, version: '1', started_at: '', heartbeat_at: '', slices_per_minute: null };
  const deadline = { at: '18:00', due_at: '', day: '2026-03-11', confirmed: 1, open: 2, missed: [], newest: null };
  const twice = { reason: 'found_twice' as const, entries: 1, kinds: ['agents'], newest: null, text: '', hint: 'look' };
  const none: ReasonFacts = {
    jobs: [job('pull-events'), job('push-agents')],
    unclear: 0,
    issues: [],
    drifted: [],
    changed: [],
    unfit: [],
    attention: [],
    deadline,
    quarantine: { records: 0, newest: null },
    daemons: [{ ...daemon, state: 'alive' }],
    hasDaemonRun: true,
    configError: null,
    config: { erp: {}, jobs: { 'push-agents': { ...settings, isListed: false } } },
    pushes: ['push-agents'],
  };
  /** While the next try runs. */
  const last_run = { run_id: 'r', status: 'running', started_at: '', finished_at: null, error: null };
  const last_end = { run_id: 'r', status: 'failed', error: 'No answer' };

  const late = (late_because: LateCause): JobStatus =>
    job('a', {
      ...{ health: 'late', late_because },
      last_run: { ...last_run, started_at: '08:00' },
      last_end: { run_id: 'r', status: 'partial', error: '1 plan rejected' },
    });

  it('are none for work as usual', () => {
    expect(healthReasons(none)).toEqual([]);
  });

  it.each<[Partial<ReasonFacts>, Health, string, string]>([
    [
      { jobs: [job('a', { health: 'failing', failures_in_a_row: 3, last_run, last_end })] },
      'failing',
      'job_failing',
      'a is failing: No answer (3 runs in a row, it has never succeeded)',
    ],
    [{ jobs: [late('overdue')] }, 'late', 'job_late', 'a scheduled run is missing'],
    [{ jobs: [late('stuck')] }, 'late', 'job_late', 'a is late: its run has not ended since 08:00; it has never'],
    [{ jobs: [late('incomplete')] }, 'late', 'job_late', 'a part of its last run failed (1 plan rejected)'],
    [{ jobs: [job('a', { health: 'paused', paused: true })] }, 'warning', 'job_paused', 'a is paused by a person'],
    [{ jobs: [job('a', { health: 'never ran' })] }, 'never ran', 'job_never_ran', 'a has not run yet'],
    [{ attention: [{ ...twice, entries: 2, text: '2 items: twice' }] }, 'late', 'push_found_twice', '2 items: twice'],
    [{ unclear: 2 }, 'warning', 'push_unclear', '2 items sent without'],
    [
      {
        issues: [
          {
            reason: 'rejected',
            entries: 1,
            jobs: ['push-agents'],
            newest: null,
            text: '1 item rejected',
            hint: 'look',
          },
        ],
      },
      'warning',
      'push_rejected',
      '1 item rejected',
    ],
    [
      { drifted: [{ table: 'event', compared: 1_000, drifted: 3, drift_ratio: 0.003, verified_at: '' } as never] },
      'late',
      'drift',
      '3 of 1000 verified rows of event differed',
    ],
    [
      { changed: [{ question: 'plan_search', was: 'overlap', answer: 'start', at: '' }] },
      'warning',
      'service_changed',
      'a search of plans by period finds them by: start; it was: overlap',
    ],
    [
      {
        changed: [{ question: 'plan_listing', was: 'at least 70 records', answer: '9 records', at: '' }],
        unfit: [{ question: 'plan_listing', text: 'a listing of plans is cut off at: 9 records', hint: 'Ask.' }],
      },
      'warning',
      'service_unfit',
      'cut off at: 9 records',
    ],
    [{ config: { erp: {}, jobs: { 'push-agents': settings } } }, 'warning', 'push_without_feed', 'nothing is pushed'],
    [
      { deadline: { ...deadline, missed: ['P1', 'P2'] } },
      'late',
      'deadline_missed',
      '2 plans were not confirmed by 18:00 of the day before they start',
    ],
    [{ configError: 'roadbook.yaml:3:5 is wrong' }, 'warning', 'config_rejected', 'roadbook.yaml:3:5 is wrong'],
    [{ quarantine: { records: 5, newest: null } }, 'warning', 'quarantine', '5 invalid records are'],
    [{ daemons: [] }, 'failing', 'no_daemon', 'nothing is pulled or pushed'],
    [
      { daemons: [...none.daemons, { ...daemon, state: 'silent' }] },
      'warning',
      'daemon_silent',
      '1 daemon makes no heartbeat: depot 7',
    ],
  ])('of %j are one of %s', (facts, health, code, text) => {
    expect(healthReasons({ ...none, ...facts })).toMatchObject([{ health, code, text: expect.stringContaining(text) }]);
  });

  it('are those of the items, and their job has a warning', () => {
    const text = '1 item rejected';
    const issues = [{ reason: 'rejected' as const, entries: 1, jobs: ['push-agents'], newest: null, text, hint: '' }];
    const healthWith = (change: Partial<JobStatus>) =>
      withItemHealth(job('push-agents', change), { ...none, issues }).health;
    expect(healthWith({})).toBe('warning');
    expect(healthWith({ health: 'late' })).toBe('late');
    expect(healthWith({ name: 'pull-events' })).toBe('ok');
    expect(withItemHealth(job('push-agents'), { ...none, attention: [twice] }).health).toBe('warning');
    const jobs = none.jobs.map((each) => withItemHealth(each, { ...none, issues }));
    expect(healthReasons({ ...none, jobs, issues }).map(({ code }) => code)).toEqual(['push_rejected']);
  });

  it('name no missing daemon where none ever ran', () => {
    expect(healthReasons({ ...none, daemons: [], hasDaemonRun: false })).toEqual([]);
  });

  it('name each table that drifts, so that a second one alerts too', () => {
    const drift = { verified_at: '', compared: 9, drifted: 2, drift_ratio: 0.2 };
    const reasons = healthReasons({ ...none, drifted: ['event', 'checklist'].map((table) => ({ ...drift, table })) });
    expect(alertConditions(reasons).map(({ subject }) => subject)).toEqual(['drift event', 'drift checklist']);
  });

  it('name the missing feed of plans although the file lists no job, unless the job is disabled', () => {
    const codesWith = (change: object) => {
      const jobs = { 'push-route-plans': { ...settings, isListed: false, ...change } };
      return healthReasons({ ...none, pushes: ['push-route-plans'], config: { erp: {}, jobs } }).map(
        ({ code }) => code,
      );
    };
    expect(codesWith({})).toEqual(['push_without_feed']);
    expect(codesWith({ enabled: false })).toEqual([]);
  });

  it('name no disabled job', () => {
    const jobs = [job('a', { enabled: false, paused: true, health: 'paused' })];
    expect(healthReasons({ ...none, jobs })).toEqual([]);
  });
});
