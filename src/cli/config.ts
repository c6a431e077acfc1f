// roadbook config check | schema: validates the file and shows the jobs with their call budget; prints the JSON Schema.
import type { Command } from 'commander';
import { type App, configDeclarations, loadJobs } from '../app/app.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import { publicConfig } from '../config/secrets.ts';
import { isoInstant } from '../core/time/clock.ts';
import { nextTick, shownTick } from '../schedule/ticks.ts';
import { budgetOf, showBudget } from './budget.ts';
import { addCommand, print, withApp } from './command.ts';
import { namedJob } from './named-job.ts';
import { wholeNumber } from './number-options.ts';
import { textTable } from './output/text-table.ts';

export function define(config: Command): void {
  addCommand<{ vehicles?: number }>(config, {
    usage: 'check',
    summary: 'validates the file; shows each job and the calls it needs',
    options: (command) =>
      command.option('--vehicles <n>', 'size of the fleet, for estimates (default: as in the warehouse)', wholeNumber),
    action: withApp(async (app, _args, { json, vehicles }) => {
      const jobs = app.jobs.map((job) => jobOverview(app, job.name));
      const { file, config } = app.loaded;
      const budget = await budgetOf(app, vehicles);
      if (json) {
        print(JSON.stringify({ file, valid: true, jobs, budget, config: publicConfig(config) }, null, 2));
      } else print(`${file} is valid.\n\n${show(jobs)}\n\n${showBudget(budget)}`);
    }),
  });
  addCommand(config, {
    usage: 'schema',
    summary: 'prints the JSON Schema of the file, for editors',
    action: async () => {
      print(await schemaText());
    },
  });
}

export const schemaText = async (): Promise<string> =>
  JSON.stringify(configJsonSchema(configDeclarations(await loadJobs())), null, 2);

function jobOverview(app: App, name: string) {
  const { enabled, schedule, timezone } = namedJob(app, name).settings;
  const next = enabled ? nextTick({ cron: schedule, timezone }, app.clock.now()) : undefined;
  return { name, enabled, schedule, timezone, next_tick_at: next === undefined ? null : isoInstant(next) };
}

const show = (jobs: readonly ReturnType<typeof jobOverview>[]): string =>
  textTable(
    ['job', 'enabled', 'schedule', 'zone', 'next tick'],
    jobs.map((job) => [
      job.name,
      job.enabled ? 'on' : 'off',
      job.schedule,
      job.timezone,
      shownTick(job.next_tick_at, job.timezone),
    ]),
  );
