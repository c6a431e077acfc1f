// The call budget of a configuration, for `config check` and the doctor: the calls that the jobs make to the service.
import type { App } from '../app/app.ts';
import { type BudgetJob, callBudget } from '../status/capacity/call-budget.ts';
import { countVehicles, measuredCalls } from '../warehouse/queries/measured-calls.ts';
import { enabledJobs, namedJob } from './named-job.ts';
import { textTable } from './output/text-table.ts';

/** Size of the fleet if it is not known yet. */
const ASSUMED_VEHICLES = 100;

export async function budgetOf(app: App, asked?: number) {
  const jobs = enabledJobs(app);
  const known = await app.tryRead(async (engine) => ({
    vehicles: await countVehicles(engine),
    calls: await Promise.all(jobs.map(({ name }) => measuredCalls(engine, name))),
  }));
  const vehicles = asked ?? known?.vehicles ?? ASSUMED_VEHICLES;
  const budgeted = jobs.map((job, index): BudgetJob => {
    const { job: declared, settings } = namedJob(app, job.name);
    // Measured runs are those of the current fleet, so they do not apply to another fleet size.
    const measured = asked === undefined ? known?.calls[index] : undefined;
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
  const rows = jobs.map((job) => [
    job.name,
    job.calls_per_run,
    job.minutes_per_run,
    job.runs_per_day,
    job.calls_per_day,
    job.minutes_per_day,
    job.basis,
  ]);
  const head = ['job', 'calls per run', 'minutes per run', 'runs per day', 'calls per day', 'minutes per day', 'basis'];
  return [
    textTable(head, rows),
    '',
    `Total: ${all.calls_per_day} calls per day, ${Math.round(all.share * 100)} % of the limit of ${all.requests_per_minute} requests per minute.`,
    `Estimates assume ${all.assumed}.`,
    ...warnings.map((warning) => `Warning: ${warning}.`),
  ].join('\n');
}
