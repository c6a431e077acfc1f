// What the doctor looks at on the machine itself: runtime, time zones, room on the disks, the address of the page.
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { type Found, ok, warn } from './check-result.ts';

/** The versions of Node that the product is tested on: from, and below. */
const NODE = { from: 24, below: 26 };

export function checkRuntime(version: string): Found {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  return major >= NODE.from && major < NODE.below
    ? ok(`Node ${version}`)
    : warn(`Node ${version}`, `Use Node ${NODE.from}: npm brings it, start with npx or npm.`);
}

/** Governments change their clocks at short notice; data older than this may be wrong. */
const OLDEST_ZONE_DATA_YEARS = 2;

export function checkZoneData(version: string | undefined, nowMs: number): Found {
  const year = Number(version?.slice(0, 4));
  if (Number.isNaN(year)) return warn('the version of the time zone data is not known', 'Update Node.');
  const found = `time zone data ${version}`;
  return new Date(nowMs).getUTCFullYear() - year > OLDEST_ZONE_DATA_YEARS
    ? warn(found, 'Update Node: daylight saving rules may have changed since.')
    : ok(found);
}

const GIB = 1024 ** 3;
const LEAST_FREE_BYTES = GIB;

/** The least free of the folders counts. */
export async function checkDisk(folders: readonly string[]): Promise<Found> {
  const least = await leastFree(folders);
  const found = `${(least.bytes / GIB).toFixed(1)} GiB free at ${least.folder}`;
  return least.bytes < LEAST_FREE_BYTES
    ? warn(found, 'Free some space before the warehouse and the pictures cannot grow.')
    : ok(found);
}

export async function leastFree(folders: readonly string[]): Promise<{ folder: string; bytes: number }> {
  const free = await Promise.all(folders.map(freeBytes));
  return free.reduce((a, b) => (b.bytes < a.bytes ? b : a));
}

/** Of a folder that does not exist yet, what its parent has. */
async function freeBytes(folder: string): Promise<{ folder: string; bytes: number }> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return { folder, bytes: bavail * bsize };
  } catch (error) {
    const parent = dirname(resolve(folder));
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === resolve(folder)) throw error;
    return freeBytes(parent);
  }
}

/** Whether the status page can be served there; where something answers already, whether that is a daemon. */
export async function checkStatusAddress({ host, port }: { host: string; port: number }): Promise<Found> {
  const at = `${host}:${port}`;
  const code = await listenCode(host, port);
  if (code === undefined) return ok(`${at} is free for the status page`);
  if (code === 'EADDRINUSE') {
    return (await isAlive(host, port))
      ? ok(`${at} is served by a running daemon`)
      : warn(`${at} is taken by another program`, 'Set another status.port, or 0 for any free one.');
  }
  return warn(`${at} cannot be listened on (${code})`, 'Check status.host and status.port.');
}

/** Undefined where the address could be listened on; it is free again afterwards. */
function listenCode(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    probe.listen({ host, port }, () => probe.close(() => resolve(undefined)));
  });
}

const LIVE_MS = 2_000;

async function isAlive(host: string, port: number): Promise<boolean> {
  const name = host.includes(':') ? `[${host}]` : host;
  try {
    const { ok } = await fetch(`http://${name}:${port}/livez`, { signal: AbortSignal.timeout(LIVE_MS) });
    return ok;
  } catch {
    return false;
  }
}
