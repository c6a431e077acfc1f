// What an itinerary must keep to before it is sent. The service can only be searched by period, so without both
// dates an itinerary could not be found again.
import type { JsonObject } from '../core/glossary.ts';
import { fieldReasons, orderReasons } from './field-rules.ts';
import { FLAT_COLUMNS, ITINERARY_FIELDS } from './fields.ts';

export const itineraryReasons = (data: JsonObject): string[] => [
  ...fieldReasons(data, { fields: ITINERARY_FIELDS, required: FLAT_COLUMNS.itineraries.required }),
  ...orderReasons(data, 'date_time_start_estimated', 'date_time_end_estimated'),
];
