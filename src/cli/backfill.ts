// roadbook backfill <job>: pulls a past range, independent of the schedule. A repeated backfill of the same range continues
// where it was interrupted; the live coverage never shrinks.
import type { Command } from 'commander';
import { runChain } from '../sync/job-chain.ts';
import { defineCommand, print, sayWaiting, usageError, withApp } from './command.ts';
import { jobLookup, namedJob } from './named-job.ts';
import { exitCodeOfRun } from './output/exit-codes.ts';
import { createProgressBar } from './output/progress-bar.ts';
import { checkHasPeriod, type PeriodOptions, readPeriod } from './period.ts';
import { describeRun } from './run.ts';
import { abortOnSignal } from './signals.ts';

export const define = (command: Command): Command =>
  defineCommand<PeriodOptions>(command, {
    options: (command) =>
      command
        .requiredOption('--from <time>', 'start of the range, for example 2026-01-31 or 2026-01-31T18:00')
        .requiredOption('--to <time>', 'end of the range, exclusive'),
    action: withApp(async (app, [name = ''], { json, from, to }) => {
      const { job, settings } = namedJob(app, name);
      checkHasPeriod(job);
      const interval = readPeriod({ from, to }, app.loaded.config.timezone);
      if (interval === undefined) throw usageError('--from and --to are required', 'set both');
      const bar = createProgressBar(name, app.clock);
      const { summary } = await runChain(
        {
          job,
          options: settings.options,
          cause: 'backfill',
          period: { ...interval, resumable: true },
          signal: abortOnSignal(),
          onProgress: bar.update,
          onWait: sayWaiting(name),
        },
        jobLookup(app),
        await app.sync(),
      );
      bar.end();
      print(json ? JSON.stringify(summary, null, 2) : describeRun(summary));
      return exitCodeOfRun(summary);
    }),
  });
