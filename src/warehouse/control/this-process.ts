// Who this process is, in words that another process can check: a process number means something only on the same
// machine, since the same boot, in the same process namespace (two containers may share a host's name).
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  /** Unique for ever. */
  holder: string;
  host: string;
  pid: number;
  /** Where the process number means something. */
  place: string;
}

export const thisProcess: ProcessIdentity = {
  holder: `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`,
  host: hostname(),
  pid: process.pid,
  place: placeOfProcesses(),
};

/** True only where it is certain: its number is free here, or has come to this process. */
export function isCertainlyDead(seen: { id: string; pid: number | null; place: string | null }): boolean {
  const { id, pid, place } = seen;
  if (place !== thisProcess.place || pid === null || id === thisProcess.holder) return false;
  return pid === process.pid || !isAlive(pid);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, under another user.
    return (error as { code?: string }).code === 'EPERM';
  }
}

function placeOfProcesses(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
