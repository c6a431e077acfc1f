// Every observed transition of a plan or a point, once; the first sight has no status before it.
import { controlTable, instant, integer, text } from '../schema/table.ts';

export const statusChange = controlTable({
  name: 'status_change',
  meaning: 'Every observed status transition of a route plan or a route point.',
  key: ['entity', 'entity_id', 'observed_at', 'to_status'],
  retentionBy: 'observed_at',
  columns: {
    entity: text('route_plan or route_point.'),
    entity_id: integer('Identifier of the plan or point.'),
    from_status: text('Status before; null at the first sight.'),
    to_status: text('Status seen.'),
    observed_at: instant('When it was seen; the change itself happened at or before that instant.'),
    run_id: text('The run that saw it.', { required: true }),
  },
  indexes: [['observed_at']],
});
