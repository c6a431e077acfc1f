// The days of the configured zone with their bounds in UTC, filled at start. A join on the bounds finds the rows of a local
// day by index, also on days of 23 or 25 hours.
import { boolean, controlTable, date, instant, integer, real, text } from '../schema/table.ts';

const needed = { required: true };

export const localDay = controlTable({
  name: 'local_day',
  meaning: 'Days of the configured time zone, each with its bounds in UTC.',
  key: ['day'],
  columns: {
    day: date('Local date.'),
    begin_at: instant('First instant of the day.', needed),
    end_at: instant('First instant of the next day.', needed),
    number: integer('Days since 1 January 1970.', needed),
    hours: real('Length of the day in hours: 24, or usually 23 or 25 when the clock changes.', needed),
    year: integer('Year.', needed),
    quarter: integer('Quarter of the year, 1 to 4.', needed),
    month: integer('Month of the year, 1 to 12.', needed),
    month_start: date('First day of the month.', needed),
    week: integer('ISO week, 1 to 53.', needed),
    week_start: date('Monday of the week.', needed),
    weekday: integer('Day of the week, 1 Monday to 7 Sunday.', needed),
    weekday_name: text('Day of the week in words.', needed),
    is_weekend: boolean('True on Saturday and Sunday.', needed),
    zone: text('The configured time zone.', needed),
  },
  indexes: [['begin_at']],
});
