// The fields of each kind of item. Cell readers, canonical form and schemas all use these tables, so that a field is known
// everywhere or nowhere.
import type { FeedKind } from '../feed-kinds.ts';

export type FieldType =
  | 'text'
  | 'number'
  | 'integer'
  /** An integer that is not negative. */
  | 'count'
  /** A count with its unit. */
  | 'seconds'
  | 'boolean'
  | 'moment'
  | 'latitude'
  | 'longitude'
  | 'point_type'
  | 'plate'
  | 'plates'
  /** A personal tax number. */
  | 'document'
  | 'documents'
  /** Text, or an object whose form the service does not document. */
  | 'address'
  | 'category';

export type Fields = Readonly<Record<string, FieldType>>;

/** The types of an object's fields, and its required fields. */
export interface FieldTable {
  types: Fields;
  required: readonly string[];
  /** The fields that hold an object, and those that hold a list of objects. */
  objects?: Readonly<Record<string, FieldTable>>;
  lists?: Readonly<Record<string, FieldTable>>;
}

export const ENTITY_FIELDS: FieldTable = {
  types: {
    document_number: 'document',
    vehicle_plate: 'plate',
    helper: 'document',
  },
  required: ['document_number', 'vehicle_plate'],
};

/** The service does not document the form of a time window. This form is read and checked. */
export const WINDOW_FIELDS: FieldTable = {
  types: { start: 'moment', end: 'moment' },
  required: ['start', 'end'],
};

export const ITEM_FIELDS: FieldTable = {
  types: {
    external_code: 'text',
    value: 'number',
    description: 'text',
    quantity: 'number',
    capacity: 'integer',
  },
  required: ['external_code'],
};

export const POINT_FIELDS: FieldTable = {
  types: {
    name: 'text',
    order: 'integer',
    info: 'text',
    address: 'address',
    type: 'point_type',
    latitude: 'latitude',
    longitude: 'longitude',
    external_code: 'text',
    axles: 'count',
    delivery_time: 'seconds',
    disable_signature_check: 'boolean',
    disable_picture: 'boolean',
  },
  required: ['name'],
  objects: { time_window: WINDOW_FIELDS },
  lists: { route_point_items: ITEM_FIELDS },
};

export const PLAN_FIELDS: FieldTable = {
  types: {
    external_code: 'text',
    date_time_start: 'moment',
    date_time_end: 'moment',
    vehicle_plate: 'plate',
    document_number: 'document',
    vehicle_plates: 'plates',
    document_numbers: 'documents',
  },
  required: ['external_code', 'date_time_start', 'date_time_end'],
  lists: { entity: ENTITY_FIELDS, route_points: POINT_FIELDS },
};

export const OPTION_FIELDS: FieldTable = {
  types: {
    optimize: 'boolean',
    geocoding: 'boolean',
    source: 'text',
    has_time_window: 'boolean',
    is_async: 'boolean',
  },
  required: [],
};

export const CATEGORY_FIELDS: FieldTable = { types: { id: 'category' }, required: ['id'] };

export const POINT_OF_INTEREST_FIELDS: FieldTable = {
  types: {
    title: 'text',
    latitude: 'latitude',
    longitude: 'longitude',
    phone: 'text',
    responsible_name: 'text',
    point_of_interest_category_id: 'category',
  },
  required: ['title', 'latitude', 'longitude'],
  objects: { point_of_interest_category: CATEGORY_FIELDS },
};

export const AGENT_FIELDS: FieldTable = {
  types: {
    name: 'text',
    cpf: 'document',
    company_registry: 'text',
    rg: 'text',
    email: 'text',
    phone_number: 'text',
    is_deliveryman: 'boolean',
  },
  required: ['name', 'cpf'],
};

export const ITINERARY_FIELDS: FieldTable = {
  types: {
    description: 'text',
    external_id: 'text',
    vehicle_id: 'count',
    driver_id: 'count',
    date_time_start_estimated: 'moment',
    date_time_end_estimated: 'moment',
    start_local: 'text',
    end_local: 'text',
  },
  required: ['external_id', 'vehicle_id', 'driver_id', 'date_time_start_estimated', 'date_time_end_estimated'],
};

/** The fields of the `data` object of each kind. */
export const DATA_FIELDS: Readonly<Record<FeedKind, FieldTable>> = {
  route_plans: PLAN_FIELDS,
  points_of_interest: POINT_OF_INTEREST_FIELDS,
  agents: AGENT_FIELDS,
  itineraries: ITINERARY_FIELDS,
};

/** The fields of an object and of the objects in it, by path. */
function pathsOf({ types, objects = {} }: FieldTable, prefix = ''): Fields {
  const own = Object.entries(types).map(([name, type]) => [prefix + name, type]);
  const nested = Object.entries(objects).map(([name, table]) => pathsOf(table, `${prefix}${name}.`));
  return Object.assign(Object.fromEntries(own), ...nested);
}

/** The columns of flat rows by canonical path, and the required columns. */
export const FLAT_COLUMNS: Readonly<Record<FeedKind, FieldTable>> = {
  route_plans: {
    types: {
      ...pathsOf(PLAN_FIELDS, 'plan.'),
      ...pathsOf(ENTITY_FIELDS, 'entity.'),
      ...pathsOf(OPTION_FIELDS, 'options.'),
      ...pathsOf(POINT_FIELDS, 'point.'),
      ...pathsOf(ITEM_FIELDS, 'item.'),
    },
    required: [
      ...PLAN_FIELDS.required.map((name) => `plan.${name}`),
      ...POINT_FIELDS.required.map((name) => `point.${name}`),
    ],
  },
  points_of_interest: {
    types: { external_code: 'text', ...pathsOf(POINT_OF_INTEREST_FIELDS) },
    required: POINT_OF_INTEREST_FIELDS.required,
  },
  agents: { types: { external_code: 'text', ...AGENT_FIELDS.types }, required: AGENT_FIELDS.required },
  itineraries: ITINERARY_FIELDS,
};
