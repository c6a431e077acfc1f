// What a verification has found, by table, day and state. It is stored after each slice.
import { isoInstant } from '../../core/time/clock.ts';
import { localDate } from '../../core/time/local-days.ts';
import { type ScopedInterval, UNTIL_READ } from '../../warehouse/control/coverage.ts';
import { periodsText, storeVerified } from '../../warehouse/control/verification.ts';
import type { Comparison, RunContext } from '../job.ts';
import { spanOf } from '../pull/plan/windows.ts';
import type { Slice } from '../slice.ts';

export function createFindings({ dependencies, runId }: Pick<RunContext, 'dependencies' | 'runId'>, repair: boolean) {
  const { clock, engine, timezone } = dependencies;
  const byPlace = new Map<string, { results: Comparison[]; unrepaired: ScopedInterval[] }>();
  return {
    /** `isWhole`: all of the slice was compared, so what was found there before does not count any more. */
    async add(
      { covers = [] }: Slice,
      results: readonly Comparison[],
      { isFinal, isWhole }: { isFinal: boolean; isWhole: boolean },
    ): Promise<void> {
      const now = clock.now();
      // A listing has no period: its day is that of the verification.
      const [period] = covers;
      const { begin, end } =
        period === undefined || period.endAt === UNTIL_READ ? { begin: now, end: now } : spanOf(period);
      // A slice may be cut at other hours than local midnight: the day that it mostly belongs to counts.
      const place = { day: localDate((begin + end) / 2, timezone), state: isFinal ? 'final' : 'provisional' } as const;
      // A slice that is read in parts has a result for each.
      const rows = [...Map.groupBy(results, ({ table }) => table)].map(([table, own]) => {
        const name = [table, place.day, place.state].join(' ');
        const found = byPlace.get(name) ?? { results: [], unrepaired: [] };
        byPlace.set(name, found);
        found.results.push(...own);
        if (isFinal && !repair && countsOf(own).wrong > 0) found.unrepaired.push(...covers);
        const { wrong, ...counts } = countsOf(found.results);
        return {
          run_id: runId,
          table_name: table,
          ...place,
          verified_at: isoInstant(now),
          ...counts,
          repaired: repair ? wrong : 0,
          unrepaired: periodsText(found.unrepaired),
        };
      });
      await storeVerified(engine, rows, isWhole ? covers : []);
    },
  };
}

function countsOf(results: readonly Comparison[]) {
  const sum = (field: 'equal' | 'differing' | 'missingHere' | 'missingThere'): number =>
    results.reduce((total, each) => total + each[field], 0);
  const [equal, differing] = [sum('equal'), sum('differing')];
  const [missing_here, missing_there] = [sum('missingHere'), sum('missingThere')];
  const wrong = differing + missing_here + missing_there;
  const columns: Record<string, number> = {};
  for (const [name, rows] of results.flatMap((each) => Object.entries(each.columns)))
    columns[name] = (columns[name] ?? 0) + rows;
  const differing_columns = Object.keys(columns).length === 0 ? null : JSON.stringify(columns);
  return { compared: equal + wrong, equal, differing, missing_here, missing_there, differing_columns, wrong };
}
