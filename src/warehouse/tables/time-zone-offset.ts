// The UTC offsets of the configured zone, filled at start. SQLite has no time zones, and both engines should give the same
// result.
import { controlTable, instant, integer, text } from '../schema/table.ts';

export const timeZoneOffset = controlTable({
  name: 'time_zone_offset',
  meaning: 'UTC offsets of the configured time zone, one row per period.',
  key: ['from_at'],
  columns: {
    from_at: instant('Start of the period.'),
    to_at: instant('End of the period, exclusive.', { required: true }),
    offset_seconds: integer('Seconds to add to UTC.', { required: true }),
    zone: text('The configured time zone.', { required: true }),
  },
});
