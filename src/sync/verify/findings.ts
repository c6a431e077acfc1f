// Adds up what a verification has found, by table, day and state, and stores it after each slice.
import { isoInstant } from '../../core/time/clock.ts';
import { UNTIL_READ } from '../../warehouse/control/coverage.ts';
import { storeVerified } from '../../warehouse/control/verification.ts';
import type { Comparison, RunContext } from '../job.ts';
import { localDate } from '../pull/plan/local-days.ts';
import { spanOf } from '../pull/plan/windows.ts';
import type { Slice } from '../slice.ts';

export type Findings = ReturnType<typeof createFindings>;

export function createFindings({ dependencies, runId }: Pick<RunContext, 'dependencies' | 'runId'>, repair: boolean) {
  const { clock, engine, timezone } = dependencies;
  const sums = new Map<string, Comparison>();
  return {
    async add({ covers = [] }: Slice, result: readonly Comparison[], final: boolean): Promise<void> {
      const now = clock.now();
      const [period] = covers;
      const { begin, end } =
        period === undefined || period.endAt === UNTIL_READ ? { begin: now, end: now } : spanOf(period);
      // A slice may be cut at other hours than local midnight: the day that it mostly belongs to counts.
      const place = { day: localDate((begin + end) / 2, timezone), state: final ? 'final' : 'provisional' } as const;
      // A slice that was read in parts has a result for each.
      const tables = Map.groupBy(result, ({ table }) => table);
      const rows = [...tables].map(([table, parts]) => {
        const name = [table, place.day, place.state].join(' ');
        const sum = [sums.get(name) ?? [], parts].flat().reduce(plus);
        sums.set(name, sum);
        return { run_id: runId, table_name: table, ...place, verified_at: isoInstant(now), ...countsOf(sum, repair) };
      });
      await storeVerified(engine, rows);
    },
  };
}

function plus(a: Comparison, b: Comparison): Comparison {
  const columns = { ...a.columns };
  for (const [name, rows] of Object.entries(b.columns)) columns[name] = (columns[name] ?? 0) + rows;
  return {
    table: a.table,
    equal: a.equal + b.equal,
    differing: a.differing + b.differing,
    missingHere: a.missingHere + b.missingHere,
    missingThere: a.missingThere + b.missingThere,
    columns,
  };
}

function countsOf({ equal, differing, missingHere, missingThere, columns }: Comparison, repair: boolean) {
  const wrong = differing + missingHere + missingThere;
  return {
    compared: equal + wrong,
    equal,
    differing,
    missing_here: missingHere,
    missing_there: missingThere,
    repaired: repair ? wrong : 0,
    differing_columns: Object.keys(columns).length === 0 ? null : JSON.stringify(columns),
  };
}
