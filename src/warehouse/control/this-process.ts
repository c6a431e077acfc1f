// The identity of this process, in a form that another process can check. A process id is unique only on one machine,
// during one boot, within one process namespace (two containers may share a host name).
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  /** Never reused. */
  holder: string;
  host: string;
  pid: number;
  /** Boot and process namespace in which the process id is unique. */
  place: string;
}

export const thisProcess: ProcessIdentity = {
  holder: `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`,
  host: hostname(),
  pid: process.pid,
  place: placeOfProcesses(),
};

/** True only if it is certain: the process id is free here, or belongs to this process now. */
export function isCertainlyDead(seen: { id: string; pid: number | null; place: string | null }): boolean {
  const { id, pid, place } = seen;
  if (place !== thisProcess.place || pid === null || id === thisProcess.holder) return false;
  return pid === process.pid || !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process is alive, under another user.
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
