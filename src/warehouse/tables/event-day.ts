// The events of a vehicle by local day and category. Every transaction that changes events changes the figures of their
// days too, so that a reader never sees one without the other. See load/event-days.ts.
import { controlTable, date, instant, integer } from '../schema/table.ts';

const needed = { required: true };

export const eventDay = controlTable({
  name: 'event_day',
  meaning: 'Events per local day, vehicle and category, counted as they are loaded.',
  key: ['day', 'vehicle_id', 'event_category'],
  columns: {
    day: date('Local day on which the events began.'),
    vehicle_id: integer('Vehicle; 0 for events without one.'),
    event_category: integer('Category of the events; see event_category.'),
    events: integer('Number of events that the service still returns.', needed),
    duration_seconds: integer(
      'Seconds that these events lasted in total; events that have not ended count as 0.',
      needed,
    ),
    distance_metres: integer(
      'Metres travelled during these events; a distance of more than a million kilometres counts as 0.',
      needed,
    ),
    stored_events: integer('Number of rows in event, including those that the service no longer returns.', needed),
    changed_at: instant('When one of these rows last changed.', needed),
  },
  indexes: [['vehicle_id', 'day']],
});
