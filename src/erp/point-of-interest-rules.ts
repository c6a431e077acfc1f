// What a point of interest must keep to before it is sent. The category may be given in either documented form.
import { isJsonObject, type JsonObject } from '../core/glossary.ts';
import { fieldReasons, isAbsent, onlyOneReasons } from './field-rules.ts';
import { POINT_OF_INTEREST_FIELDS } from './fields.ts';

export function pointOfInterestReasons(data: JsonObject): string[] {
  return [
    ...fieldReasons(data, {
      fields: POINT_OF_INTEREST_FIELDS,
      required: ['title', 'latitude', 'longitude'],
      parts: ['point_of_interest_category'],
    }),
    ...categoryReasons(data),
    ...onlyOneReasons(data, 'point_of_interest_category', 'point_of_interest_category_id'),
  ];
}

function categoryReasons({ point_of_interest_category: category }: JsonObject): string[] {
  if (category === undefined || isAbsent(category)) return [];
  if (!isJsonObject(category)) return ['point_of_interest_category: is not an object with an id'];
  return fieldReasons(
    category,
    { fields: { id: 'category' }, required: ['id'] },
    'point_of_interest_category.',
  );
}
