// `warehouse`: the engine, and the settings that the engine declares. `scale`: how daemons on one warehouse share the slices.
import { z } from 'zod';
import { section, setting } from './section.ts';

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
  return section(settings)
    .transform((value) => value as WarehouseSettings)
    .describe('The SQL database that BI reads.');
}

function engineSettings(name: string, settings: z.ZodObject) {
  const literal = z.literal(name).describe(`Engine of the warehouse (default ${DEFAULT_ENGINE}).`);
  return settings
    .safeExtend({
      engine: name === DEFAULT_ENGINE ? literal.optional().transform(() => name) : literal,
      images: setting(z.string().min(1), 'data/images', 'Folder for picture files'),
    })
    .strict();
}

export const scaleSection = section(
  z.strictObject({
    dispatcher: setting(
      z.enum(['local', 'pg-boss']),
      'local',
      'Which processes work on the slices of a pull: `local`, only the one that planned it; `pg-boss`, all daemons on one PostgreSQL warehouse',
    ),
    workers: setting(z.int().min(1).max(64), 4, 'Slices that one daemon processes at the same time with pg-boss'),
  }),
).describe('How daemons share the work; a change needs a restart.');
