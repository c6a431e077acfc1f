// What an earlier export left in the folder, so that the next one writes only what changed since.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../core/atomic-file.ts';

const schema = z.object({
  format: z.string(),
  tables: z.record(
    z.string(),
    z.object({
      columns: z.array(z.string()),
      /** When the reading of the last export began. */
      read_at: z.string(),
      /** With the latest change in each: one that has another latest change is of another state or warehouse. */
      parts: z.record(z.string(), z.object({ rows: z.number(), changed_at: z.string().nullable() })),
    }),
  ),
});

export type Manifest = z.output<typeof schema>;
export type TableManifest = Manifest['tables'][string];

const NAME = 'export.json';

/** Empty where there is none, or none that can be read: then everything is written. */
export async function readManifest(folder: string, format: string): Promise<Manifest> {
  try {
    const manifest = schema.parse(JSON.parse(await readFile(join(folder, NAME), 'utf8')));
    if (manifest.format === format) return manifest;
  } catch {}
  return { format, tables: {} };
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await replaceFile(join(folder, NAME), `${JSON.stringify(manifest, null, 2)}\n`);
}
