// npm run prove: a machine that fails. A disk that is full from a counted step on, a warehouse that another
// program has locked, a PostgreSQL that ends sessions or is started anew. Prints the figures and writes its section of
// docs/explanation/reliability.md.
//   node test/prove/resources.ts [times] [times on a disk] [longest lock] [blows]
// The room of each work ends at so many steps at most by a limit and on a disk that is really full; locks are as
// long as so many seconds at most; a storm has so many blows at least.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL_DISK_WORKS, type FullDiskReport, fillDisk } from '../support/kills/full-disk.ts';
import { type LockReport, lockPull, lockPush } from '../support/kills/locked-file.ts';
import { type StormReport, stormPostgres } from '../support/kills/postgres-storm.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';

const [times = 40, diskTimes = 20, longestLock = 40, leastBlows = 20] = process.argv.slice(2).map(Number);
/** How long the SQLite engine waits for a lock; about then it may go either way. */
const BUSY_TIMEOUT_MS = 30_000;
const ABOUT_MS = 2_000;
const LOCKS_MS = [2_000, 25_000, 30_000, 40_000].filter((ms) => ms <= longestLock * 1_000);
/** Processes of a full disk at a time. */
const AT_ONCE = 3;
/** Of the runs on a disk that is really full: a write that fits into room that a file already has succeeds. */
const MOST_UNHARMED = 0.1;
/** Plans of one round of a push in a storm. */
const PLANS = 10;
const print = <Report extends object>(report: Report): Report => {
  process.stdout.write(`${JSON.stringify(report)}\n`);
  return report;
};

// All locks side by side: they only wait.
const lockReports: LockReport[] = await Promise.all(
  LOCKS_MS.flatMap((ms) => [lockPull(ms).then(print), lockPush(ms).then(print)]),
);

const fulls: (FullDiskReport & { by: string })[] = [];
for (const work of FULL_DISK_WORKS) {
  const report = await fillDisk({ work, times, atOnce: AT_ONCE });
  fulls.push(print({ by: 'size limit', ...report }));
}
/** Small disks of their own where this user may mount one: they get really full. */
const disks = FULL_DISK_WORKS.map(mountSmallDisk).filter((disk) => disk !== undefined);
if (disks.length === FULL_DISK_WORKS.length) {
  const really = await Promise.all(
    FULL_DISK_WORKS.map((work, at) => fillDisk({ work, times: diskTimes, disk: disks[at] as string })),
  );
  fulls.push(...really.map((report) => print({ by: 'full disk', ...report })));
}
for (const disk of disks) {
  execFileSync('umount', [disk]);
  rmdirSync(disk);
}

const storms: StormReport[] = [];
for (const how of ['sessions ended', 'server restarted'] as const) {
  const report = await stormPostgres({ how, everyMs: 1_000, leastBlows, plans: PLANS, latencyMs: 60 });
  storms.push(print(report));
}

/** Where there was no room it has to have been felt. */
const isFelt = ({ by, times, unharmed, unmoved, missed }: (typeof fulls)[number]): boolean =>
  missed.length === 0 && (by === 'size limit' ? unmoved.length === 0 : unharmed <= times * MOST_UNHARMED);

/** A run waits for a lock that is released in time; it reports a longer one, and the next run recovers. */
function isMet({ heldMs, code, error, next, done, of, twice }: LockReport): boolean {
  const isWaitedFor = code === 0 && error === null;
  const isReported = code !== 0 && error === 'warehouse_locked';
  const isAbout = Math.abs(heldMs - BUSY_TIMEOUT_MS) < ABOUT_MS;
  const isAsSaid = isAbout ? isWaitedFor || isReported : heldMs < BUSY_TIMEOUT_MS ? isWaitedFor : isReported;
  return isAsSaid && next === 0 && done === of && twice === 0;
}

const isWeathered = ({ blows, sessions, isDone, wrong, twice, lost, open }: StormReport): boolean =>
  blows >= leastBlows && sessions >= leastBlows / 2 && isDone && wrong.length + twice + lost + open === 0;

const errorsOf = (errors: Record<string, number>): string =>
  Object.entries(errors)
    .map(([code, count]) => `${code} ${count}`)
    .join(', ') || 'none';
const fullRow = (r: (typeof fulls)[number]): string =>
  `| ${[r.work, r.by, r.times === r.steps ? `every one of ${r.steps}` : `${r.times} of ${r.steps}`, r.unharmed, errorsOf(r.errors), r.unclear.length, r.wrong.length].join(' | ')} |`;
const lockRow = (r: LockReport): string =>
  `| ${[r.during, `${r.heldMs / 1_000} s`, r.code, r.error ?? 'none', r.next, `${r.done} of ${r.of}`, r.twice].join(' | ')} |`;
const stormRow = (r: StormReport): string =>
  `| ${[r.how, r.blows, r.sessions, r.plans, r.runs, errorsOf(r.failed), r.isDone ? 'yes' : 'no', r.wrong.length, r.twice, r.lost, r.open].join(' | ')} |`;

const section = `**A full disk.** The real process pulls rows and pictures, pushes from a drop folder, and exports. From a counted step of
it on the system rejects every write: by the size limit of files of that process, and, where the proof may mount one,
by a small disk that is really full. Steps are counted as above: before and after every commit, request and change of a
file. It has to end with a plain error; with room again the same command has to end as if nothing had happened: every
row, picture, result and file the same, every plan accepted once. By the limit it may end well only where nothing was
left to be written; on a full disk also where a file had room already, at most ${MOST_UNHARMED * 100} % of the times.

| work | no room by | from which steps on | ended well anyway | errors | not plain | wrong in the end |
|---|---|---|---|---|---|---|
${fulls.map(fullRow).join('\n')}

**A locked file.** Another process holds the write lock of the SQLite warehouse when a pull begins, or takes it after the
service has accepted the second of four plans and before its answer arrives, which is to be stored. The product waits
up to ${BUSY_TIMEOUT_MS / 1_000} s for a lock; a lock of about that length may be waited for or reported.

| during | locked for | it ends with | error | the next run | vehicles stored, or plans confirmed | plans twice |
|---|---|---|---|---|---|---|
${lockReports.map(lockRow).join('\n')}

**A PostgreSQL that does not stay.** Every second, or as long as an undisturbed pull takes, all sessions of the product are ended with \`pg_terminate_backend\`, or the
server is started anew, while the real process pulls, then pushes plans. A run that fails is repeated, as the
schedule would; the storm goes on until everything is done, and for ${leastBlows} blows at least.

| again and again | blows | sessions ended | plans | runs | exit codes of failed runs | done in the storm | tables wrong | plans twice | lost | unresolved |
|---|---|---|---|---|---|---|---|---|---|---|
${storms.map(stormRow).join('\n')}

Made by \`node test/prove/resources.ts ${times} ${diskTimes} ${longestLock} ${leastBlows}\`. Samples of it run with every \`npm run prove -- --quick\`
(test/prove-quick/resources.test.ts, test/conformance/engines/sqlite-engine.test.ts, test/long/warehouse/postgres-sessions.test.ts).
`;

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
const isSound =
  fulls.every((report) => isFelt(report) && report.unclear.length + report.wrong.length === 0) &&
  lockReports.every(isMet) &&
  storms.every(isWeathered);
if (isSound)
  giveSection('No room, no lock, no server', section, {
    run: 'disk full, warehouse locked, PostgreSQL restarted and its sessions ended',
    many: `${sum(fulls.map((report) => report.times))} full disks, ${lockReports.length} locks, ${sum(storms.map(({ blows }) => blows))} blows`,
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
