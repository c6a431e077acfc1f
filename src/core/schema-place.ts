// The allowed keys and the description of one place in a schema. Used for hints only; zod alone validates values.
import { z } from 'zod';
import { isJsonObject } from './json.ts';

export type Path = readonly (string | number)[];

export interface SchemaPlace {
  /** Keys allowed here; undefined if the place is not a map with known keys. */
  keys: string[] | undefined;
  /** One sentence. */
  description: string | undefined;
  examples: string[];
}

type Type = z.core.$ZodType;

/** The place at `path`; `value` is the complete value, which selects between alternatives. */
export function schemaPlace(schema: Type, path: Path, value: unknown): SchemaPlace {
  const place: SchemaPlace = { keys: undefined, description: undefined, examples: [] };
  let at: Type | undefined = schema;
  let here = value;
  for (const part of path) {
    at = at === undefined ? undefined : childOf(unwrap(at, here), part);
    here = valueAt(here, [part]);
  }
  if (at === undefined) return place;
  const inner = unwrap(at, here, (layer) => addMeta(place, layer));
  if (inner instanceof z.ZodObject) place.keys = Object.keys(inner.shape);
  return place;
}

export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string | number, unknown>)[part];
  }
  return at;
}

function addMeta(place: SchemaPlace, layer: Type): void {
  const meta = z.globalRegistry.get(layer);
  place.description ??= meta?.description;
  if (place.examples.length === 0 && Array.isArray(meta?.examples)) place.examples = meta.examples.map(String);
}

function childOf(schema: Type, part: string | number): Type | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[part];
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodArray) return schema.element;
  return undefined;
}

/** The schema inside defaults, transforms and alternatives; `visit` gets each layer, outermost first. */
function unwrap(schema: Type, value: unknown, visit: (layer: Type) => void = () => {}): Type {
  visit(schema);
  const inner = innerOf(schema, value);
  return inner === undefined ? schema : unwrap(inner, value, visit);
}

function innerOf(schema: Type, value: unknown): Type | undefined {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) {
    return schema.unwrap();
  }
  if (schema instanceof z.ZodPipe) return schema.in instanceof z.ZodTransform ? schema.out : schema.in;
  if (schema instanceof z.ZodDiscriminatedUnion) return chosenOption(schema, value);
  if (schema instanceof z.ZodUnion && isJsonObject(value)) {
    return schema.options.find((option) => option instanceof z.ZodObject);
  }
  return undefined;
}

function chosenOption(union: z.ZodDiscriminatedUnion, value: unknown): Type | undefined {
  const { discriminator } = union.def;
  const word = valueAt(value, [discriminator]) as z.core.util.Primitive;
  return union.options.find((option) => option._zod.propValues?.[discriminator]?.has(word));
}
