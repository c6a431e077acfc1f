// The views and tables that can be exported: those that BI reads. Large ones are partitioned by local month, so that a
// later export writes only the months that changed.
import type { Values } from '../engine.ts';
import { isForBi } from '../schema/bi-access.ts';
import { tables } from '../schema/catalog.ts';
import { lookups } from '../schema/lookups.ts';
import type { Table } from '../schema/table.ts';
import type { View, ViewColumnType } from '../schema/view.ts';
import { views } from '../schema/view-catalog.ts';

export interface ExportColumn {
  readonly name: string;
  readonly type: ViewColumnType;
}

/** A format of files. A file is written in batches, to a path that the caller renames once it is complete. */
export interface FileFormat {
  readonly extension: string;
  open(
    path: string,
    columns: readonly ExportColumn[],
  ): Promise<{ write(rows: readonly Values[]): Promise<void>; finish(): Promise<void> }>;
}

export interface Exportable {
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** Sort order of the rows. */
  readonly key: readonly string[];
  /** Local day whose month partitions the table; null if it is one part. */
  readonly month: string | null;
  /** The table that has this day, and the column that refers to its `id`; null if the table itself has the day. */
  readonly parent: Table['parent'];
  /**
   * Queries of the rows that it shows: `day` (null if it is one part), `n` and `changed_at` of any group of rows. A part is
   * unchanged while the sum and maximum of each are. Empty if that is not known: then it is written every time.
   */
  readonly sources: readonly string[];
  /** A code list: few rows without the time of their change. A digest of them is their state. */
  readonly isCodeList: boolean;
  /** Shows names of vehicles, drivers and codes, whose changes `sources` does not have. */
  readonly hasNames: boolean;
  /** Shows whether daily figures are final, which depends on those of all days and on when they were read. */
  readonly hasFinality: boolean;
  /** A row may change with time alone until its month is over, and with the rows of a neighbouring month. */
  readonly isLive: boolean;
}

/** Without a day, all rows are one group. */
const grouped = (day: string | null, changedAt: string, from: string): string =>
  `select ${day ?? 'cast(null as date)'} as day, count(*) as n, max(${changedAt}) as changed_at
    from ${from}${day === null ? '' : ` group by ${day}`}`;

/** event_day knows the events of each day, so that the events themselves need not be read. */
const EVENT_DAYS = 'select day, sum(stored_events) as n, max(changed_at) as changed_at from event_day group by day';
const EVENT_SOURCES = [EVENT_DAYS, grouped(null, '_changed_at', 'event where _day is null')];

/** A row belongs to another month when its parent changes. */
const withParent = (child: string, { table, column }: NonNullable<Table['parent']>): string =>
  grouped(
    'parent._day',
    'case when parent._changed_at > child._changed_at then parent._changed_at else child._changed_at end',
    `"${child}" as child left join "${table}" as parent on parent.id = child."${column}"`,
  );

const hasDay = (name: string): boolean => tables.some((table) => table.name === name && table.dayOf.length > 0);

const exportedTables = tables.filter(isForBi).map((table): Exportable => {
  const { name, columns, key } = table;
  const own = hasDay(name) ? '_day' : name === 'daily_summary' ? 'day' : null;
  const parent = own === null && table.parent !== null && hasDay(table.parent.table) ? table.parent : null;
  return {
    ...{ name, columns, key, parent, hasNames: false, hasFinality: false, isLive: false },
    month: parent === null ? own : '_day',
    sources: parent === null ? sourcesOf(table, own) : [withParent(name, parent)],
    isCodeList: lookups.some((lookup) => lookup.table === table),
  };
});

/** Of daily_summary_revision they are not known: a change of its titles for privacy leaves no time. */
function sourcesOf({ name, kind }: Table, day: string | null): readonly string[] {
  if (name === 'event') return EVENT_SOURCES;
  if (name === 'status_change') return [grouped(null, 'observed_at', name)];
  return kind === 'base' ? [grouped(day, '_changed_at', name)] : [];
}

const PLAN_OF_POINT = 'join route_plan as plan on plan.id = point.route_plan_id';
const POINT_OF_DONE = 'join route_point as point on point.id = done.route_point_id';

/** As the table itself has them: equal statements are read once for an export. */
function ownSources(table: string): readonly string[] {
  const found = exportedTables.find(({ name }) => name === table);
  if (found === undefined) throw new Error(`${table} is not exported`);
  return found.sources;
}

const daySources = (subject: string): string[] => [
  grouped('day', '_changed_at', `daily_summary where subject = '${subject}'`),
];

/**
 * The rows behind the views. Not here, so always written: bi_calendar, bi_day_status and bi_freshness, which change with
 * time alone, and bi_push, because not every change of the outbox leaves a time.
 */
const VIEW_SOURCES: Readonly<Record<string, readonly string[]>> = {
  bi_event: EVENT_SOURCES,
  bi_event_day: [EVENT_DAYS],
  bi_vehicle_day: daySources('vehicle'),
  bi_driver_day: daySources('driver'),
  bi_delivery: [
    ...['route_point', 'route_point_execution', 'route_point_item'].flatMap(ownSources),
    grouped('point._day', 'plan._changed_at', `route_point as point ${PLAN_OF_POINT}`),
  ],
  bi_route_plan: [
    ...ownSources('route_plan'),
    grouped('plan._day', 'point._changed_at', `route_point as point ${PLAN_OF_POINT}`),
    grouped('plan._day', 'done._changed_at', `route_point_execution as done ${POINT_OF_DONE} ${PLAN_OF_POINT}`),
    grouped(
      'plan._day',
      'change.observed_at',
      `status_change as change join route_plan as plan on plan.id = change.entity_id and change.entity = 'route_plan'`,
    ),
    grouped(
      'plan._day',
      'entry.updated_at',
      `push_outbox as entry join route_plan as plan on plan.id = entry.remote_id and entry.kind = 'route_plans'`,
    ),
  ],
  bi_checklist_answer: [
    ...['checklist', 'checklist_answer'].flatMap(ownSources),
    grouped(
      'checklist._day',
      'image._changed_at',
      `checklist_answer as answer left join checklist on checklist.id = answer.checklist_id
      join image on image.hash = answer.picture`,
    ),
  ],
  bi_missing_proof: ['route_point', 'route_plan', 'route_point_execution', 'checklist'].flatMap(ownSources),
  bi_verification: [grouped(null, 'verified_at', 'sync_verification')],
};

/** No index serves the day of bi_missing_proof, and bi_verification is small. */
const UNDIVIDED_VIEWS = ['bi_missing_proof', 'bi_verification'];

const exportedViews = views.map(({ name, columns, key }: View): Exportable => {
  const sources = VIEW_SOURCES[name] ?? [];
  return {
    ...{ name, columns, key, sources, parent: null, isCodeList: false, hasNames: true },
    month: sources.length > 0 && !UNDIVIDED_VIEWS.includes(name) ? 'day' : null,
    hasFinality: name === 'bi_vehicle_day' || name === 'bi_driver_day',
    isLive: name === 'bi_delivery',
  };
});

export const exportables: readonly Exportable[] = [...exportedViews, ...exportedTables];
