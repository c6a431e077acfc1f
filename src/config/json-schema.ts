// The configuration as JSON Schema, for completion and validation in editors. The output depends only on the schema, so
// that a test can compare it with the checked-in copy.
import { z } from 'zod';
import { type ConfigDeclarations, configSchema } from './schema.ts';

/** A text with a reference is allowed wherever a number, a boolean or a certain format is expected. */
const REFERENCE = { type: 'string', pattern: '\\$\\{.*\\}' } as const;

type JsonSchema = z.core.JSONSchema.BaseSchema;

export function configJsonSchema(dependencies: ConfigDeclarations): object {
  const schema = z.toJSONSchema(configSchema(dependencies), {
    io: 'input',
    // The draft that YAML language servers support best.
    target: 'draft-7',
    override: ({ jsonSchema, path }) => {
      // References are allowed in values, not in keys.
      if (path.at(-1) !== 'propertyNames') adapt(jsonSchema);
    },
  });
  return { title: 'Roadbook configuration', ...schema };
}

function adapt(schema: JsonSchema): void {
  if (isEmptyObject(schema.default)) delete schema.default;
  if (!takesReference(schema)) return;
  const { type, enum: words, pattern } = schema;
  for (const key of ['type', 'enum', 'pattern'] as const) delete schema[key];
  const direct = { type, ...(words && { enum: words }), ...(pattern && { pattern }) };
  Object.assign(schema, { anyOf: [direct, REFERENCE] });
}

function takesReference({ type, enum: words, pattern }: JsonSchema): boolean {
  if (type === 'number' || type === 'integer' || type === 'boolean') return true;
  return type === 'string' && (words !== undefined || pattern !== undefined);
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
