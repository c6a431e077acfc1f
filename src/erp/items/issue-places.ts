// Finds the cell that a reason of the validation is about: its row, the ERP's column and the value.
import { valueAt } from '../../core/schema-place.ts';
import type { FeedKind } from '../feed-kinds.ts';
import type { CellPlace, ErpItem } from '../source.ts';
import { type FieldType, FLAT_COLUMNS } from './fields.ts';

const LONGEST_VALUE = 100;

/** The content of a cell for an error; tax numbers are not repeated. */
export const shownCell = (type: FieldType | undefined, text: string): Pick<CellPlace, 'value'> =>
  type?.startsWith('document') ? {} : { value: text.slice(0, LONGEST_VALUE) };

/** `columnOf` gives the ERP's name of the column with a canonical path. */
export function issuePlace(
  kind: FeedKind,
  item: ErpItem,
  reason: string,
  columnOf: (path: string) => string,
): CellPlace {
  const path = reason.slice(0, Math.max(0, reason.indexOf(': ')));
  const point = Number(/^route_points\[(\d+)\]/.exec(path)?.[1] ?? 0);
  const row = item.rows?.[point] ?? item.rows?.[0];
  const flat = flatPath(kind, path);
  const { types } = FLAT_COLUMNS[kind];
  const type = Object.hasOwn(types, flat) ? types[flat] : undefined;
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  const value = valueAt({ ...item.data, options: item.options }, steps);
  return {
    ...(row !== undefined && { row }),
    ...(type !== undefined && { column: columnOf(flat) }),
    ...(value !== undefined && typeof value !== 'object' && shownCell(type, String(value))),
  };
}

/** For a reason of the service: the row of the stop that it names by its code, number or name, or else of the item. */
export function rejectedPlaces({ data, rows = [] }: ErpItem): (reason: string) => CellPlace {
  const points = Array.isArray(data.route_points) ? data.route_points : [];
  const stopBy = (field: string): ((text: string | undefined) => number | undefined) => {
    const stops = Map.groupBy(points.keys(), (at) => valueAt(points, [at, field]));
    return (text) => {
      const [at, ...others] = (text !== undefined && stops.get(text)) || [];
      return others.length === 0 ? at : undefined;
    };
  };
  const [byCode, byName] = [stopBy('external_code'), stopBy('name')];
  return (reason) => {
    const words = /^point [^:]*: (.*)/s.exec(reason)?.[1] ?? '';
    const fields = words.matchAll(/\b(external_code|line|name) ([^,()]+)/g);
    const named = new Map([...fields].map(([, field, text]) => [field, text]));
    const numbered = named.has('line') ? Number(named.get('line')) - 1 : undefined;
    const at =
      byCode(words) ?? byName(words) ?? byCode(named.get('external_code')) ?? numbered ?? byName(named.get('name'));
    const row = rows[at ?? 0] ?? rows[0];
    return row === undefined ? {} : { row };
  };
}

/** The path of the column that holds the field. */
function flatPath(kind: FeedKind, path: string): string {
  if (kind !== 'route_plans') return path;
  const inItem = /^route_points\[\d+\]\.route_point_items\[\d+\]\.(.+)$/.exec(path);
  if (inItem !== null) return `item.${inItem[1]}`;
  const inList = /^(route_points|entity)\[\d+\]\.(.+)$/.exec(path);
  if (inList !== null) return `${inList[1] === 'entity' ? 'entity' : 'point'}.${inList[2]}`;
  return path.startsWith('options.') ? path : `plan.${path}`;
}
