// Pulls daily figures of vehicles and drivers, one local day per call. If the service changes a figure later,
// daily_summary_revision keeps its old and its new value.
import { z } from 'zod';
import { lookbackOption } from '../src/core/reach-limits.ts';
import { durationOption } from '../src/core/time/duration-option.ts';
import { dailySummary as summaryCall } from '../src/fleet/endpoints/daily-summary.ts';
import { pull } from '../src/sync/pull/define.ts';
import {
  planDailySummaries,
  splitDailySummaries,
  summaryCost,
} from '../src/sync/pull/resources/daily-summaries/plan.ts';
import { readDailySummaries } from '../src/sync/pull/resources/daily-summaries/read.ts';
import { dailySummary } from '../src/warehouse/tables/daily-summary.ts';

export default pull({
  meaning: 'Pulls the daily figures of vehicles and drivers.',
  schedule: '20 * * * *',
  options: z.object({
    since: durationOption('30d', 'How far back a first run reads (default 30d).'),
    lookback: lookbackOption('3d', 'How far back each run reads days again, for recalculated figures (default 3d).'),
  }),
  into: [[summaryCall, dailySummary]],
  coverage: 'driver',
  plan: planDailySummaries,
  read: readDailySummaries,
  split: splitDailySummaries,
  cost: summaryCost,
});
