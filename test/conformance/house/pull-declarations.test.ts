// What follows from the declarations of pull jobs and their tables: the tables that a job fills, the jobs that it needs,
// and the names of its coverage.
import { describe, expect, it } from 'vitest';
import { loadJobs } from '../../../src/app/app.ts';
import { isCounted } from '../../../src/sync/pull/plan/scopes.ts';
import { baseTables } from '../../../src/warehouse/schema/catalog.ts';

const jobs = await loadJobs();
const pulls = jobs.filter(({ into }) => into !== undefined);
const ofEach = <Fact>(fact: (job: (typeof jobs)[number]) => Fact) =>
  Object.fromEntries(pulls.map((job) => [job.name, fact(job)]));

describe('a pull job', () => {
  it('fills the tables of its records, and those into which a load writes changes', () => {
    expect(ofEach(({ tables }) => tables.map(({ name }) => name))).toEqual({
      'pull-checklists': ['checklist', 'checklist_answer', 'image'],
      'pull-daily-summaries': ['daily_summary', 'daily_summary_revision'],
      'pull-drivers': ['driver'],
      'pull-events': ['event'],
      'pull-itineraries': ['itinerary'],
      'pull-points-of-interest': ['point_of_interest'],
      'pull-route-plans': ['route_plan', 'route_point', 'route_point_execution', 'route_point_item', 'status_change'],
      'pull-vehicles': ['vehicle'],
    });
  });

  it('needs the jobs that pull the records it asks by, and no other', () => {
    expect(ofEach(({ needs }) => needs)).toEqual({
      'pull-checklists': [],
      'pull-daily-summaries': ['pull-vehicles', 'pull-drivers'],
      'pull-drivers': [],
      'pull-events': ['pull-vehicles'],
      'pull-itineraries': [],
      'pull-points-of-interest': [],
      'pull-route-plans': [],
      'pull-vehicles': [],
    });
  });

  it('keeps its coverage under the names that existing warehouses use', () => {
    const all = { counted: '%' };
    expect(ofEach(({ options, scopes }) => scopes?.(options.parse({})))).toEqual({
      'pull-checklists': all,
      'pull-daily-summaries': { ...all, vehicle: 'vehicle %', driver: 'drivers of vehicle %' },
      'pull-drivers': all,
      'pull-events': { counted: '%categories all', vehicle: 'vehicle % categories all' },
      'pull-itineraries': all,
      'pull-points-of-interest': all,
      'pull-route-plans': { counted: 'plans' },
      'pull-vehicles': all,
    });
  });

  it('fills a table with days and a retention limit if it reads by period', () => {
    const byPeriod = pulls.filter(({ options }) => 'since' in options.shape);
    const without = byPeriod.filter(
      ({ tables }) => !tables.some(({ kind, retentionBy }) => kind === 'base' && retentionBy),
    );
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('counts the scopes of its present options only', () => {
    expect(isCounted('vehicle 7 categories all', { counted: '%categories all' })).toBe(true);
    expect(isCounted('vehicle 7 categories 1,2', { counted: '%categories all' })).toBe(false);
    expect(isCounted('day 2026-01-01', { counted: 'plans' })).toBe(false);
    expect(isCounted('vehicle 7', { counted: '%' })).toBe(true);
  });
});

describe('a column that references a table', () => {
  const references = baseTables.flatMap(({ name, columns }) =>
    columns.flatMap((column) => (column.references ? [{ of: `${name}.${column.name}`, to: column.references }] : [])),
  );

  it('is one whose unknown ids a pull should follow', () => {
    expect(references.map(({ of, to }) => `${of} → ${to.name}`)).toEqual(
      expect.arrayContaining([
        'daily_summary.driver_id → driver',
        'daily_summary.vehicle_id → vehicle',
        'event.driver_id → driver',
        'event.vehicle_id → vehicle',
        'itinerary.driver_id → driver',
        'itinerary.vehicle_id → vehicle',
        'route_plan.vehicle_id → vehicle',
      ]),
    );
  });

  it('names a table that declares its job, and that job fills it', () => {
    for (const { of, to } of references) {
      const job = jobs.find(({ name }) => name === to.pulledBy);
      expect(
        job?.into?.map(([, table]) => table),
        of,
      ).toContain(to);
    }
  });
});
