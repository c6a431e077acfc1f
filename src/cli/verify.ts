// roadbook verify: reads a sample of past days again, compares it with the warehouse, and prints what differs.
import type { Command } from 'commander';
import type { App } from '../app/app.ts';
import type { RunSummary } from '../core/glossary.ts';
import { MOST_VERIFIED_DAYS } from '../core/reach-limits.ts';
import { suggest } from '../core/text/near-word.ts';
import { DAY_MS } from '../core/time/durations.ts';
import { runChain } from '../sync/job-chain.ts';
import { coverageOf } from '../warehouse/control/coverage.ts';
import { type VerifiedDay, verifiedBy } from '../warehouse/control/verification.ts';
import { baseTables } from '../warehouse/schema/catalog.ts';
import { defineCommand, print, sayWaiting, usageError, withApp } from './command.ts';
import { jobLookup, namedJob } from './named-job.ts';
import { wholeNumber, wholeNumberFrom } from './number-options.ts';
import { EXIT, exitCodeOfRun } from './output/exit-codes.ts';
import { recordTable } from './output/text-table.ts';
import { describeRun } from './run.ts';
import { abortOnSignal } from './signals.ts';

const JOB = 'verify-warehouse';

interface VerifyOptions {
  sample?: number;
  days?: number;
  table: string[];
  repair: boolean;
}

export const define = (command: Command): Command =>
  defineCommand<VerifyOptions>(command, {
    options: (command) =>
      command
        .option('--sample <n>', 'how many slices to compare (default: as configured)', wholeNumber)
        .option(
          '--days <n>',
          'how many days back they are chosen (default: as configured)',
          wholeNumberFrom(1, MOST_VERIFIED_DAYS),
        )
        .option('--table <name...>', 'only the jobs that fill these tables', [])
        .option('--repair', 'store what the service has where the warehouse differs', false),
    action: withApp(async (app, _args, { json, sample, days, table, repair }) => {
      const { job, settings } = namedJob(app, JOB);
      const known = baseTables.map(({ name }) => name);
      for (const name of table) {
        if (!known.includes(name))
          throw usageError(`No job pulls a table ${JSON.stringify(name)}`, suggest(name, known));
      }
      const options = {
        ...settings.options,
        repair,
        probe: false,
        ...(sample !== undefined && { sample }),
        ...(days !== undefined && { days: days * DAY_MS }),
        ...(table.length > 0 && { tables: table }),
      };
      const request = { job, options, cause: 'manual' as const, signal: abortOnSignal(), onWait: sayWaiting(JOB) };
      const { summary } = await runChain(request, jobLookup(app), await app.sync());
      const found = await verifiedBy(await app.warehouse(), summary.run_id);
      const missed = table.filter((name) => found.every(({ table_name }) => table_name !== name));
      const notCompared = await Promise.all(
        missed.map(async (name) => ({ table: name, because: await whyNotCompared(app, name, summary) })),
      );
      const drift = sumOf(found.filter(({ state }) => state === 'final'));
      const late = sumOf(found.filter(({ state }) => state !== 'final'));
      const tables = found.map(({ unrepaired, ...row }) => ({
        ...row,
        differing_columns: JSON.parse(row.differing_columns ?? 'null'),
      }));
      print(
        json
          ? JSON.stringify({ run: summary, drift, late, not_compared: notCompared, tables }, null, 2)
          : [
              describeRun(summary),
              ...describe(found),
              ...sentences(found, { drift, late }, summary, options),
              ...notCompared.map((each) => `Not compared: ${each.table}, because ${each.because}.`),
            ].join('\n'),
      );
      const isPartial = drift.wrong > 0 || notCompared.length > 0;
      return summary.status === 'ok' && isPartial ? EXIT.partial : exitCodeOfRun(summary);
    }),
  });

/** Why a run has compared no slice of a table. */
async function whyNotCompared(app: App, table: string, { error }: RunSummary): Promise<string> {
  const { name = '' } = app.jobs.find(({ tables }) => tables.some((each) => each.name === table)) ?? {};
  if (app.loaded.config.jobs[name]?.enabled !== true) return `${name} is disabled`;
  const coverage = await coverageOf(await app.warehouse(), name);
  if (coverage.size === 0) return `${name} has read nothing yet`;
  return error === null ? 'nothing of it was in the sample' : `the run had an error (${error.code})`;
}

const sumOf = (rows: readonly VerifiedDay[]) => {
  const compared = rows.reduce((sum, row) => sum + row.compared, 0);
  return { compared, wrong: compared - rows.reduce((sum, row) => sum + row.equal, 0) };
};

/** A line for each table: all its days together, and the days that differ. */
function describe(found: readonly VerifiedDay[]): string[] {
  if (found.length === 0) return ['  Nothing was compared.'];
  const rows = Map.groupBy(found, ({ table_name, state }) => `${table_name} ${state}`)
    .values()
    .map((days) => {
      const sum = (field: 'compared' | 'equal' | 'differing' | 'missing_here' | 'missing_there' | 'repaired') =>
        days.reduce((total, day) => total + day[field], 0);
      const wrong = days.filter(({ compared, equal }) => compared > equal);
      const columns = new Set(wrong.flatMap((day) => Object.keys(JSON.parse(day.differing_columns ?? '{}'))));
      return {
        table: days[0]?.table_name,
        'days are': days[0]?.state,
        days: days.length,
        compared: sum('compared'),
        equal: sum('equal'),
        differing: sum('differing'),
        'missing here': sum('missing_here'),
        'missing there': sum('missing_there'),
        repaired: sum('repaired'),
        'which days': wrong.map(({ day }) => day).join(', '),
        columns: [...columns].join(', '),
      };
    });
  return ['', recordTable([...rows]), ''];
}

/** The next sample is another one, so the hint asks for all days of the tables that drift. */
function sentences(
  found: readonly VerifiedDay[],
  { drift, late }: Record<'drift' | 'late', ReturnType<typeof sumOf>>,
  { quarantined: invalid, status }: RunSummary,
  { repair, max_calls }: { repair: boolean; max_calls?: unknown },
): string[] {
  const drifted = found.filter(({ state, compared, equal }) => state === 'final' && compared > equal);
  const tables = [...new Set(drifted.map(({ table_name }) => table_name))];
  const repaired = status === 'ok' ? 'Repaired.' : 'Repaired, as far as the run could compare.';
  const hint = repair
    ? repaired
    : `Repair it, with at most ${max_calls} calls (jobs.verify-warehouse.max_calls): npx roadbook verify --repair --sample 1000 --table ${tables.join(' ')}`;
  return [
    ...(drift.compared === 0 ? ['No row of a final day was in the sample.'] : []),
    ...(drift.compared > 0 && drift.wrong === 0 ? [`No drift: ${drift.compared} rows of final days are equal.`] : []),
    ...(drift.wrong > 0 ? [`Drift: ${drift.wrong} of ${drift.compared} rows of final days differ. ${hint}`] : []),
    ...(late.wrong > 0
      ? [
          `Late: ${late.wrong} rows of days or lists that are still read again differ. ` +
            (repair ? repaired : 'The next runs bring most of them, a repair all.'),
        ]
      : []),
    ...(invalid > 0
      ? [
          `Not compared: ${invalid} records of the service do not fit their table. ` +
            (repair
              ? 'They are in the quarantine: npx roadbook quarantine list'
              : '--repair stores them in the quarantine.'),
        ]
      : []),
  ];
}
