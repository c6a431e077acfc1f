// Loaded into a process by `node --import`: writes its CPU time and memory to COST_FILE when it ends.
import { writeFileSync } from 'node:fs';
import { peakMb } from './peak-memory.ts';

export interface ProcessCost {
  peakMb: number;
  /** Of all threads, its start included. */
  cpuSeconds: number;
}

const file = process.env.COST_FILE;
if (file !== undefined) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    const cost: ProcessCost = {
      peakMb: Math.round(peakMb()),
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    };
    writeFileSync(file, JSON.stringify(cost));
  });
}
