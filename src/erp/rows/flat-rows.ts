// Folds flat rows, one per stop or stop item, into plans with points and items. The rows of a plan must be consecutive. If
// one row of a plan cannot be read, the plan is not sent: otherwise a stop would be left out silently. A row whose code cannot
// be read may belong to the plan above or to the one below.
import type { Json, JsonObject } from '../../core/json.ts';
import { type Fields, FLAT_COLUMNS } from '../items/fields.ts';
import { shownCell } from '../items/issue-places.ts';
import { codeIssue, LARGEST_ITEM, MOST_ITEM_ERRORS, TOO_LARGE } from '../items/item.ts';
import { localDay, zonedMoment } from '../items/moments.ts';
import type { CellPlace, ReadError, SourceContext } from '../source.ts';
import { type CellIssue, cellText, readCells } from './cell-values.ts';
import type { ValueFormats } from './written-values.ts';

export interface FlatRow {
  /** Where the row was read, for messages: file and row. */
  origin: string;
  /** Number of the row or record. */
  row?: number;
  /** The non-empty cells, by canonical path. */
  cells: Readonly<Record<string, unknown>>;
  /** Why the row cannot be read, whatever its cells are. */
  rowIssues?: readonly string[];
  /** The ERP's name of the column with the path. */
  columnOf?(path: string): string;
}

/** Nothing of the row is read: a blank line, a total or a note. */
export const isSkipped = ({ cells, rowIssues = [] }: FlatRow): boolean =>
  rowIssues.length === 0 && Object.keys(cells).length === 0;

/** The values of the cells by path, and why the row and its cells cannot be read. */
export function readRow({ cells, rowIssues = [] }: FlatRow, types: Fields, formats: ValueFormats | undefined) {
  const { values, issues } = readCells(types, cells, formats);
  return { values, issues: [...rowIssues.map((reason): CellIssue => ({ reason })), ...issues] };
}

/** The cell with the path, for an error. */
export function placeOf({ row, cells, columnOf }: FlatRow, path: string | undefined, types: Fields): CellPlace {
  const place = row === undefined ? {} : { row };
  if (path === undefined) return place;
  const cell = cells[path];
  const shown = cell === undefined ? {} : shownCell(types[path], cellText(cell));
  return { ...place, column: columnOf?.(path) ?? path, ...shown };
}

/** `rows` has the row of each point. */
export type Folded =
  | { plan: JsonObject; options: JsonObject; origin: string; rows: number[] }
  | { readError: ReadError };

export interface RowFold<T> {
  /** Adds a row. Returns the previous item if this row begins a new one. */
  push(row: FlatRow): T[];
  end(): T[];
}

type Section = 'plan' | 'entity' | 'options' | 'point' | 'item';
/** The cells of a row, by the prefix of their paths. */
type Sections = Record<Section, JsonObject>;

interface PointDraft {
  row: number;
  fields: JsonObject;
  items: JsonObject[];
}

interface PlanDraft {
  code: string;
  origin: string;
  plan: JsonObject;
  options: JsonObject;
  /** By content, so that repeated rows give one entity. */
  entities: Map<string, JsonObject>;
  points: PointDraft[];
  /** Characters in its cells. */
  size: number;
  readErrors: ReadError[];
  /** One of the rows may belong to another plan of this code. */
  isDayUnclear: boolean;
}

type FoldContext = Pick<SourceContext, 'zone' | 'reuseCodes'> & { formats?: ValueFormats };

const { types: TYPES } = FLAT_COLUMNS.route_plans;
const CODE = 'plan.external_code';

/** `fill` holds the values of absent fields, by canonical path. */
export function createPlanFold(fill: JsonObject, { zone, reuseCodes, formats }: FoldContext): RowFold<Folded> {
  const defaults = sectionsOf(fill);
  let draft: PlanDraft | undefined;
  /** Of the rows since the last code: they may belong to the next plan. */
  let uncoded: ReadError[] = [];

  const close = (): Folded[] => {
    if (draft === undefined) return [];
    const { plan, readErrors, isDayUnclear } = draft;
    const startDay = readErrors.length === 0 || isDayUnclear ? '' : startDayOf({ ...defaults.plan, ...plan }, zone);
    const done = finishedPlan(draft, defaults, startDay);
    draft = undefined;
    return done;
  };

  /** The row has another start day than the current plan, or a start that cannot be read. */
  const hasOtherDay = ({ plan }: PlanDraft, row: JsonObject): boolean => {
    const [known, given] = [plan.date_time_start, row.date_time_start];
    if (known === undefined || given === undefined || isSame(known, given)) return false;
    return startDayOf(plan, zone) !== startDayOf(row, zone);
  };

  return {
    push(row) {
      if (isSkipped(row)) return [];
      const { origin, cells, rowIssues = [] } = row;
      const { values, issues } = readPlanRow(row, formats);
      const sections = sectionsOf(values);
      const code = sections.plan.external_code as string | undefined;
      const continues =
        draft !== undefined && rowIssues.length === 0 && !Object.keys(cells).some((path) => path.startsWith('plan.'));
      const isOtherDay = draft !== undefined && hasOtherDay(draft, sections.plan);
      const isReused = reuseCodes && isOtherDay && startDayOf(sections.plan, zone) !== '';
      const before = code !== undefined && (code !== draft?.code || isReused) ? close() : [];
      if (draft !== undefined && isOtherDay) draft.isDayUnclear = true;
      if (code === undefined && !continues) {
        const found = issues.filter(({ path = CODE }) => path === CODE);
        for (const issue of found.length > 0 ? found : [{ path: CODE, reason: `${CODE} is empty` }]) {
          if (draft !== undefined) addReadError(draft.readErrors, row, issue, draft.code);
          else before.push({ readError: readErrorOf(row, issue) });
          addReadError(uncoded, row, issue);
        }
        return before;
      }
      if (code !== undefined) {
        draft ??= newDraft(code, origin, uncoded);
        uncoded = [];
      }
      if (draft === undefined || draft.size > LARGEST_ITEM) return before;
      draft.size += sizeOf(cells);
      if (draft.size <= LARGEST_ITEM) addRow(draft, sections, issues, row);
      else dropRows(draft);
      return before;
    },
    end: close,
  };
}

/** A code by which no plan can be known is not read. */
function readPlanRow(row: FlatRow, formats: ValueFormats | undefined) {
  const { values, issues } = readRow(row, TYPES, formats);
  const { [CODE]: code, ...others } = values;
  const issue = typeof code === 'string' ? codeIssue(code) : undefined;
  if (issue === undefined) return { values, issues };
  return { values: others, issues: [...issues, { path: CODE, reason: `${CODE} ${issue}` }] };
}

const newDraft = (code: string, origin: string, uncoded: readonly ReadError[]): PlanDraft => ({
  code,
  origin,
  plan: {},
  options: {},
  entities: new Map(),
  points: [],
  size: 0,
  readErrors: uncoded.map((readError) => ({ ...readError, externalCode: code })),
  isDayUnclear: false,
});

/** Characters that a row costs beside its cells, so that short rows are limited too. */
const ROW_SIZE = 200;

const sizeOf = (cells: FlatRow['cells']): number =>
  Object.values(cells).reduce<number>((size, cell) => size + cellText(cell).length, ROW_SIZE);

const readErrorOf = (row: FlatRow, { path, reason }: CellIssue, externalCode?: string): ReadError => ({
  origin: row.origin,
  reason,
  ...(externalCode !== undefined && { externalCode }),
  place: placeOf(row, path, TYPES),
});

function addReadError(readErrors: ReadError[], row: FlatRow, issue: CellIssue, code?: string): void {
  if (readErrors.length < MOST_ITEM_ERRORS) readErrors.push(readErrorOf(row, issue, code));
}

/** Drops the rows of a plan that is too large, and keeps only its read error. */
function dropRows(draft: PlanDraft): void {
  draft.entities.clear();
  draft.points = [];
  draft.readErrors = [{ origin: draft.origin, reason: TOO_LARGE, externalCode: draft.code }];
}

const startDayOf = ({ date_time_start: start }: JsonObject, zone: string): string =>
  typeof start === 'string' ? localDay(zonedMoment(start, zone), zone) : '';

function addRow(draft: PlanDraft, sections: Sections, issues: readonly CellIssue[], row: FlatRow): void {
  const differs = (path: string, rows: string) =>
    addReadError(draft.readErrors, row, { path, reason: `${path} differs from ${rows} above` }, draft.code);
  for (const issue of issues) addReadError(draft.readErrors, row, issue, draft.code);
  for (const name of merge(draft.plan, sections.plan)) differs(`plan.${name}`, "the plan's rows");
  for (const name of merge(draft.options, sections.options)) differs(`options.${name}`, 'the rows');
  if (!isEmpty(sections.entity)) draft.entities.set(JSON.stringify(sections.entity), sections.entity);
  const last = draft.points.at(-1);
  if (last !== undefined && continuesPoint(last, sections)) {
    for (const name of merge(last.fields, sections.point)) differs(`point.${name}`, "the point's rows");
  } else if (!isEmpty(sections.point) || !isEmpty(sections.item)) {
    draft.points.push({ row: row.row ?? 0, fields: sections.point, items: [] });
  }
  if (!isEmpty(sections.item)) draft.points.at(-1)?.items.push(sections.item);
}

/** Whether the row adds an item to the last point. A repeated point without an item is a duplicate: validation reports it. */
function continuesPoint({ fields }: PointDraft, { point, item }: Sections): boolean {
  if (isEmpty(item)) return false;
  if (isEmpty(point)) return true;
  if (point.external_code !== undefined) return point.external_code === fields.external_code;
  return point.name === fields.name && point.order === fields.order;
}

/** Adds new fields; returns the names of fields that already have another value. */
function merge(into: JsonObject, given: JsonObject): string[] {
  const different: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const known = into[name];
    if (known === undefined) into[name] = value;
    else if (!isSame(known, value)) different.push(name);
  }
  return different;
}

function finishedPlan(draft: PlanDraft, defaults: Sections, startDay: string): Folded[] {
  const { plan, options, entities, points, readErrors, origin } = draft;
  if (readErrors.length > 0)
    return readErrors.map((readError) => ({
      readError: { ...readError, ...(startDay !== '' && { startDay }) },
    }));
  const routePoints = points.map(({ fields, items }) => ({
    ...nestedFields({ ...defaults.point, ...fields }),
    ...(items.length > 0 && { route_point_items: items.map((item) => ({ ...defaults.item, ...item })) }),
  }));
  const data: JsonObject = {
    ...defaults.plan,
    ...plan,
    ...(entities.size > 0 && {
      entity: [...entities.values()].map((entity) => ({ ...defaults.entity, ...entity })),
    }),
    route_points: routePoints,
  };
  return [{ plan: data, options: { ...defaults.options, ...options }, origin, rows: points.map(({ row }) => row) }];
}

function sectionsOf(values: JsonObject): Sections {
  const sections: Sections = { plan: {}, entity: {}, options: {}, point: {}, item: {} };
  for (const [path, value] of Object.entries(values)) {
    const dot = path.indexOf('.');
    sections[path.slice(0, dot) as Section][path.slice(dot + 1)] = value;
  }
  return sections;
}

/** Converts the field `a.b` into the field `b` of an object `a`. */
export function nestedFields(fields: JsonObject): JsonObject {
  const nested: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) {
    const [outer = name, inner] = name.split('.');
    nested[outer] = inner === undefined ? value : { ...(nested[outer] as JsonObject), [inner]: value };
  }
  return nested;
}

const isEmpty = (part: JsonObject): boolean => Object.keys(part).length === 0;

const isSame = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);
