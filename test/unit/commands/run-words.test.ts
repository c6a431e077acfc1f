// The summary of a run in words.
import { expect, it } from 'vitest';
import { describeRun } from '../../../src/cli/run.ts';
import { zeroCounts } from '../../../src/core/glossary.ts';

const at = '2026-05-18T12:00:00.000Z';
const run = { run_id: 'r', status: 'ok' as const, started_at: at, finished_at: at, error: null, ...zeroCounts() };

it('counts outcomes of stops as returned, and pushed items by their state', () => {
  const returned = describeRun({ ...run, job: 'return-executions', sent: 2 });
  expect(returned).toContain('outcomes of stops returned to the ERP: 2\n');
  expect(returned).not.toContain('confirmed');
  expect(describeRun({ ...run, job: 'push-agents', sent: 2, confirmed: 2 })).toContain('2 sent, 2 confirmed');
});
