// npm run prove: what the machine may withhold. A disk that is full from a counted step on, a warehouse that another
// program has locked, a PostgreSQL that ends sessions or is started anew. Prints the figures and writes its section of
// docs/reliability.md.
//   node test/prove/resources.ts [full disks of each work] [minutes-long locks: 1 or 0] [plans in a storm]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL_DISK_WORKS, type FullDiskReport, fillDisk } from '../support/full-disk.ts';
import { type LockReport, lockFor } from '../support/locked-file.ts';
import { type StormReport, stormPostgres } from '../support/postgres-storm.ts';
import { giveSection } from '../support/reliability-page.ts';

const [times = 30, locks = 1, plans = 30] = process.argv.slice(2).map(Number);
/** How long the SQLite engine waits for a lock. */
const BUSY_TIMEOUT_MS = 30_000;
const print = (report: object): void => void process.stdout.write(`${JSON.stringify(report)}\n`);

/** A small disk of its own where this user may mount one: it gets really full. */
const disk = mountSmallDisk();
const fulls: (FullDiskReport & { by: string })[] = [];
for (const work of FULL_DISK_WORKS) {
  for (const [by, place] of [
    ['size limit', undefined],
    ['full disk', disk],
  ] as const) {
    if (by === 'full disk' && place === undefined) continue;
    const report = { by, ...(await onDisk(place, () => fillDisk({ work, times, disk: place }))) };
    print(report);
    fulls.push(report);
  }
}
if (disk !== undefined) {
  execFileSync('umount', [disk]);
  rmdirSync(disk);
}

const lockReports: LockReport[] = [];
for (const heldMs of locks === 0 ? [2_000] : [2_000, 25_000, 40_000]) {
  const report = await lockFor(heldMs);
  print(report);
  lockReports.push(report);
}

const storms: StormReport[] = [];
for (const how of ['sessions ended', 'server restarted'] as const) {
  const report = await stormPostgres({ how, everyMs: 1_000, plans, latencyMs: 60 });
  print(report);
  storms.push(report);
}

/** A lock that is gone in time is waited for; a longer one is told plainly, and the next run makes it good. */
function isMet({ heldMs, code, error, next, rows, truth }: LockReport): boolean {
  const isAsTold =
    heldMs < BUSY_TIMEOUT_MS ? code === 0 && error === null : code !== 0 && error === 'warehouse_locked';
  return isAsTold && next === 0 && rows === truth;
}

const errorsOf = (errors: Record<string, number>): string =>
  Object.entries(errors)
    .map(([code, count]) => `${code} ${count}`)
    .join(', ') || 'none';

const section = `**A full disk.** The real process pulls rows and pictures, pushes from a drop folder, and exports. From a counted step of
it on the system refuses every write: by the size limit of files of that process, and, where the proof may mount one,
by a small disk that is really full. It has to end with a plain error; with room again the same command has to end as if
nothing had happened: every row, picture, result and file the same, every plan accepted once.

| work | no room by | times | steps of a whole run | ended well anyway | errors | not plain | wrong in the end |
|---|---|---|---|---|---|---|---|
${fulls.map((r) => `| ${[r.work, r.by, r.times, r.steps, r.unharmed, errorsOf(r.errors), r.unclear.length, r.wrong.length].join(' | ')} |`).join('\n')}

**A locked file.** Another process holds the write lock of the SQLite warehouse while a pull begins. A pull waits up to
30 s for it.

| locked for | the pull ends with | error | the next one | rows, of |
|---|---|---|---|---|
${lockReports.map((r) => `| ${[`${r.heldMs / 1_000} s`, r.code, r.error ?? 'none', r.next, `${r.rows}, ${r.truth}`].join(' | ')} |`).join('\n')}

**A PostgreSQL that does not stay.** Every second all sessions of the product are ended with \`pg_terminate_backend\`, or the
server is started anew, while the real process pulls and pushes ${plans} plans. A run that fails is made again, as the
schedule would; the storm goes on until everything is done.

| every second | blows | sessions ended | runs | exit codes of failed runs | done in the storm | tables wrong | plans twice | lost | unresolved |
|---|---|---|---|---|---|---|---|---|---|
${storms.map((r) => `| ${[r.how, r.blows, r.sessions || 'all', r.runs, errorsOf(r.failed), r.isDone, r.wrong.length, r.twice, r.lost, r.open].join(' | ')} |`).join('\n')}

Made by \`node test/prove/resources.ts ${times} ${locks} ${plans}\`. Samples of it run with every \`npm test\`
(test/scenario/resources.test.ts, test/conformance/postgres-engine.test.ts).
`;

const isSound =
  fulls.every(({ unclear, wrong }) => unclear.length + wrong.length === 0) &&
  lockReports.every(isMet) &&
  storms.every(({ isDone, wrong, twice, lost, open }) => isDone && wrong.length + twice + lost + open === 0);
if (isSound)
  giveSection('No room, no lock, no server', section, {
    run: 'disk full, warehouse locked, PostgreSQL restarted and its sessions ended',
    many: `${fulls.length} + ${lockReports.length} + ${storms.length} cases`,
    lost: '0 wrong, 0 twice, 0 lost',
  });
else process.exitCode = 1;

function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'roadbook-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmdirSync(folder);
    return undefined;
  }
}

/** Workplaces that are made meanwhile lie there. */
async function onDisk<T>(folder: string | undefined, work: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR;
  if (folder !== undefined) process.env.TMPDIR = folder;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
