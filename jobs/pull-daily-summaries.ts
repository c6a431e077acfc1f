// Pulls daily figures of vehicles and drivers, one local day per call. If the service changes a figure later,
// daily_summary_revision keeps its old and its new value.
import { dailySummary as summaryCall } from '../src/fleet/endpoints/daily-summary.ts';
import { pull } from '../src/sync/pull/define.ts';
import { windowOptions } from '../src/sync/pull/plan/window-slices.ts';
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
  // The service recalculates figures for a few days.
  options: windowOptions('3d'),
  into: [[summaryCall, dailySummary]],
  coverage: 'driver',
  plan: planDailySummaries,
  read: readDailySummaries,
  split: splitDailySummaries,
  cost: summaryCost,
});
