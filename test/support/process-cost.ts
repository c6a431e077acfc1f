// Loaded into a process by `node --import`: writes its CPU time and memory to COST_FILE when it ends.
import { writeFileSync } from 'node:fs';

export interface ProcessCost {
  peakMb: number;
  /** Of all threads, its start included. */
  cpuSeconds: number;
}

const file = process.env.COST_FILE;
if (file !== undefined) {
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    const cost: ProcessCost = {
      peakMb: Math.round(maxRSS / 1_024),
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    };
    writeFileSync(file, JSON.stringify(cost));
  });
}
