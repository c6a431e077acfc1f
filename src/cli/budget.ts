// The call budget of a configuration, for `config check` and the doctor: the calls that the jobs make to the service.
import type { App } from '../app/app.ts';
import { type BudgetJob, callBudget, countVehicles, measuredCalls } from '../status/capacity/call-budget.ts';
import { enabledJobs, namedJob } from './named-job.ts';
import { fieldTable } from './output/text-table.ts';

/** Size of the fleet if it is not known yet. */
const ASSUMED_VEHICLES = 100;

export async function budgetOf(app: App, asked?: number) {
  const jobs = enabledJobs(app);
  const measure = () =>
    app.tryRead(async (engine) => ({
      vehicles: await countVehicles(engine),
      calls: await Promise.all(jobs.map(({ name }) => measuredCalls(engine, name))),
    }));
  // Measured runs are those of the current fleet, so they do not apply to another fleet size.
  const known = asked === undefined ? await measure() : undefined;
  const vehicles = asked ?? known?.vehicles ?? ASSUMED_VEHICLES;
  const budgeted = jobs.map((job, index): BudgetJob => {
    const { job: declared, settings } = namedJob(app, job.name);
    const measured = known?.calls[index];
    return {
      ...job,
      callsOf: (periodMs) =>
        measured === undefined
          ? { calls: declared.cost?.(settings.options, { vehicles, periodMs }).calls ?? 1, basis: 'estimate' }
          : { calls: measured.calls, basis: `last ${measured.runs} runs` },
    };
  });
  const budget = callBudget(budgeted, app.loaded.config.service.requestsPerMinute, app.clock.now());
  const guess = asked === undefined && known?.vehicles === undefined ? ' (a guess: set --vehicles)' : '';
  const assumed = `${vehicles} vehicles${guess}, one plan and one checklist per vehicle and day, little new data in each run`;
  return { ...budget, vehicles, assumed };
}

export function showBudget({ jobs, warnings, ...all }: Awaited<ReturnType<typeof budgetOf>>): string {
  const columns = {
    job: 'name',
    'calls per run': 'calls_per_run',
    'minutes per run': 'minutes_per_run',
    'runs per day': 'runs_per_day',
    'calls per day': 'calls_per_day',
    'minutes per day': 'minutes_per_day',
    basis: 'basis',
  } as const;
  return [
    fieldTable(columns, jobs),
    '',
    `Total: ${all.calls_per_day} calls per day, ${Math.round(all.share * 100)} % of the limit of ${all.requests_per_minute} requests per minute.`,
    `Estimates assume ${all.assumed}.`,
    ...warnings.map((warning) => `Warning: ${warning}.`),
  ].join('\n');
}
