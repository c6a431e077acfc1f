// CPU time of this process and of all that it has started, a database server and its workers included. On a machine
// that has other work to do it says more than the time on the clock. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second for every program, whatever its own clock. */
const TICK_MS = 10;

interface Process {
  parent: number;
  /** Its own and that of its children that have ended. */
  ticks: number;
}

export function cpuMs(): number {
  const processes = allProcesses();
  const isOurs = (pid: number): boolean => {
    const parent = processes.get(pid)?.parent ?? 0;
    return pid === process.pid || (parent > 0 && isOurs(parent));
  };
  return [...processes].reduce((sum, [pid, { ticks }]) => (isOurs(pid) ? sum + ticks * TICK_MS : sum), 0);
}

function allProcesses(): Map<number, Process> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return new Map(
    pids.flatMap((pid): [number, Process][] => {
      try {
        // The name may hold anything, so the fields are counted from the bracket that closes it.
        const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(' ');
        const parent = Number(fields[1]);
        const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
        return [[pid, { parent, ticks }]];
      } catch {
        return [];
      }
    }),
  );
}
