// The health of a job, from its own cadence. Instants are written out; nothing is computed by the code's own
// arithmetic.
import { describe, expect, it } from 'vitest';
import { type Health, healthOf, type JobFacts, outboxHealth, overallHealth } from '../../src/status/health/health.ts';

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
    expect(healthOf(facts({ now }))).toBe(word);
  });

  it('of a daily job is late within half an hour, not half a day', () => {
    const daily = {
      cron: '0 6 * * *',
      lastStartMs: at('2026-03-01T06:00'),
      lastEndMs: at('2026-03-01T06:05'),
    };
    expect(healthOf(facts({ ...daily, now: '2026-03-02T06:14' }))).toBe('ok');
    expect(healthOf(facts({ ...daily, now: '2026-03-02T06:17' }))).toBe('late');
  });

  it('of a run that took longer than its period is ok: the next tick after its end counts', () => {
    const long = { lastStartMs: at('2026-03-02T08:00'), lastEndMs: at('2026-03-02T08:44') };
    expect(healthOf(facts({ ...long, now: '2026-03-02T08:45' }))).toBe('ok');
    expect(healthOf(facts({ ...long, now: '2026-03-02T08:57' }))).toBe('late');
  });

  it('of a run in progress is ok for three of its ticks, then late', () => {
    const running = { lastStatus: 'running', lastEndMs: undefined };
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:29' }))).toBe('ok');
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:32' }))).toBe('late');
  });

  it('of a run in progress is never late in its first quarter of an hour', () => {
    const running = { cron: '* * * * * *', lastStatus: 'running', lastEndMs: undefined };
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:15' }))).toBe('ok');
    expect(healthOf(facts({ ...running, now: '2026-03-02T08:17' }))).toBe('late');
  });

  it('of a schedule edited from daily to each minute ignores the time before the edit', () => {
    const edited = {
      cron: '* * * * *',
      lastStartMs: at('2026-03-01T06:00'),
      lastEndMs: at('2026-03-01T06:05'),
      scheduledSinceMs: at('2026-03-02T08:00'),
    };
    expect(healthOf(facts({ ...edited, now: '2026-03-02T08:01' }))).toBe('ok');
    expect(healthOf(facts({ ...edited, now: '2026-03-02T08:03' }))).toBe('late');
  });

  it('of a run that failed in part is late, except where the run was stopped', () => {
    const partial = { lastStatus: 'partial', now: '2026-03-02T08:05' };
    const ended = { status: 'partial', hadError: true, wasCutOff: false };
    expect(healthOf(facts(partial))).toBe('ok');
    expect(healthOf(facts({ ...partial, ended }))).toBe('late');
    expect(healthOf(facts({ ...partial, ended: { ...ended, wasCutOff: true } }))).toBe('ok');
  });

  it('of a job that never ran is late once a daemon has kept its schedule past a tick', () => {
    const never = { lastStatus: undefined, lastStartMs: undefined, lastEndMs: undefined };
    expect(healthOf(facts({ ...never, now: '2026-03-02T08:30' }))).toBe('never ran');
    const since = { scheduledSinceMs: at('2026-03-02T08:01') };
    expect(healthOf(facts({ ...never, ...since, now: '2026-03-02T08:11' }))).toBe('never ran');
    expect(healthOf(facts({ ...never, ...since, now: '2026-03-02T08:17' }))).toBe('late');
  });

  it('of a daily job in the gap and in the overlap of daylight saving follows its local slot', () => {
    // New York, 2026: 02:30 does not exist on 8 March and runs at 03:30 EDT, which is 07:30 UTC.
    const gap = { cron: '30 2 * * *', timezone: 'America/New_York' };
    const march = { ...gap, lastStartMs: at('2026-03-07T07:30'), lastEndMs: at('2026-03-07T07:31') };
    expect(healthOf(facts({ ...march, now: '2026-03-08T07:44' }))).toBe('ok');
    expect(healthOf(facts({ ...march, now: '2026-03-08T07:47' }))).toBe('late');
    // 01:30 exists twice on 1 November, at 05:30 and 06:30 UTC; only the first is a slot.
    const overlap = { cron: '30 1 * * *', timezone: 'America/New_York' };
    const november = { ...overlap, lastStartMs: at('2026-11-01T05:30'), lastEndMs: at('2026-11-01T05:31') };
    expect(healthOf(facts({ ...november, now: '2026-11-01T06:50' }))).toBe('ok');
    expect(healthOf(facts({ ...november, now: '2026-11-02T06:47' }))).toBe('late');
  });

  it('of weekdays only is ok over the weekend', () => {
    const office = {
      cron: '0 9-17 * * 1-5',
      lastStartMs: at('2026-03-06T17:00'),
      lastEndMs: at('2026-03-06T17:01'),
    };
    expect(healthOf(facts({ ...office, now: '2026-03-09T08:59' }))).toBe('ok');
    expect(healthOf(facts({ ...office, now: '2026-03-09T09:17' }))).toBe('late');
  });

  it.each([
    ['failed', {}, 'failing'],
    ['abandoned', {}, 'failing'],
    ['partial', {}, 'ok'],
    ['failed', { enabled: false }, 'paused'],
    ['ok', { paused: true }, 'paused'],
  ])('after a run that %s, with %j, is %s', (status, change, word) => {
    const ended = { status, hadError: status === 'failed', wasCutOff: false };
    expect(healthOf(facts({ lastStatus: status, ended, ...change, now: '2026-03-02T08:05' }))).toBe(word);
  });

  it('of a clock that was set back is ok', () => {
    expect(healthOf(facts({ now: '2026-03-01T08:00' }))).toBe('ok');
  });

  it('after a run that was stopped is ok', () => {
    const ended = { status: 'failed', hadError: true, wasCutOff: true };
    expect(healthOf(facts({ lastStatus: 'failed', ended, now: '2026-03-02T08:05' }))).toBe('ok');
  });

  it('follows the previous run while the current one has proved nothing yet', () => {
    const running = { lastStatus: 'running', lastEndMs: undefined, now: '2026-03-02T08:00' };
    const ended = (status: string) => ({ status, hadError: status !== 'ok', wasCutOff: false });
    expect(healthOf(facts({ ...running, ended: ended('failed') }))).toBe('failing');
    expect(healthOf(facts({ ...running, ended: ended('partial') }))).toBe('late');
    expect(healthOf(facts({ ...running, ended: ended('ok') }))).toBe('ok');
  });
});

describe('the health of all', () => {
  it.each<[Health[], Health]>([
    [[], 'ok'],
    [['ok', 'paused'], 'ok'],
    [['paused', 'paused'], 'paused'],
    [['ok', 'never ran'], 'never ran'],
    [['never ran', 'late', 'ok'], 'late'],
    [['late', 'failing', 'ok'], 'failing'],
  ])('of %j is %s', (words, all) => {
    expect(overallHealth(words)).toBe(all);
  });

  it('is never ok while an entry of the outbox needs a person, whatever the jobs say', () => {
    const attention = [{ reason: 'found_twice', entries: 1 }];
    expect(outboxHealth([])).toBe('ok');
    expect(outboxHealth(attention)).toBe('late');
    for (const jobs of ['ok', 'paused', 'never ran'] as const)
      expect(overallHealth([jobs, outboxHealth(attention)])).toBe('late');
    expect(overallHealth(['failing', outboxHealth(attention)])).toBe('failing');
  });
});
