// roadbook run <job>: runs a job now, waits for the run and prints its summary.
import type { Command } from 'commander';
import type { RunSummary } from '../core/glossary.ts';
import { formatDuration } from '../core/time/durations.ts';
import type { Preview } from '../sync/job.ts';
import { type ChainPreview, type JobPreview, previewChain, runChain } from '../sync/job-chain.ts';
import { pushedKindOf } from '../sync/push/kind.ts';
import { defineCommand, print, say, sayWaiting, withApp } from './command.ts';
import { jobLookup, namedJob } from './named-job.ts';
import { exitCodeOfRun } from './output/exit-codes.ts';
import { coloured } from './output/text-table.ts';
import { checkHasPeriod, type PeriodOptions, readPeriod } from './period.ts';
import { abortOnSignal } from './signals.ts';

interface RunOptions extends PeriodOptions {
  dryRun: boolean;
}

export const define = (command: Command): Command =>
  defineCommand<RunOptions>(command, {
    options: (command) =>
      command
        .option('--from <time>', 'start of the period to read, for example 2026-01-31 or 2026-01-31T18:00')
        .option('--to <time>', 'end of the period, exclusive')
        .option('--dry-run', 'show the steps of the run without running it', false),
    action: withApp(async (app, [name = ''], { json, dryRun, from, to }) => {
      const { job, settings } = namedJob(app, name);
      const interval = readPeriod({ from, to }, app.loaded.config.timezone);
      if (interval !== undefined) checkHasPeriod(job);
      const period = interval === undefined ? undefined : { ...interval, resumable: false };
      const dependencies = await app.sync();
      const { options } = settings;
      if (dryRun) return showPreview(await previewChain({ job, options, period }, jobLookup(app), dependencies), json);
      const signal = abortOnSignal();
      const request = { job, options, cause: 'manual' as const, period, signal, onWait: sayWaiting(name) };
      const { summary } = await runChain(request, jobLookup(app), dependencies);
      print(json ? JSON.stringify(summary, null, 2) : describeRun(summary));
      const kind = pushedKindOf(name);
      if (kind !== undefined && app.loaded.config.erp[kind] === undefined)
        say(`The configuration has no feed erp.${kind}: nothing was pushed.`);
      return exitCodeOfRun(summary);
    }),
  });

export function describeRun(summary: RunSummary): string {
  const took = Date.parse(summary.finished_at) - Date.parse(summary.started_at);
  const { records, inserted, updated, unchanged, quarantined, sent, confirmed, rejected, unknown } = summary;
  const lines = [`${summary.job}: ${coloured(summary.status)} in ${formatDuration(took)}`];
  lines.push(
    `  ${records} records: ${inserted} inserted, ${updated} updated, ${unchanged} unchanged, ${quarantined} quarantined`,
  );
  if (summary.job === 'return-executions') lines.push(`  outcomes of stops returned to the ERP: ${sent}`);
  else if (sent + confirmed + rejected + unknown > 0) {
    lines.push(`  ${sent} sent, ${confirmed} confirmed, ${rejected} rejected, ${unknown} unknown`);
  }
  lines.push(`  ${summary.requests} requests, ${summary.retries} retried, ${summary.slices} slices`);
  if (summary.error !== null) {
    lines.push(`  ${summary.error.message}`);
    if (summary.error.hint !== null) lines.push(`  Try: ${summary.error.hint}`);
  }
  // A verification says itself whether the quarantine has them.
  if (quarantined > 0 && summary.job !== 'verify-warehouse')
    lines.push('  List the quarantined records: npx roadbook quarantine list');
  return lines.join('\n');
}

/** The steps, the number of calls, and in words the calls that cannot be counted in advance. */
function showPreview({ first, ...own }: ChainPreview, json: boolean): undefined {
  // The jobs that run first change the data, so the steps of the job itself are not final.
  const document = { ...counted(own), first: first.map(counted) };
  if (first.length > 0) document.exact = false;
  if (json) return void print(JSON.stringify(document, null, 2));
  for (const step of [...first, own].flatMap(({ steps }) => steps)) print(`${step.what}  ${detailOf(step)}`);
  for (const each of document.first)
    say(`${each.job} would run first, because it has never succeeded: ${inWords(each)}.`);
  say(`${own.job} would ${first.length > 0 ? laterWords(document) : `take ${inWords(document)}`}; nothing was done.`);
}

/** Shows only the calls of a slice: its detail may list hundreds of vehicles. The JSON output has it. */
const detailOf = ({ calls, detail }: Preview): string =>
  calls === undefined ? JSON.stringify(detail) : amount(calls, 'call');

function laterWords({ first, ...own }: ReturnType<typeof counted> & { first: JobPreview[] }): string {
  const names = first.map(({ job }) => job).join(' and ');
  const known = own.steps.length > 0 ? `; known so far: ${inWords(own)}` : '';
  return `follow with steps that depend on the result of ${names} and are not known yet${known}`;
}

const counted = ({ job, steps }: JobPreview) => ({
  job,
  calls: steps.reduce((sum, { calls }) => sum + (calls ?? 0), 0),
  /** Apart from retries, the run makes exactly these calls. */
  exact: steps.every(isExact),
  /** Additional calls, in words. */
  further: [...new Set(steps.flatMap(({ further }) => further ?? []))],
  steps,
});

const isExact = ({ calls, further }: Preview): boolean => calls !== undefined && further === undefined;

function inWords({ calls, exact, further, steps }: ReturnType<typeof counted>): string {
  // A push counts no calls in advance: a read-back may need any number of pages.
  if (steps.length > 0 && steps.every((step) => step.calls === undefined)) {
    const groups = [...Map.groupBy(steps, ({ what }) => what)].map(([what, { length }]) => `${length} ${what}`);
    return `${amount(steps.length, 'step')}: ${groups.join(', ')}`;
  }
  const least = exact ? '' : 'at least ';
  const more = further.map((words) => `, and ${words}`).join('');
  return `${amount(steps.length, 'step')} and ${least}${amount(calls, 'call')}${more}`;
}

const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
