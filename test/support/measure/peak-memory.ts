// The largest memory of this process, resident, in MB. Not the maximum that getrusage reports where /proc has it: on Linux
// that one starts with the memory of the process that started this one.
import { existsSync, readFileSync } from 'node:fs';

const STATUS = '/proc/self/status';

export function peakMb(): number {
  const peakKb = existsSync(STATUS) ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8'))?.[1] : undefined;
  return Number(peakKb ?? process.resourceUsage().maxRSS) / 1_024;
}
