// Verifies the warehouse: reads a random sample of past days again, compares every row, and repairs what differs.
import { z } from 'zod';
import { MOST_VERIFIED_DAYS } from '../src/core/reach-limits.ts';
import { durationOption } from '../src/core/time/duration-option.ts';
import type { Job } from '../src/sync/job.ts';
import { LEAST_CALLS_WITH_PROBE } from '../src/sync/verify/nightly-probe.ts';
import { executeVerify, previewVerify } from '../src/sync/verify/run.ts';
import { syncVerification } from '../src/warehouse/control/verification.ts';
import { baseTables } from '../src/warehouse/schema/catalog.ts';

const MOST_DAYS = `${MOST_VERIFIED_DAYS}d`;

const job: Job = {
  meaning: 'Reads a sample of past days again, compares it with the warehouse, and repairs differences.',
  schedule: '15 2 * * *',
  options: z.object({
    sample: z.int().min(1).default(16).describe('How many slices a run compares (default 16).'),
    days: durationOption('28d', `How far back the days are chosen, at most ${MOST_DAYS} (default 28d).`, {
      max: MOST_DAYS,
    }),
    max_calls: z.int().min(1).default(800).describe('Most calls to the service in one run (default 800).'),
    probe: z
      .boolean()
      .default(true)
      .describe(
        `Whether each run first finds out if the service still behaves as before; needs max_calls of ${LEAST_CALLS_WITH_PROBE} (default true).`,
      ),
    repair: z.boolean().default(true).describe('Whether differences are repaired (default true).'),
    drift_limit: z
      .number()
      .min(0)
      .max(1)
      .default(0.001)
      .describe('Share of the rows of final days that may differ before health and alerts say so (default 0.001).'),
    tables: z
      .array(z.enum(baseTables.map(({ name }) => name)))
      .default([])
      .describe('Only the jobs that fill one of these tables (default empty, for all).'),
  }),
  tables: [syncVerification],
  cost: ({ max_calls }) => ({ calls: max_calls as number }),
  execute: executeVerify,
  isNotRetried: true,
  preview: previewVerify,
};

export default job;
