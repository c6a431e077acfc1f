// Maintains the warehouse: deletes rows past their retention, checks for damage, updates statistics. Without a retention
// nothing is deleted.
import { z } from 'zod';
import { SHORTEST_RETENTION } from '../src/core/reach-limits.ts';
import { boundedDuration } from '../src/core/time/duration-option.ts';
import type { Job } from '../src/sync/job.ts';
import { executeUpkeep, previewUpkeep } from '../src/sync/upkeep.ts';
import { agingTables } from '../src/warehouse/retention.ts';

const retention = z
  .strictObject(
    Object.fromEntries(
      agingTables.map(({ name }) => [
        name,
        boundedDuration({ min: SHORTEST_RETENTION })
          .optional()
          .describe(`How long rows of ${name} are kept (default for ever).`),
      ]),
    ),
  )
  .prefault({})
  .describe('How long rows are kept, by table; at least 31d. A table without a limit keeps everything.');

const job: Job = {
  meaning: 'Deletes rows past their retention, checks the warehouse for damage, and optimises it.',
  schedule: '30 3 * * *',
  options: z.object({ retention }),
  tables: [],
  cost: () => ({ calls: 0 }),
  execute: executeUpkeep,
  preview: previewUpkeep,
};

export default job;
