// The views and tables that can be exported: those that BI reads. Large ones are partitioned by local month, so that a
// later export writes only the months that changed.
import { isForBi } from '../schema/bi-access.ts';
import { tables } from '../schema/catalog.ts';
import type { View, ViewColumnType } from '../schema/view.ts';
import { views } from '../schema/view-catalog.ts';

export interface ExportColumn {
  readonly name: string;
  readonly type: ViewColumnType;
}

export interface Exportable {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** Sort order of the rows. */
  readonly key: readonly string[];
  /** Local day whose month partitions the table; null if it is one part. */
  readonly month: string | null;
  /**
   * Queries of the rows that it shows: `day` (null if it is one part), `n` and `changed_at` of any group of rows. A part is
   * unchanged while their sum and maximum are. Empty if that is not known: then it is written every time.
   */
  readonly sources: readonly string[];
  /** Shows names of vehicles, drivers and codes, whose changes `sources` does not have. */
  readonly hasNames: boolean;
  /** A row may change with time alone until its month is over, and with the rows of a neighbouring month. */
  readonly isLive: boolean;
}

const grouped = (day: string, changedAt: string, from: string): string =>
  `select ${day} as day, count(*) as n, max(${changedAt}) as changed_at from ${from}${day === 'null' ? '' : ` group by ${day}`}`;

/** event_day knows the events of each day, so that the events themselves need not be read. */
const EVENT_SOURCES = [
  'select day, sum(stored_events) as n, max(changed_at) as changed_at from event_day group by day',
  grouped('null', '_changed_at', 'event where _day is null'),
];

const exportedTables = tables.filter(isForBi).map((table): Exportable => {
  const day = table.dayOf.length > 0 ? '_day' : null;
  const own = table.kind === 'base' ? [grouped(day ?? 'null', '_changed_at', table.name)] : [];
  const sources = table.name === 'event' ? EVENT_SOURCES : own;
  return { ...table, month: day, sources, hasNames: false, isLive: false };
});

const PLAN_OF_POINT = 'join route_plan as plan on plan.id = point.route_plan_id';
const POINT_OF_DONE = 'join route_point as point on point.id = done.route_point_id';

/** The rows behind the large views. The others are small, or say how things are now. */
const VIEW_SOURCES: Readonly<Record<string, readonly string[]>> = {
  bi_event: EVENT_SOURCES,
  bi_delivery: [
    grouped('point._day', 'point._changed_at', 'route_point as point'),
    grouped('point._day', 'plan._changed_at', `route_point as point ${PLAN_OF_POINT}`),
    grouped('point._day', 'done._changed_at', `route_point_execution as done ${POINT_OF_DONE}`),
    grouped('point._day', 'done._changed_at', `route_point_item as done ${POINT_OF_DONE}`),
  ],
  bi_route_plan: [
    grouped('plan._day', 'plan._changed_at', 'route_plan as plan'),
    grouped('plan._day', 'point._changed_at', `route_point as point ${PLAN_OF_POINT}`),
    grouped('plan._day', 'done._changed_at', `route_point_execution as done ${POINT_OF_DONE} ${PLAN_OF_POINT}`),
    grouped(
      'plan._day',
      'entry.updated_at',
      `push_outbox as entry join route_plan as plan on plan.id = entry.remote_id and entry.kind = 'route_plans'`,
    ),
  ],
  bi_checklist_answer: [
    grouped('checklist._day', 'checklist._changed_at', 'checklist'),
    ...[
      ['answer', ''],
      ['image', 'join image on image.hash = answer.picture'],
    ].map(([changed, join]) =>
      grouped(
        'checklist._day',
        `${changed}._changed_at`,
        `checklist_answer as answer join checklist on checklist.id = answer.checklist_id ${join}`,
      ),
    ),
  ],
};

const exportedViews = views.map(({ name, columns, key }: View): Exportable => {
  const sources = VIEW_SOURCES[name] ?? [];
  const month = sources.length > 0 ? 'day' : null;
  return { name, columns, key, month, sources, hasNames: true, isLive: name === 'bi_delivery' };
});

export const exportables: readonly Exportable[] = [...exportedViews, ...exportedTables];
