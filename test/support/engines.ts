// The engines that the conformance suite runs over, each in a place of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { Engine } from '../../src/warehouse/engine.ts';
import { sqlite } from '../../src/warehouse/engines/sqlite.ts';

export interface EngineCase {
  name: string;
  /** A new, empty database; `open` may be called again for a second process's view of it. */
  make(): Promise<{ open(): Promise<Engine>; remove(): Promise<void> }>;
}

export const engineCases: readonly EngineCase[] = [
  {
    name: 'sqlite',
    async make() {
      const dir = mkdtempSync(join(tmpdir(), 'roadbook-engine-'));
      return {
        open: () => sqlite.open({ file: join(dir, 'warehouse.db') }),
        remove: async () => rmSync(dir, { recursive: true, force: true }),
      };
    },
  },
];

/** The rows of a statement of the test's own, whatever shape the driver gives them. */
export async function rowsOf<Row = Record<string, unknown>>(sql: Knex, statement: string): Promise<Row[]> {
  const result = await sql.raw(statement);
  return Array.isArray(result) ? result : result.rows;
}
