// The metrics as Prometheus reads them: the format, the naming rules, the figures against the warehouse.
import { afterEach, describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import type { NamedJob } from '../../../src/sync/job.ts';
import { runJob } from '../../../src/sync/run.ts';
import { createRunTotals } from '../../../src/sync/run-totals.ts';
import { pauseJob } from '../../../src/warehouse/control/job-controls.ts';
import { storeEntries } from '../../../src/warehouse/outbox/transitions.ts';
import { tables } from '../../../src/warehouse/schema/catalog.ts';
import { entryIn } from '../../support/push/outbox-samples.ts';
import { type Family, readPrometheusText } from '../../support/status/prometheus-text.ts';
import { makeStatusPlace, type StatusPlace } from '../../support/status/status-place.ts';

let place: StatusPlace;
afterEach(() => place.close());

const scrape = async (): Promise<Map<string, Family>> => {
  const { status, headers, text } = await place.ask('GET', '/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  return readPrometheusText(text);
};

const figure = (families: Map<string, Family>, name: string, labels: Record<string, string> = {}) =>
  families
    .get(`roadbook_${name}`)
    ?.samples.find((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))?.value;

describe('/metrics', () => {
  it('shows the figures of the warehouse', async () => {
    place = await makeStatusPlace();
    await scrape();
    await place.rig.clock.advance(1_000);
    const run = await place.rig.run('pull-vehicles');
    await place.rig.clock.advance(60_000);
    const families = await scrape();
    const [{ n } = {}] = await place.rig.rows('select count(*) as n from vehicle');
    const job_name = 'pull-vehicles';
    expect(figure(families, 'table_rows', { table: 'vehicle' })).toBe(n);
    expect(figure(families, 'freshness_seconds', { table: 'vehicle' })).toBe(60);
    expect(figure(families, 'last_success_timestamp_seconds', { job_name })).toBe(Date.parse(run.finished_at) / 1_000);
    expect(figure(families, 'last_success_timestamp_seconds', { job_name: 'pull-events' })).toBeUndefined();
    expect(figure(families, 'drift_limit')).toBe(0.001);
    expect(figure(families, 'push_unknown')).toBe(0);
    expect(figure(families, 'runs_total', { job_name, status: 'ok' })).toBe(1);
    expect(figure(families, 'rows_written_total', { job_name })).toBe(run.inserted);
  });

  it('keeps the tick at which a success was due, however long ago', async () => {
    place = await makeStatusPlace();
    await place.rig.run('pull-vehicles');
    await place.rig.clock.advance(2 * 86_400_000);
    const due = async (job_name: string) => figure(await scrape(), 'success_due_timestamp_seconds', { job_name });
    // Every six hours in São Paulo; the rig begins at 12:00 there.
    expect(await due('pull-vehicles')).toBe(Date.parse('2026-03-10T21:00:00Z') / 1_000);
    expect(await due('pull-events')).toBeUndefined();
    await pauseJob(place.rig.engine, 'pull-vehicles', '2026-03-12T15:00:00.000Z');
    expect(await due('pull-vehicles')).toBeUndefined();
  });

  it('shows how many entries of the outbox need a person', async () => {
    place = await makeStatusPlace();
    expect(figure(await scrape(), 'push_attention')).toBe(0);
    const at = new Date(place.rig.clock.now() - 3_600_000).toISOString();
    await place.rig.engine.write((tx) =>
      storeEntries(tx, [
        entryIn('confirmed', { external_code: 'A', attention: 'found_twice' }),
        entryIn('unknown', { external_code: 'B', unknown_since: at }),
        entryIn('rejected', { external_code: 'C', updated_at: at, told_at: null }),
        entryIn('rejected', { external_code: 'D', updated_at: at, told_at: at }),
        entryIn('confirmed', { external_code: 'E' }),
      ]),
    );
    await place.rig.clock.advance(60_000);
    const families = await scrape();
    expect(figure(families, 'push_attention')).toBe(3);
    expect(figure(families, 'healthy')).toBe(0);
  });

  it('counts each run once, however often it is scraped and however long the daemon runs', async () => {
    place = await makeStatusPlace();
    await scrape();
    for (let hour = 0; hour < 4; hour++) {
      await place.rig.clock.advance(3_000_000);
      await place.rig.run('pull-vehicles');
      await scrape();
      expect(figure(await scrape(), 'runs_total', { job_name: 'pull-vehicles', status: 'ok' })).toBe(hour + 1);
    }
  });

  it('counts a run while it is under way, and only runs of this process', async () => {
    place = await makeStatusPlace();
    const { rig } = place;
    const job_name = 'pull-vehicles';
    const elsewhere = { ...rig.dependencies, totals: createRunTotals() };
    const job = (await loadJobs()).find(({ name }) => name === job_name) as NamedJob;
    await runJob({ job, options: {}, cause: 'manual' }, elsewhere);
    expect(figure(await scrape(), 'runs_total', { job_name, status: 'ok' })).toBe(0);
    const during: unknown[] = [];
    const watched: NamedJob = {
      ...job,
      async execute(context) {
        const outcome = await job.execute(context);
        during.push(figure(await scrape(), 'requests_total', { job_name }));
        return outcome;
      },
    };
    const { summary } = await runJob({ job: watched, options: {}, cause: 'manual' }, rig.dependencies);
    expect(during).toEqual([summary.requests]);
    expect(figure(await scrape(), 'requests_total', { job_name })).toBe(summary.requests);
  });

  it('follows the naming rules', async () => {
    place = await makeStatusPlace();
    await place.rig.run('pull-vehicles');
    for (const { name, type, help } of (await scrape()).values()) {
      expect(name).toMatch(/^roadbook_[a-z][a-z0-9_]*$/);
      expect({ name, help }).not.toEqual({ name, help: '' });
      expect({ name, type }).not.toEqual({ name, type: 'untyped' });
      expect({ name, isTotal: name.endsWith('_total') }).toEqual({ name, isTotal: type === 'counter' });
      expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|hours|kb|mb|percent)(?:_total)?$/);
    }
  });

  it('labels with declared names only, never with an identifier', async () => {
    place = await makeStatusPlace();
    await place.rig.run('pull-vehicles');
    const allowed: Record<string, readonly string[]> = {
      job_name: (await loadJobs()).map(({ name }) => name),
      table: tables.map(({ name }) => name),
      status: ['ok', 'partial', 'failed'],
      version: ['1.2.3', process.version],
    };
    for (const { name, samples } of (await scrape()).values()) {
      for (const [label, value] of samples.flatMap(({ labels }) => Object.entries(labels))) {
        if (name.startsWith('roadbook_nodejs_') || label === 'le') continue;
        expect({ name, label, known: allowed[label]?.includes(value) }).toEqual({ name, label, known: true });
      }
    }
  });
});
