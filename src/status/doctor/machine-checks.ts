// The doctor's checks of the machine: runtime, time zone data, free disk space, address and token of the status page.
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { isGuessable, SHORTEST_SAFE_TOKEN } from '../../config/sections/status.ts';
import { type CheckOutcome, ok, warn } from './check-result.ts';

/** Roadbook is tested on these major versions of Node. */
const NODE = { from: 24, below: 26 };

export function checkRuntime(version: string): CheckOutcome {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  return major >= NODE.from && major < NODE.below
    ? ok(`Node ${version}`)
    : warn(`Node ${version}`, `Use Node ${NODE.from}: start Roadbook with npx or npm, which use the pinned version.`);
}

/** Governments change time zone rules at short notice; data older than this may be wrong. */
const OLDEST_ZONE_DATA_YEARS = 2;

export function checkZoneData(version: string | undefined, nowMs: number): CheckOutcome {
  const year = Number(version?.slice(0, 4));
  if (Number.isNaN(year)) return warn('the version of the time zone data is unknown', 'Update Node.');
  const found = `time zone data ${version}`;
  return new Date(nowMs).getUTCFullYear() - year > OLDEST_ZONE_DATA_YEARS
    ? warn(found, 'Update Node: daylight saving rules may have changed since.')
    : ok(found);
}

const GIB = 1024 ** 3;
const LEAST_FREE_BYTES = GIB;

/** Reports the folder with the least free space. */
export async function checkDisk(folders: readonly string[]): Promise<CheckOutcome> {
  const least = await leastFree(folders);
  const found = `${(least.bytes / GIB).toFixed(1)} GiB free at ${least.folder}`;
  return least.bytes < LEAST_FREE_BYTES
    ? warn(found, 'Free some disk space: the warehouse and the pictures need room to grow.')
    : ok(found);
}

export async function leastFree(folders: readonly string[]): Promise<{ folder: string; bytes: number }> {
  const free = await Promise.all(folders.map(freeBytes));
  return free.reduce((a, b) => (b.bytes < a.bytes ? b : a));
}

/** For a folder that does not exist yet, the free space of its parent. */
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

/** Whether the address is free for the status page, or a running daemon already serves it. */
export async function checkStatusAddress({ host, port }: { host: string; port: number }): Promise<CheckOutcome> {
  const at = `${host}:${port}`;
  const code = await listenCode(host, port);
  if (code === undefined) return ok(`${at} is free for the status page`);
  if (code === 'EADDRINUSE') {
    return (await isAlive(host, port))
      ? ok(`${at} is served by a running daemon`)
      : warn(
          `${at} is in use, and no Roadbook answers there within ${LIVE_MS / 1_000} s`,
          'If a daemon runs there, it is busy: try again. Otherwise set status.port to a free port, or to 0 for any.',
        );
  }
  return warn(`${at} cannot be used (${code})`, 'Check status.host and status.port.');
}

/** Only a warning: a daemon that runs with a short token must start after an upgrade too. */
export function checkStatusToken(token: string): CheckOutcome {
  if (token === '') return ok('no token is set: actions are off');
  return isGuessable(token)
    ? warn(
        `status.token has fewer than ${SHORTEST_SAFE_TOKEN} characters and can be guessed`,
        'Set a longer one, for example the output of `openssl rand -hex 32`.',
      )
    : ok('a token is set');
}

/** The error code of a trial listen; undefined if it succeeded. The address is released again. */
function listenCode(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    probe.listen({ host, port }, () => probe.close(() => resolve(undefined)));
  });
}

const LIVE_MS = 5_000;

async function isAlive(host: string, port: number): Promise<boolean> {
  const name = host.includes(':') ? `[${host}]` : host;
  try {
    const { ok } = await fetch(`http://${name}:${port}/livez`, { signal: AbortSignal.timeout(LIVE_MS) });
    return ok;
  } catch {
    return false;
  }
}
