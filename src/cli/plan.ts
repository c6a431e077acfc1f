// roadbook plan: the capacity that a fleet needs, from the jobs' declarations and the configured rate limit. It opens
// neither the warehouse nor the service.
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import { callBudget } from '../status/capacity/call-budget.ts';
import { type FleetDay, usualFleetDay } from '../status/capacity/fleet-day.ts';
import { type SizingJob, sizing } from '../status/capacity/sizing.ts';
import type { EngineKind } from '../warehouse/engine.ts';
import { engines } from '../warehouse/engines.ts';
import { retentionByTable } from '../warehouse/retention.ts';
import { defineCommand, print, withApp } from './command.ts';
import { enabledJobs, namedJob, retentionOf } from './named-job.ts';
import { amount, wholeNumber, wholeNumbers } from './number-options.ts';
import { recordTable } from './output/text-table.ts';

type PlanOptions = Omit<FleetDay, 'vehicles'> & {
  vehicles: number[];
  pictureKb: number;
  latencyMs: number;
  requestsPerMinute?: number;
};

const PICTURE_KB = 100;
const LATENCY_MS = 300;

export const define = (command: Command): Command =>
  defineCommand<PlanOptions>(command, {
    options: (command) => {
      const { eventsADay, plansADay, stopsAPlan, checklistsADay, picturesADay } = usualFleetDay;
      return command
        .requiredOption(
          '--vehicles <n>',
          'size of the fleet; several sizes, separated by commas, give a table',
          wholeNumbers,
        )
        .option('--events-a-day <n>', 'events per vehicle and day', amount, eventsADay)
        .option('--plans-a-day <n>', 'route plans per vehicle and day', amount, plansADay)
        .option('--stops-a-plan <n>', 'stops per route plan', amount, stopsAPlan)
        .option('--checklists-a-day <n>', 'checklists per vehicle and day', amount, checklistsADay)
        .option('--pictures-a-day <n>', 'new pictures per vehicle and day', amount, picturesADay)
        .option('--picture-kb <n>', 'size of a picture file, in KB', amount, PICTURE_KB)
        .option('--latency-ms <n>', 'response time of the service, in ms', wholeNumber, LATENCY_MS)
        .option('--requests-per-minute <n>', 'rate limit of the account (default: as configured)', wholeNumber);
    },
    action: withApp(async (app, _args, { json, vehicles, ...figures }) => {
      const plans = vehicles.map((count) => planOf(app, { ...figures, vehicles: count }));
      const [only] = plans;
      if (json) print(JSON.stringify({ assumed: assumptionsOf(app, figures), plans }, null, 2));
      else if (only !== undefined && plans.length === 1) print(`${showOne(only)}\n\n${assumptionsText(app, figures)}`);
      else print(`${showSeveral(plans)}\n\n${assumptionsText(app, figures)}`);
    }),
  });

type Figures = Omit<PlanOptions, 'vehicles'>;

type FleetPlan = ReturnType<typeof planOf>;

function planOf(app: App, asked: Figures & { vehicles: number }) {
  const { service, warehouse, jobs: settings } = app.loaded.config;
  const jobs = enabledJobs(app).map((job) => sizingJob(app, job, asked));
  const kind: EngineKind = engines[warehouse.engine as keyof typeof engines];
  const rate = asked.requestsPerMinute ?? service.requestsPerMinute;
  const budget = callBudget(jobs, rate, app.clock.now());
  const found = sizing(jobs, budget, {
    day: asked,
    engine: warehouse.engine,
    hasQueueHome: kind.hasQueueHome === true,
    latencyMs: asked.latencyMs,
    pictureKb: asked.pictureKb,
    concurrency: service.concurrency,
    maxBodyMb: service.maxBodyMb,
    retention: retentionByTable(retentionOf(app)),
  });
  return {
    ...found,
    jobs: budget.jobs.map(({ name, calls_per_run, calls_per_day }) => ({
      name,
      every: settings[name]?.schedule ?? '',
      calls_per_run,
      calls_per_day,
    })),
  };
}

function sizingJob(app: App, scheduled: ReturnType<typeof enabledJobs>[number], asked: FleetDay): SizingJob {
  const { job, settings } = namedJob(app, scheduled.name);
  const { vehicles, plansADay, checklistsADay, picturesADay } = asked;
  const load = (periodMs: number) => ({ vehicles, periodMs, plansADay, checklistsADay, picturesADay });
  return {
    ...scheduled,
    tables: job.tables.map(({ name }) => name),
    callsOf: (periodMs) => ({
      calls: job.cost?.(settings.options, load(periodMs)).calls ?? 1,
      basis: 'estimate',
    }),
    readsPerRecord: (periodMs) => job.cost?.(settings.options, load(periodMs)).readsPerRecord ?? 1,
  };
}

const assumptionsOf = (app: App, { eventsADay, plansADay, stopsAPlan, ...others }: Figures) => ({
  engine: app.loaded.config.warehouse.engine,
  events_a_day: eventsADay,
  plans_a_day: plansADay,
  stops_a_plan: stopsAPlan,
  checklists_a_day: others.checklistsADay,
  pictures_a_day: others.picturesADay,
  picture_kb: others.pictureKb,
  latency_ms: others.latencyMs,
});

const assumptionsText = (app: App, figures: Figures): string => {
  const assumed = assumptionsOf(app, figures);
  return `Assumed per vehicle and day: ${assumed.events_a_day} events, ${assumed.plans_a_day} plans of ${assumed.stops_a_plan} stops,
${assumed.checklists_a_day} checklists, ${assumed.pictures_a_day} pictures of ${assumed.picture_kb} KB. Response time: ${assumed.latency_ms} ms. Engine: ${assumed.engine}. Calls
are those of days with little new data; a first run reads more. Rows and disk cover only tables that grow daily.`;
};

const thousands = (number: number): string => number.toLocaleString('en');
const percent = (share: number): string => `${Math.round(share * 100)} %`;

function showOne(plan: FleetPlan): string {
  const jobs = recordTable(
    plan.jobs.map(({ name, every, calls_per_run, calls_per_day }) => ({
      job: name,
      schedule: every,
      'calls per run': thousands(calls_per_run),
      'calls per day': thousands(calls_per_day),
    })),
  );
  const tables = recordTable(
    plan.tables.map(({ table, rows_a_day, bytes_a_row, gb }) => ({
      table,
      'rows per day': thousands(rows_a_day),
      'bytes per row': bytes_a_row,
      'GB per year': thousands(gb),
    })),
  );
  const lines = [
    `${thousands(plan.vehicles)} vehicles: ${thousands(plan.calls_a_minute)} calls per minute, ${percent(plan.share)} of the ${thousands(plan.requests_per_minute)} allowed.`,
    `${thousands(plan.rows_a_day)} rows per day, ${thousands(plan.gb_a_year)} GB per year, pictures ${thousands(plan.picture_gb_a_year)} GB per year.`,
    `${thousands(plan.records_a_second)} records per second, ${percent(plan.writer_share)} of the capacity of one writer; ${plan.concurrency_needed} simultaneous requests, ${plan.daemons} ${plan.daemons === 1 ? 'daemon' : 'daemons'}.`,
    plan.fits ? 'The rate limit is sufficient.' : 'The rate limit is NOT sufficient.',
    ...plan.changes.map((change) => `- ${change}.`),
  ];
  return `${jobs}\n\n${tables}\n\n${lines.join('\n')}`;
}

const showSeveral = (plans: readonly FleetPlan[]): string =>
  recordTable(
    plans.map((plan) => ({
      vehicles: thousands(plan.vehicles),
      'calls per minute': thousands(plan.calls_a_minute),
      'rate used': percent(plan.share),
      'rate needed': thousands(plan.requests_per_minute_needed),
      'rows per day': thousands(plan.rows_a_day),
      'GB per year': thousands(plan.gb_a_year),
      'records/s': thousands(plan.records_a_second),
      'writer used': percent(plan.writer_share),
      'parallel requests': plan.concurrency_needed,
      daemons: plan.daemons,
    })),
  );
