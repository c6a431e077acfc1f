// Each figure of a day that the service recalculated, with its old and new value.
import { controlTable, date, instant, real, text } from '../schema/table.ts';

export const dailySummaryRevision = controlTable({
  name: 'daily_summary_revision',
  meaning: 'Figures of daily_summary that the service changed after they were first read.',
  key: ['day', 'subject', 'title', 'figure', 'observed_at'],
  retentionBy: 'observed_at',
  columns: {
    day: date('Local day.'),
    subject: text('vehicle or driver.'),
    title: text('Plate of the vehicle or label of the driver.', { personal: true }),
    figure: text('Name of the column in daily_summary.'),
    old_value: real('Value before the change, in the unit of the figure.'),
    new_value: real('Value after the change, in the unit of the figure.'),
    observed_at: instant('When the change was observed.'),
    run_id: text('The run that observed the change.', { required: true }),
  },
  indexes: [['observed_at']],
});
