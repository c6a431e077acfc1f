// Checks the location of a SQLite file: the write-ahead log needs shared memory, which network file systems lack or only
// pretend to support.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Knex } from 'knex';
import type { EngineFacts } from '../../engine.ts';

/** Magic numbers of file systems that other machines share: NFS, SMB, CIFS, 9P, AFS, Ceph. */
const SHARED: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x5346414f, 0x00c36400,
]);

const HINT = 'Put warehouse.file on a disk of this machine, or use the engine postgres.';

export async function inspectSqlite(sql: Knex, file: string): Promise<EngineFacts> {
  const [{ journal_mode: mode }] = await sql.raw('pragma journal_mode');
  const folder = dirname(file);
  const { type } = await statfs(folder);
  return { found: `journal mode ${mode}`, folder, concern: concernOf(mode, type) };
}

function concernOf(mode: string, fileSystem: number): EngineFacts['concern'] {
  if (mode !== 'wal') {
    return { found: `the write-ahead log does not work here (journal mode ${mode})`, hint: HINT };
  }
  if (!SHARED.has(fileSystem)) return null;
  return { found: 'the file is on a network file system, where two machines could corrupt it', hint: HINT };
}
