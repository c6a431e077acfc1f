// The fields of each thing as data: reading cells, the canonical form and the validation all go by these
// tables, so that a field is known everywhere or nowhere.
import type { FeedKind } from './feed-kinds.ts';

export type FieldType =
  | 'text'
  | 'number'
  | 'integer'
  /** An integer that is not negative. */
  | 'count'
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

export const PLAN_FIELDS: Fields = {
  external_code: 'text',
  date_time_start: 'moment',
  date_time_end: 'moment',
  vehicle_plate: 'plate',
  document_number: 'document',
  vehicle_plates: 'plates',
  document_numbers: 'documents',
};

export const ENTITY_FIELDS: Fields = {
  document_number: 'document',
  vehicle_plate: 'plate',
  helper: 'document',
};

export const POINT_FIELDS: Fields = {
  name: 'text',
  order: 'integer',
  info: 'text',
  address: 'address',
  type: 'point_type',
  latitude: 'latitude',
  longitude: 'longitude',
  external_code: 'text',
  axles: 'count',
  delivery_time: 'count',
  disable_signature_check: 'boolean',
  disable_picture: 'boolean',
};

/** The service does not document the form of a time window; this one is read and checked. */
export const WINDOW_FIELDS: Fields = { start: 'moment', end: 'moment' };

export const ITEM_FIELDS: Fields = {
  external_code: 'text',
  value: 'number',
  description: 'text',
  quantity: 'number',
  capacity: 'integer',
};

export const OPTION_FIELDS: Fields = {
  optimize: 'boolean',
  geocoding: 'boolean',
  source: 'text',
  has_time_window: 'boolean',
  is_async: 'boolean',
};

export const POINT_OF_INTEREST_FIELDS: Fields = {
  title: 'text',
  latitude: 'latitude',
  longitude: 'longitude',
  phone: 'text',
  responsible_name: 'text',
  point_of_interest_category_id: 'category',
};

export const AGENT_FIELDS: Fields = {
  name: 'text',
  cpf: 'document',
  company_registry: 'text',
  rg: 'text',
  email: 'text',
  phone_number: 'text',
  is_deliveryman: 'boolean',
};

export const ITINERARY_FIELDS: Fields = {
  description: 'text',
  external_id: 'text',
  vehicle_id: 'count',
  driver_id: 'count',
  date_time_start_estimated: 'moment',
  date_time_end_estimated: 'moment',
  start_local: 'text',
  end_local: 'text',
};

/** The columns of flat rows by canonical path, and those without which no row can be read. */
export interface FlatColumns {
  types: Fields;
  required: readonly string[];
}

const prefixed = (prefix: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, type]) => [`${prefix}.${name}`, type]));

export const FLAT_COLUMNS: Readonly<Record<FeedKind, FlatColumns>> = {
  route_plans: {
    types: {
      ...prefixed('plan', PLAN_FIELDS),
      ...prefixed('entity', ENTITY_FIELDS),
      ...prefixed('options', OPTION_FIELDS),
      ...prefixed('point', POINT_FIELDS),
      ...prefixed('point.time_window', WINDOW_FIELDS),
      ...prefixed('item', ITEM_FIELDS),
    },
    required: ['plan.external_code', 'plan.date_time_start', 'plan.date_time_end', 'point.name'],
  },
  points_of_interest: {
    types: {
      external_code: 'text',
      ...POINT_OF_INTEREST_FIELDS,
      'point_of_interest_category.id': 'category',
    },
    required: ['title', 'latitude', 'longitude'],
  },
  agents: { types: { external_code: 'text', ...AGENT_FIELDS }, required: ['name', 'cpf'] },
  itineraries: {
    types: ITINERARY_FIELDS,
    required: [
      'external_id',
      'vehicle_id',
      'driver_id',
      'date_time_start_estimated',
      'date_time_end_estimated',
    ],
  },
};
