// `warehouse`: the engine, and the settings that the engine declares.
import { z } from 'zod';

const DEFAULT_ENGINE = 'sqlite';

export interface WarehouseSettings {
  engine: string;
  /** Folder for picture files. */
  images: string;
  /** The engine's own settings, as its schema gives them. */
  [setting: string]: unknown;
}

export function warehouseSection(engines: Readonly<Record<string, z.ZodObject>>) {
  const [first, ...others] = Object.keys(engines)
    .toSorted()
    .map((name) => engineSettings(name, engines[name] ?? z.object({})));
  if (first === undefined) throw new TypeError('The configuration needs at least one warehouse engine.');
  const settings = z.discriminatedUnion('engine', [first, ...others]);
  return settings
    .nullable()
    .prefault({})
    .transform((value) => (value ?? settings.parse({})) as WarehouseSettings)
    .describe('The SQL database that BI reads.');
}

function engineSettings(name: string, settings: z.ZodObject) {
  const literal = z.literal(name).describe(`Engine of the warehouse (default ${DEFAULT_ENGINE}).`);
  return settings
    .safeExtend({
      engine: name === DEFAULT_ENGINE ? literal.optional().transform(() => name) : literal,
      images: z.string().min(1).default('data/images').describe('Folder for picture files (default data/images).'),
    })
    .strict();
}
