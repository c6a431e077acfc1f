// Every observed status change of a plan or a point, once. The first observation has no status before it.
import { controlTable, instant, integer, text } from '../schema/table.ts';

export const statusChange = controlTable({
  name: 'status_change',
  meaning: 'Every observed status change of a route plan or a route point.',
  key: ['entity', 'entity_id', 'observed_at', 'to_status'],
  retentionBy: 'observed_at',
  columns: {
    entity: text('route_plan or route_point.'),
    entity_id: integer('Identifier of the plan or point.'),
    from_status: text('Status before the change; null for the first observation.'),
    to_status: text('Status after the change.'),
    observed_at: instant('When the change was observed; it happened at or before this instant.'),
    run_id: text('The run that observed the change.', { required: true }),
  },
  indexes: [['observed_at']],
});
