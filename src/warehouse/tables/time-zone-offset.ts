// The offsets of the configured zone from UTC, filled at start: SQLite knows no zones, and both engines should tell
// the same.
import { controlTable, instant, integer, text } from '../schema/table.ts';

export const timeZoneOffset = controlTable({
  name: 'time_zone_offset',
  meaning: 'How far local time is ahead of UTC, period by period, in the configured time zone.',
  key: ['from_at'],
  columns: {
    from_at: instant('Start of the period.'),
    to_at: instant('End of the period, exclusive.', { required: true }),
    offset_seconds: integer('Seconds to add to UTC.', { required: true }),
    zone: text('The configured time zone.', { required: true }),
  },
});
