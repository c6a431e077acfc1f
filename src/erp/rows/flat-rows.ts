// Folds flat rows, one for each stop or item, into plans with points and items. Rows of one plan follow one
// another; a plan with any row that cannot be read is no plan, so that a stop is never left out silently.
import type { Json, JsonObject } from '../../core/glossary.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import { LARGEST_ITEM, MOST_ITEM_ERRORS, TOO_LARGE } from '../items/item.ts';
import { localDay, zonedMoment } from '../items/moments.ts';
import type { ErpFault, SourceContext } from '../source.ts';
import { readCell } from './cell-values.ts';

export interface FlatRow {
  /** Where it stands, for messages: file and row. */
  origin: string;
  /** Cells that are not empty, by canonical path. */
  cells: Readonly<Record<string, unknown>>;
}

export type Folded = { plan: JsonObject; options: JsonObject; origin: string } | { fault: ErpFault };

export interface PlanFold {
  /** What the row completed: nothing, or the plan before it. */
  push(row: FlatRow): Folded[];
  end(): Folded[];
}

type Part = 'plan' | 'entity' | 'options' | 'point' | 'item';
type Parts = Record<Part, JsonObject>;

interface PointDraft {
  fields: JsonObject;
  items: JsonObject[];
}

interface PlanDraft {
  code: string;
  origin: string;
  plan: JsonObject;
  options: JsonObject;
  /** By their content. */
  entities: Map<string, JsonObject>;
  points: PointDraft[];
  /** Characters of its cells. */
  size: number;
  faults: ErpFault[];
  /** A row may belong to another plan of this code. */
  isDayUnclear: boolean;
}

type FoldContext = Pick<SourceContext, 'zone' | 'reuseCodes'>;

/** `fill` stands where a field is absent, by canonical path. */
export function createPlanFold(fill: JsonObject, { zone, reuseCodes }: FoldContext): PlanFold {
  const defaults = partsOf(fill);
  let draft: PlanDraft | undefined;

  const close = (): Folded[] => {
    if (draft === undefined) return [];
    const { plan, faults, isDayUnclear } = draft;
    const startDay =
      faults.length === 0 || isDayUnclear ? '' : startDayOf({ ...defaults.plan, ...plan }, zone);
    const done = finished(draft, defaults, startDay);
    draft = undefined;
    return done;
  };

  /** The row says that it starts on another day than the plan under way, or on none. */
  const hasOtherDay = ({ plan }: PlanDraft, row: JsonObject): boolean => {
    const [known, given] = [plan.date_time_start, row.date_time_start];
    if (known === undefined || given === undefined || isSame(known, given)) return false;
    return startDayOf(plan, zone) !== startDayOf(row, zone);
  };

  return {
    push({ origin, cells }) {
      const { parts, reasons } = readParts(cells);
      if (Object.keys(cells).length === 0) return [];
      const code = parts.plan.external_code;
      const continues = isEmpty(parts.plan) && draft !== undefined;
      const isOtherDay = draft !== undefined && hasOtherDay(draft, parts.plan);
      const isReused = reuseCodes && isOtherDay && startDayOf(parts.plan, zone) !== '';
      const before = !continues && code !== undefined && (code !== draft?.code || isReused) ? close() : [];
      if (draft !== undefined && isOtherDay) draft.isDayUnclear = true;
      if (typeof code !== 'string' && !continues) {
        // The row may belong to the plan under way: that plan must not be sent without it.
        const reason = 'plan.external_code is empty';
        if (draft === undefined) return [...before, { fault: { origin, reason } }];
        addFault(draft, origin, reason);
        return before;
      }
      draft ??= newDraft(code as string, origin);
      if (draft.size > LARGEST_ITEM) return before;
      draft.size += sizeOf(cells);
      if (draft.size <= LARGEST_ITEM) addRow(draft, parts, reasons, origin);
      else dropRows(draft);
      return before;
    },
    end: close,
  };
}

const newDraft = (code: string, origin: string): PlanDraft => ({
  code,
  origin,
  plan: {},
  options: {},
  entities: new Map(),
  points: [],
  size: 0,
  faults: [],
  isDayUnclear: false,
});

const sizeOf = (cells: FlatRow['cells']): number =>
  Object.values(cells).reduce<number>((size, cell) => size + String(cell).length, 0);

function addFault({ faults, code }: PlanDraft, origin: string, reason: string): void {
  if (faults.length < MOST_ITEM_ERRORS) faults.push({ origin, reason, externalCode: code });
}

/** Nothing of the plan is kept but its fault. */
function dropRows(draft: PlanDraft): void {
  draft.entities.clear();
  draft.points = [];
  draft.faults = [{ origin: draft.origin, reason: TOO_LARGE, externalCode: draft.code }];
}

const startDayOf = ({ date_time_start: start }: JsonObject, zone: string): string =>
  typeof start === 'string' ? localDay(zonedMoment(start, zone), zone) : '';

function addRow(draft: PlanDraft, parts: Parts, reasons: string[], origin: string): void {
  const tell = (reason: string) => addFault(draft, origin, reason);
  for (const reason of reasons) tell(reason);
  for (const name of merge(draft.plan, parts.plan)) tell(`plan.${name} differs from the plan's rows above`);
  for (const name of merge(draft.options, parts.options)) tell(`options.${name} differs from the rows above`);
  if (!isEmpty(parts.entity)) draft.entities.set(JSON.stringify(parts.entity), parts.entity);
  const last = draft.points.at(-1);
  if (last !== undefined && continuesPoint(last, parts)) {
    for (const name of merge(last.fields, parts.point))
      tell(`point.${name} differs from the point's rows above`);
  } else if (!isEmpty(parts.point) || !isEmpty(parts.item)) {
    draft.points.push({ fields: parts.point, items: [] });
  }
  if (!isEmpty(parts.item)) draft.points.at(-1)?.items.push(parts.item);
}

/** Without an item the same point again is a duplicate, which the validation names. */
function continuesPoint({ fields }: PointDraft, { point, item }: Parts): boolean {
  if (isEmpty(item)) return false;
  if (isEmpty(point)) return true;
  if (point.external_code !== undefined) return point.external_code === fields.external_code;
  return point.name === fields.name && point.order === fields.order;
}

/** Adds what is not there yet; names what is there with another value. */
function merge(into: JsonObject, given: JsonObject): string[] {
  const different: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const known = into[name];
    if (known === undefined) into[name] = value;
    else if (!isSame(known, value)) different.push(name);
  }
  return different;
}

function finished(draft: PlanDraft, defaults: Parts, startDay: string): Folded[] {
  const { plan, options, entities, points, faults, origin } = draft;
  if (faults.length > 0)
    return faults.map((fault) => ({ fault: { ...fault, ...(startDay !== '' && { startDay }) } }));
  const routePoints = points.map(({ fields, items }) => ({
    ...nestedFields({ ...defaults.point, ...fields }),
    ...(items.length > 0 && { route_point_items: items.map((item) => ({ ...defaults.item, ...item })) }),
  }));
  const whole: JsonObject = {
    ...defaults.plan,
    ...plan,
    ...(entities.size > 0 && {
      entity: [...entities.values()].map((entity) => ({ ...defaults.entity, ...entity })),
    }),
    route_points: routePoints,
  };
  return [{ plan: whole, options: { ...defaults.options, ...options }, origin }];
}

function readParts(cells: FlatRow['cells']): { parts: Parts; reasons: string[] } {
  const { types } = FLAT_COLUMNS.route_plans;
  const values: JsonObject = {};
  const reasons: string[] = [];
  for (const [path, cell] of Object.entries(cells)) {
    const read = readCell(types[path] ?? 'text', cell);
    if ('value' in read) values[path] = read.value;
    else reasons.push(`${path} ${read.fault}`);
  }
  return { parts: partsOf(values), reasons };
}

function partsOf(values: JsonObject): Parts {
  const parts: Parts = { plan: {}, entity: {}, options: {}, point: {}, item: {} };
  for (const [path, value] of Object.entries(values)) {
    const dot = path.indexOf('.');
    parts[path.slice(0, dot) as Part][path.slice(dot + 1)] = value;
  }
  return parts;
}

/** `a.b` becomes b within a. */
export function nestedFields(fields: JsonObject): JsonObject {
  const whole: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) {
    const [outer = name, inner] = name.split('.');
    whole[outer] = inner === undefined ? value : { ...(whole[outer] as JsonObject), [inner]: value };
  }
  return whole;
}

const isEmpty = (part: JsonObject): boolean => Object.keys(part).length === 0;

const isSame = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);
