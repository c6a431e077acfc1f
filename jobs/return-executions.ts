// Returns the outcome of each stop of a pushed plan to the ERP, once for each change.
import { z } from 'zod';
import { durationOption } from '../src/core/time/duration-option.ts';
import type { Job } from '../src/sync/job.ts';
import { executeReturns, previewReturns } from '../src/sync/returns/run.ts';
import { pushReturn } from '../src/warehouse/outbox/returns.ts';

const job: Job = {
  meaning: 'Returns the outcome of each stop of a pushed plan to the ERP.',
  schedule: '*/5 * * * *',
  options: z.object({
    lookback: durationOption('7d', 'How long after its end the stops of a plan may still change (default 7d).'),
  }),
  tables: [pushReturn],
  cost: () => ({ calls: 0 }),
  execute: executeReturns,
  preview: previewReturns,
};

export default job;
