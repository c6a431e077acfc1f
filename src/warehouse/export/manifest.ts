// Records what an export wrote to the folder, so that the next export writes only the parts that changed.
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
      /** When the last export began to read. */
      read_at: z.string(),
      /** If the state differs now, the part has changed or is from another warehouse. */
      parts: z.record(z.string(), z.object({ rows: z.number(), state: z.string().nullable() })),
    }),
  ),
});

export type Manifest = z.output<typeof schema>;
export type TableManifest = Manifest['tables'][string];

const NAME = 'export.json';

/** Empty if there is no readable manifest: then everything is written. */
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
