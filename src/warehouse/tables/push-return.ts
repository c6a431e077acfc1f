// What the ERP was told of each stop: a digest of the outcome, so that it is told once for each change.
import { controlTable, instant, text } from '../table.ts';

export const pushReturn = controlTable({
  name: 'push_return',
  meaning: 'The outcome of each stop as the ERP was last told it.',
  key: ['plan_external_code', 'point_external_code'],
  columns: {
    plan_external_code: text('Code of the plan.'),
    point_external_code: text('Code of the stop.'),
    status: text('Status told.', { required: true }),
    outcome_hash: text('Digest of all that was told.', { required: true }),
    told_at: instant('When it was told.', { required: true }),
    run_id: text('The run that told it.', { required: true }),
  },
});
