// One row per local day. A join on begin_at and end_at finds the rows of a day by index.

import { localDay } from '../control/local-time.ts';
import { boolean, date, instant, integer, real, text, view } from '../schema/view.ts';

const today = (now: string): string =>
  `(select today.number from local_day as today where today.begin_at <= ${now} order by today.begin_at desc limit 1)`;

export const biCalendar = view({
  name: 'bi_calendar',
  meaning: 'One row per local day, ten years back and two ahead, with its bounds in UTC.',
  key: ['day'],
  tables: { calendar: localDay },
  columns: {
    day: date('Local date.', 'calendar.day'),
    begin_at: instant('First instant of the day, UTC.', 'calendar.begin_at'),
    end_at: instant('First instant of the next day, UTC.', 'calendar.end_at'),
    hours: real('Length of the day in hours: 24, or usually 23 or 25 when the clock changes.', 'calendar.hours'),
    year: integer('Year.', 'calendar.year'),
    quarter: integer('Quarter of the year, 1 to 4.', 'calendar.quarter'),
    month: integer('Month of the year, 1 to 12.', 'calendar.month'),
    month_start: date('First day of the month.', 'calendar.month_start'),
    week: integer('ISO week, 1 to 53.', 'calendar.week'),
    week_start: date('Monday of the week.', 'calendar.week_start'),
    weekday: integer('Day of the week, 1 Monday to 7 Sunday.', 'calendar.weekday'),
    weekday_name: text('Day of the week in words.', 'calendar.weekday_name'),
    is_weekend: boolean('True on Saturday and Sunday.', 'calendar.is_weekend'),
    days_ago: integer(
      'Days before today: 0 today, 1 yesterday, -1 tomorrow.',
      ({ now }) => `${today(now)} - calendar.number`,
    ),
    zone: text('The configured time zone.', 'calendar.zone'),
  },
  from: 'from local_day as calendar',
});
