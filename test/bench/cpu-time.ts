// CPU time of this process and of all that it has started, a database server and its workers included. On a machine
// that has other work to do it says more than the time on the clock. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second for every program, independent of its own clock. */
const TICK_MS = 10;

interface Process {
  name: string;
  parent: number;
  /** Its own and that of its children that have ended. */
  ticks: number;
}

/** With a name, only of the programs of that name. */
export function cpuMs(only?: string): number {
  const processes = allProcesses();
  const isOurs = (pid: number): boolean => {
    const parent = processes.get(pid)?.parent ?? 0;
    return pid === process.pid || (parent > 0 && isOurs(parent));
  };
  const isCounted = (pid: number, name: string): boolean => isOurs(pid) && (only === undefined || only === name);
  return [...processes].reduce(
    (sum, [pid, { name, ticks }]) => (isCounted(pid, name) ? sum + ticks * TICK_MS : sum),
    0,
  );
}

function allProcesses(): Map<number, Process> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return new Map(
    pids.flatMap((pid): [number, Process][] => {
      try {
        // The name may hold anything, so the fields are counted from the bracket that closes it.
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const fields = (stat.split(') ').at(-1) ?? '').split(' ');
        const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
        const parent = Number(fields[1]);
        const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
        return [[pid, { name, parent, ticks }]];
      } catch {
        return [];
      }
    }),
  );
}
